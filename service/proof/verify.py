"""The verifier: an export, and whatever its reader kept, held against each other.

It needs no database, no network and no trust: what it believes it has worked
out, or was given by whoever asks.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, cast

from service.canonical import JsonMap, canonical_text
from service.fairness import SealedDealer, commitment
from service.log.events import GENESIS, SYSTEM, Event, broken_link
from service.log.game import Occupant, Secret
from service.log.replay import ReplayDiverged, check_deals, replay
from service.log.steps import ABSENT, CLOCK, Frame
from service.proof.export import FORMAT, HEADER
from service.proof.outside import NOTHING, Evidence, inclusion, signature
from service.proof.reading import Export, has_event, read_export
from service.proof.verdicts import Check, Failed, NotChecked, Report, Status, Verdict
from service.rules.registry import rulesets

SECRET = re.compile("[0-9a-f]{64}")

REPLAYED = (Check.MOVES, Check.CONSEQUENCES, Check.SCORES)
"""What one replay checks, up to the first event that does not follow."""

OF_THE_SYSTEM = frozenset(
    {"game_started", "round_started", "round_ended", "game_ended", "secret_revealed"}
)
"""What follows of itself, and nobody does."""

OF_A_REFEREE = frozenset(
    {"round_started", "rewound", "ruling", "game_ended", "game_held", "game_resumed"}
    | {"seat_replaced", "clock_extended"}
)
"""What an admin may have happen by a ruling; that it follows, the replay checks."""

SCORED = frozenset({"points", "scores", "standings", "winners"})
"""Fields of events that count."""


def verify(text: str, evidence: Evidence = NOTHING) -> Report:
    """Every check of an export, in order; a check that needs a failed one is not made."""
    verdicts: list[Verdict] = []
    export = Export(header=None, events=(), footer=None)
    try:
        export = read_export(text)
    except Failed as failed:
        verdicts.append(_failed(Check.CANONICAL, failed))
    else:
        verdicts.append(_passed(Check.CANONICAL, "every line is canonical"))
        verdicts += _verdicts(export, evidence)
    missing = list(Check)[len(verdicts) :]
    reason = f"{verdicts[-1].check.value} failed"
    verdicts += [_unchecked(check, reason) for check in missing]
    game = export.events[0].game if export.events else None
    return Report(game=game, events=len(export.events), verdicts=verdicts, asked=evidence.asked)


def _verdicts(export: Export, evidence: Evidence) -> Iterator[Verdict]:
    """The verdicts after the first; they end early where nothing more can be believed."""
    for check, make in ((Check.CHAIN, _chain), (Check.COMPLETENESS, _completeness)):
        verdict = _made(check, partial(make, export))
        yield verdict
        if verdict.status is Status.FAILED:
            return
    yield from _of_the_game(export.events, evidence)
    yield _made(Check.SIGNATURE, lambda: signature(export, evidence))
    yield _made(Check.INCLUSION, lambda: inclusion(export, evidence))


def _of_the_game(events: Sequence[Event], evidence: Evidence) -> Iterator[Verdict]:
    """The checks that need the secret: commitment, deals, and all that the replay checks."""
    revealed = next((event for event in events if event.type == "secret_revealed"), None)
    opened = _made(Check.COMMITMENT, lambda: _commitment(events, revealed, evidence))
    yield opened
    if opened.status is not Status.PASSED:
        reason = "commitment failed" if opened.status is Status.FAILED else opened.detail
        yield from (_unchecked(check, reason) for check in (Check.DEALS, *REPLAYED))
        return
    secret = Secret(_secret(revealed, evidence), SealedDealer.of)
    dealt = _made(Check.DEALS, lambda: _deals(events, secret))
    yield dealt
    if dealt.status is Status.PASSED:
        yield from _replayed(events, secret)
    else:
        reason = "deals failed" if dealt.status is Status.FAILED else dealt.detail
        yield from (_unchecked(check, reason) for check in REPLAYED)


# The checks, one by one: each gives what it found, or raises Failed or NotChecked.


def _chain(export: Export) -> str:
    prev, game = GENESIS, export.events[0].game
    for seq, event in enumerate(export.events, 1):
        broken = broken_link(event, seq, prev)
        if broken is None and event.game != game:
            broken = "the event is of another game"
        if broken is not None:
            raise Failed(broken, seq)
        prev = event.hash
    return f"{len(export.events)} events, head {prev}"


def _completeness(export: Export) -> str:
    events, header, footer = export.events, export.header, export.footer
    created: Any = events[0].data
    described: JsonMap = {
        "kind": HEADER,
        "format": FORMAT,
        "game": events[0].game,
        "ruleset": created.get("ruleset"),
        "ruleset_version": created.get("ruleset_version"),
    }
    if header is None or canonical_text(header) != canonical_text(described):
        message = f"the header is not that of a {FORMAT} of this game"
        raise Failed(message, 1)
    if footer is None:
        message = "the footer is missing: the end was cut off"
        raise Failed(message, len(events) + 1)
    if set(footer) != {"kind", "events", "receipt", "inclusion"}:
        message = "the footer has not the members of a footer"
        raise Failed(message, len(events) + 1)
    if type(footer["events"]) is not int or footer["events"] != len(events):
        message = f"the footer counts {footer['events']} events, and there are {len(events)}"
        raise Failed(message, len(events) + 1)
    if has_event(events, "game_ended") and not has_event(events, "secret_revealed"):
        message = "the game ended, and its secret is not revealed"
        raise Failed(message, len(events) + 1)
    return "header, events and footer agree"


def _commitment(events: Sequence[Event], revealed: Event | None, evidence: Evidence) -> str:
    if revealed is None and evidence.secret is None:
        message = "the game goes on: its secret is not revealed yet"
        raise NotChecked(message)
    try:
        secret = _secret(revealed, evidence)
    except ValueError as error:
        message = "what is revealed is no secret"
        raise Failed(message, revealed.seq if revealed else None) from error
    created: Any = events[0].data
    if created.get("commitment") != commitment(secret):
        message = "the revealed secret does not open the commitment of game_created"
        raise Failed(message, revealed.seq if revealed else 1)
    return "the revealed secret opens the commitment"


def _secret(revealed: Event | None, evidence: Evidence) -> bytes:
    if revealed is None:
        return evidence.secret or b""
    secret = revealed.data.get("server_secret")
    if not isinstance(secret, str) or not SECRET.fullmatch(secret):
        message = "a secret is 64 hex digits"
        raise ValueError(message)
    return bytes.fromhex(secret)


def _deals(events: Sequence[Event], secret: Secret) -> str:
    _refuse_unknown_rules(events)
    try:
        check_deals(events, secret)
    except ReplayDiverged as diverged:
        raise Failed(diverged.reason, diverged.seq) from diverged
    deals = sum(event.type == "round_started" for event in events)
    return f"the cut and {deals} deals follow from the secret and the contributions"


def _replayed(events: Sequence[Event], secret: Secret) -> Iterator[Verdict]:
    """The verdicts of one replay: what failed first, and what that left unchecked."""
    moves = 0
    try:
        for frame in replay(events, secret):
            _refuse_stranger(frame)
            moves += frame.event.type == "move"
    except (ReplayDiverged, _Stranger) as diverged:
        failed = _check_of(diverged)
        for check in REPLAYED:
            if check is failed:
                yield _failed(check, Failed(diverged.reason, diverged.seq))
            else:
                yield _unchecked(check, f"the replay stopped at event {diverged.seq}")
        return
    yield _passed(Check.MOVES, f"{moves} moves are legal")
    yield _passed(Check.CONSEQUENCES, "every outcome and every state_mac follows")
    yield _passed(Check.SCORES, "points, scores and winners follow")


class _Stranger(Exception):
    """Something was done by somebody whose it was not to do."""

    def __init__(self, event: Event) -> None:
        self.seq = event.seq
        self.reason = "it was done by somebody whose it was not to do"
        super().__init__(self.reason)


def _refuse_stranger(frame: Frame) -> None:
    """Whoever did it was the one to do it; raises _Stranger."""
    if frame.event.actor not in _actors(frame):
        raise _Stranger(frame.event)


def _actors(frame: Frame) -> Sequence[JsonMap]:
    """Who may have caused the event; of a type that is not known anybody."""
    event, before = frame.event, frame.before or frame.after
    creator, data = _player(frame.after.setup.creator), cast("Any", event.data)
    if event.actor.get("kind") == "admin" and event.type in OF_A_REFEREE:
        return [event.actor]
    match event.type:
        case "game_created":
            actors = [creator]
        case "seat_taken":
            actors = [_player(data["player"])] if "player" in data else [creator]
        case "seat_left":
            actors = [creator, _occupant_actor(before.occupant(data["seat"]))]
        case "move":
            actors = [_occupant_actor(before.occupant_to_act), CLOCK.to_json()]
        case "dispute_opened":
            seat = data["seat"]
            actors = [_occupant_actor(before.occupant(seat)), _player(before.away[seat - 1] or "")]
        case "clock_extended":
            actors = [CLOCK.to_json()]
        case "seat_replaced" if data["reason"] == ABSENT:
            actors = [CLOCK.to_json()]
        case kind if kind in OF_THE_SYSTEM:
            actors = [SYSTEM.to_json()]
        case _:
            actors = [event.actor]
    return actors


def _occupant_actor(occupant: Occupant | None) -> JsonMap:
    """Who acts for the seat; nobody's name for a seat in which nobody sits."""
    if occupant is None or occupant.player is None:
        return {"kind": "bot", "id": occupant.level if occupant else None}
    return _player(occupant.player)


def _player(player: str) -> JsonMap:
    return {"kind": "player", "id": player}


def _check_of(diverged: "ReplayDiverged | _Stranger") -> Check:
    """Which check an event fails that does not follow."""
    if isinstance(diverged, _Stranger) or diverged.rule is not None or diverged.field == "seat":
        return Check.MOVES
    if diverged.type == "game_ended" or diverged.field in SCORED:
        return Check.SCORES
    return Check.CONSEQUENCES


def _refuse_unknown_rules(events: Sequence[Event]) -> None:
    data: Any = events[0].data
    name, version = data.get("ruleset"), data.get("ruleset_version")
    is_named = isinstance(name, str) and isinstance(version, str)
    if not is_named or (name, version) not in rulesets():
        message = f"the rules of {name} {version} are not known here"
        raise NotChecked(message)


# What a check gives, as a verdict.


def _made(check: Check, make: Callable[[], str]) -> Verdict:
    try:
        return _passed(check, make())
    except Failed as failed:
        return _failed(check, failed)
    except NotChecked as unmade:
        return _unchecked(check, str(unmade))


def _passed(check: Check, detail: str) -> Verdict:
    return Verdict(check=check, status=Status.PASSED, detail=detail)


def _failed(check: Check, failed: Failed) -> Verdict:
    return Verdict(check=check, status=Status.FAILED, detail=failed.detail, seq=failed.seq)


def _unchecked(check: Check, reason: str) -> Verdict:
    return Verdict(check=check, status=Status.NOT_CHECKED, detail=reason)
