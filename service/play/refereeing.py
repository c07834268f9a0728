"""What a referee does: stop a game, rule, and see what was tried."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import structlog

from service.canonical import JsonMap
from service.cards import Seat
from service.log import steps
from service.log.events import Actor
from service.log.game import Game, Status
from service.log.projection import event_line
from service.log.replay import ReplayDiverged, advance
from service.log.steps import Frame
from service.log.viewer import SPECTATOR
from service.play.admins import Admin
from service.play.bot_turns import play_bots
from service.play.committing import Committed, commit
from service.play.disputes import (
    Case,
    case_of,
    find_dispute,
    release,
    set_status,
    who_had_part,
)
from service.play.games import catch_up
from service.play.idempotency import within_game
from service.play.pen import Pen
from service.play.refusals import (
    DisputeClosed,
    GameNotActive,
    RemedyNotPossible,
)
from service.play.services import Services
from service.store import disputes as store
from service.store.appends import RequestKey
from service.store.attempts import Attempt, Moment, add_attempt, timeline
from service.store.database import StoreUnavailable
from service.store.disputes import RulingRow

ATTEMPTS_KEPT = timedelta(days=90)
TABLE_REMEDIES = ("rewind", "redeal", "void", "award")
"""Of these a ruling has one at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RulingRequest:
    """What a referee decides; each remedy is its JSON, of the shape of its kind."""

    outcome: str
    remedies: Sequence[JsonMap]
    public_reason: str
    private_note: str = ""


@dataclass(frozen=True, slots=True)
class Preview:
    """What a ruling would write, and the game after it."""

    frames: Sequence[Frame]
    game: Game


def actor_of(admin: Admin) -> Actor:
    """The admin as the log names them."""
    return Actor(kind="admin", id=admin.id)


def refuse_part(services: Services, admin: Admin, game: str) -> Game:
    """The game, if the admin has no part in it and never had.

    Raises GameNotFound and ConflictOfInterest.
    """
    present, _ = catch_up(services, game)
    admin.refuse_own(who_had_part(services, present))
    return present


# Stopping a game, and letting it go on.


def hold_game(services: Services, admin: Admin, game: str) -> Game:
    """Stop a game: nobody moves, no clock runs, until an admin lets it go on.

    Raises GameNotFound, GameNotActive and ConflictOfInterest.
    """
    refuse_part(services, admin, game)
    return commit(services, game, lambda now: _held(services, now, admin)).game


def resume_game(services: Services, admin: Admin, game: str) -> Game:
    """Let a game that is held go on.

    Raises GameNotFound, GameNotActive and ConflictOfInterest.
    """
    refuse_part(services, admin, game)
    committed = commit(services, game, lambda now: _resumed(services, now, admin))
    return play_bots(services, committed.game)


def _held(services: Services, game: Game, admin: Admin) -> Sequence[Frame]:
    if game.status is Status.HELD and game.held_for == "":
        return ()
    if game.status not in (Status.ACTIVE, Status.HELD):
        raise GameNotActive(game_status=game.status.value)
    pen = Pen(services, game)
    pen.write(steps.hold(game, actor_of(admin), None))
    return pen.frames


def _resumed(services: Services, game: Game, admin: Admin) -> Sequence[Frame]:
    if game.status is Status.ACTIVE:
        return ()
    if game.status is not Status.HELD:
        raise GameNotActive(game_status=game.status.value)
    pen = Pen(services, game)
    pen.write(steps.let_go(game, actor_of(admin)))
    return pen.frames


# Ruling.


def rule(
    services: Services, admin: Admin, dispute: str, asked: RulingRequest, key: RequestKey | None
) -> tuple[Case, Committed]:
    """Rule on a dispute: each remedy is in the log, and nothing is ever deleted.

    Raises DisputeNotFound, DisputeClosed, ConflictOfInterest and RemedyNotPossible.
    """
    found, new = find_dispute(services, dispute), services.new_id()
    refuse_part(services, admin, found.game_id)
    committed = commit(
        services,
        found.game_id,
        lambda now: _ruled(services, now, admin, found, asked, new),
        within_game(key, dispute),
    )
    ruling = str(committed.frames[0].event.data["ruling"])
    if ruling not in [row.id for row in store.rulings_of(services.database, found.id)]:
        row = RulingRow(
            id=ruling,
            dispute_id=found.id,
            game_id=found.game_id,
            admin_id=admin.id,
            outcome=asked.outcome,
            remedies=store.remedies_text(asked.remedies),
            public_reason=asked.public_reason,
            private_note=asked.private_note,
            seq=committed.frames[0].event.seq,
            at=services.now(),
        )
        store.add_ruling(services.database, row)
    if not committed.game.is_disputed_by(found.id):
        changes = {"status": "resolved", "closed_at": services.now(), "assignee": admin.id}
        set_status(services, found.id, changes)
    play_bots(services, committed.game)
    return case_of(services, find_dispute(services, dispute), for_admins=True), committed


def preview(services: Services, admin: Admin, dispute: str, asked: RulingRequest) -> Preview:
    """What a ruling would do; nothing is written."""
    found = find_dispute(services, dispute)
    present = refuse_part(services, admin, found.game_id)
    frames = _ruled(services, present, admin, found, asked, services.new_id())
    return Preview(frames, frames[-1].after)


def preview_json(preview_of: Preview) -> JsonMap:
    """What a preview shows: which events, and how the game stands; no card of a new deal."""
    game = preview_of.game
    return {
        "events": [frame.event.type for frame in preview_of.frames],
        "version": game.version,
        "status": game.status.value,
        "round": game.round.number if game.round else None,
        "to_act": game.to_act,
        "scores": {str(seat): score for seat, score in enumerate(game.scores, 1)},
        "result": game.result.to_json() if game.result else None,
        "abandoned": [list(span) for span in game.abandoned],
    }


def _ruled(
    services: Services,
    game: Game,
    admin: Admin,
    dispute: store.DisputeRow,
    asked: RulingRequest,
    new: str,
) -> Sequence[Frame]:
    """The ruling and its remedies, in order; the log says whether the dispute is open."""
    if not game.is_disputed_by(dispute.id):
        raise DisputeClosed(dispute_status="resolved")
    _refuse_mixture(asked)
    pen, actor = Pen(services, game), actor_of(admin)
    kinds = tuple(str(remedy["kind"]) for remedy in asked.remedies)
    ruling = steps.Ruling(
        id=new,
        outcome=asked.outcome,
        remedies=kinds or ("none",),
        dispute=dispute.id,
        scores=_scores(game, asked),
    )
    _try(pen, lambda now: steps.rule(now, ruling, actor), asked, _first_of(asked, RULED_ITSELF))
    for index, remedy in enumerate(asked.remedies):
        if pen.game.status.is_over and (
            not game.status.is_over or remedy["kind"] not in AFTER_THE_END
        ):
            raise _impossible(index, remedy, "the game has ended")
        applied = None if game.status.is_over else _REMEDIES.get(str(remedy["kind"]))
        if applied is not None:
            _try(pen, _applied(applied, remedy, actor), asked, index)
    release(pen, dispute.id, actor)
    for index, remedy in enumerate(asked.remedies):
        if remedy["kind"] == "extend_clock":
            _try(pen, _applied(_extended, remedy, actor), asked, index)
    pen.follow()
    _refuse_unreadable(pen.frames, asked)
    return pen.frames


def _refuse_unreadable(frames: Sequence[Frame], asked: RulingRequest) -> None:
    """Nothing is written that a replay would not take again."""
    for frame in frames:
        try:
            advance(frame.before, frame.event, frame.after.setup.secret)
        except ReplayDiverged as diverged:
            index = len(asked.remedies) - 1
            remedy = asked.remedies[index] if asked.remedies else {"kind": "none"}
            raise _impossible(max(index, 0), remedy, diverged.reason) from diverged


RULED_ITSELF = ("adjust_scores", "void")


def _first_of(asked: RulingRequest, kinds: Sequence[str]) -> int:
    """Which remedy is of one of these kinds; the first, if none is."""
    found = (n for n, remedy in enumerate(asked.remedies) if remedy["kind"] in kinds)
    return next(found, 0)


AFTER_THE_END = ("none", "adjust_scores", "void")
"""What a ruling may still do once the secret is revealed."""


def _refuse_mixture(asked: RulingRequest) -> None:
    """A ruling changes the table in one way, if in any."""
    kinds = [str(remedy["kind"]) for remedy in asked.remedies]
    if sum(kind in TABLE_REMEDIES for kind in kinds) > 1 or kinds.count("adjust_scores") > 1:
        index = len(kinds) - 1
        raise _impossible(index, asked.remedies[index], "it contradicts another of them")
    for index, kind in enumerate(kinds):
        if asked.outcome == "rejected" and kind != "none":
            raise _impossible(index, asked.remedies[index], "a rejected dispute changes nothing")


def _scores(game: Game, asked: RulingRequest) -> tuple[int, ...] | None:
    for index, remedy in enumerate(asked.remedies):
        if remedy["kind"] == "adjust_scores":
            scores: Any = remedy["scores"]
            if set(scores) != {str(seat) for seat in game.seats}:
                raise _impossible(index, remedy, "every seat has a score")
            return tuple(scores[str(seat)] for seat in game.seats)
    return None


def _try(pen: Pen, make: Callable[[Game], steps.Step], asked: RulingRequest, index: int) -> None:
    """Write a step of a remedy; raises RemedyNotPossible with what the log has against it."""
    try:
        pen.write(make(pen.game))
    except (ValueError, LookupError) as error:
        remedy = asked.remedies[index] if asked.remedies else {"kind": "none"}
        raise _impossible(index, remedy, str(error)) from error


def _impossible(index: int, remedy: JsonMap, reason: str) -> RemedyNotPossible:
    facts: JsonMap = {"index": index, "kind": remedy["kind"], "reason": reason}
    return RemedyNotPossible(facts, **facts)


def _extended(game: Game, remedy: Any, actor: Actor) -> steps.Step:  # noqa: ANN401
    if game.setup.turn_seconds is None or game.to_act is None:
        message = "no clock runs in this game"
        raise ValueError(message)
    return steps.extend_clock(game, remedy["seconds"], actor, steps.RULED)


def _handed_over(game: Game, remedy: Any, actor: Actor) -> steps.Step:  # noqa: ANN401
    if remedy["seat"] not in game.seats:
        message = "there is no such seat"
        raise ValueError(message)
    return steps.hand_over(game, Seat(remedy["seat"]), actor)


Remedy = Callable[[Game, Any, Actor], steps.Step]


def _applied(apply: Remedy, remedy: JsonMap, actor: Actor) -> Callable[[Game], steps.Step]:
    return lambda game: apply(game, remedy, actor)


_REMEDIES: Mapping[str, Remedy] = {
    "rewind": lambda game, remedy, actor: steps.rewind(game, remedy["to"], actor),
    "redeal": lambda game, remedy, actor: steps.redeal(
        game, remedy.get("round") or (game.round.number if game.round else 0), actor
    ),
    "replace_seat": _handed_over,
    "void": lambda game, _remedy, actor: steps.void(game, actor),
    "award": lambda game, remedy, actor: steps.award(game, remedy["standings"], actor),
}


# The timeline.


def note_attempt(services: Services, attempt: Attempt) -> None:
    """Keep a refused attempt; a database that is away costs the note, and not the answer."""
    try:
        add_attempt(services.database, attempt)
    except StoreUnavailable:
        structlog.get_logger().warning("attempt_lost", game=attempt.game_id)


def timeline_of(
    services: Services, game: str, kind: str | None, after: Moment | None, limit: int
) -> tuple[Game, Sequence[Moment]]:
    """What happened in a game and what was tried, in order of time; raises GameNotFound."""
    present, _ = catch_up(services, game)
    return present, timeline(services.database, game, kind, after, limit)


def event_text(frame: Frame) -> str:
    """An event as everybody sees it."""
    return event_line(frame, SPECTATOR)
