import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from proof.exports import (
    AT,
    GAME,
    KEYRING,
    ORIGIN,
    Tampered,
    export_of,
    kept_receipt,
    no_node,
    parts,
    play,
    rechained,
    tampered_with,
    tree_leaves,
    with_footer,
    written,
)
from signing import FixedKeyring

from service.canonical import JsonMap, canonical_text
from service.cards import Seat
from service.fairness import SealedDealer
from service.log import steps
from service.log.events import Actor
from service.log.game import Game, Occupant, Secret
from service.log.replay import ReplayDiverged, advance
from service.log.steps import Frame
from service.proof import merkle
from service.proof.checkpoints import Checkpoint, Consistency, read_note, signed
from service.proof.outside import Evidence
from service.proof.receipts import sign_head
from service.proof.verdicts import Check, Outcome, Report, Status
from service.proof.verify import verify

CASES = [case for ruleset in ("jokers-go-boom", "crazy-rummy") for case in tampered_with(ruleset)]


@pytest.mark.parametrize("ruleset", ["jokers-go-boom", "crazy-rummy"])
def test_a_whole_game_is_verified(ruleset: str) -> None:
    report = verify(export_of(play(ruleset, 1)), Evidence(keys=KEYRING.public_keys()))
    assert [(v.check, v.status) for v in report.verdicts] == [(c, Status.PASSED) for c in Check]
    assert report.outcome is Outcome.VERIFIED


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_tampering_is_found_by_name_and_place_and_by_no_other_check(case: Tampered) -> None:
    report = verify(case.text, case.evidence)
    failed = [(v.check, v.seq) for v in report.verdicts if v.status is Status.FAILED]
    assert failed == [(case.check, case.seq)], [v.to_json() for v in report.verdicts]
    assert report.outcome is Outcome.FAILED
    assert [v.check for v in report.verdicts] == list(Check)


@pytest.mark.parametrize("ruleset", ["jokers-go-boom", "crazy-rummy"])
def test_a_running_game_is_checked_as_far_as_it_is_public(ruleset: str) -> None:
    frames = play(ruleset, 1)
    for length in range(1, 30):
        text = export_of(frames[:length])
        report = verify(text, Evidence(keys=KEYRING.public_keys()))
        assert report.outcome is Outcome.INCOMPLETE
        passed = {v.check for v in report.verdicts if v.status is Status.PASSED}
        assert passed == OUTSIDE_THE_DEAL
        whole = verify(text, Evidence(keys=KEYRING.public_keys(), secret=bytes(range(32))))
        assert whole.outcome is Outcome.VERIFIED
        wrong = verify(text, Evidence(secret=bytes(32)))
        assert wrong.failure is not None
        assert (wrong.failure.check, wrong.failure.seq) == (Check.COMMITMENT, 1)


OUTSIDE_THE_DEAL = {
    Check.CANONICAL,
    Check.CHAIN,
    Check.COMPLETENESS,
    Check.SIGNATURE,
    Check.INCLUSION,
}


def test_without_keys_the_game_itself_is_verified_all_the_same() -> None:
    report = verify(export_of(play("jokers-go-boom", 1)))
    assert report.outcome is Outcome.VERIFIED
    unchecked = {v.check for v in report.verdicts if v.status is Status.NOT_CHECKED}
    assert unchecked == {Check.SIGNATURE, Check.INCLUSION}


def test_a_game_that_no_checkpoint_holds_yet_is_no_fault() -> None:
    text = with_footer(export_of(play("jokers-go-boom", 1)), inclusion=None)
    verdict = verify(text, Evidence(keys=KEYRING.public_keys())).verdicts[-1]
    assert (verdict.check, verdict.status) == (Check.INCLUSION, Status.NOT_CHECKED)


def test_rules_that_are_not_known_are_not_checked() -> None:
    text = export_of(play("jokers-go-boom", 1))
    header, events, _ = parts(text)
    events[0]["data"]["ruleset_version"] = "99"
    report = verify(written({**header, "ruleset_version": "99"}, rechained(events)))
    assert report.outcome is Outcome.INCOMPLETE
    assert {v.check for v in report.verdicts if v.status is Status.NOT_CHECKED} >= {
        Check.DEALS,
        Check.MOVES,
        Check.SCORES,
    }


def test_a_kept_receipt_of_another_game_or_past_the_end_is_found() -> None:
    text = export_of(play("jokers-go-boom", 1))
    last = len(parts(text)[1])
    other = sign_head(KEYRING.signer(), "01j00000000000000000000009", 3, "0" * 64)
    later = sign_head(KEYRING.signer(), GAME, last + 1, "0" * 64)
    for receipt, seq in ((other, 3), (later, last + 1)):
        report = verify(text, Evidence(keys=KEYRING.public_keys(), receipts=[receipt]))
        assert report.failure is not None
        assert (report.failure.check, report.failure.seq) == (Check.SIGNATURE, seq)
    kept = kept_receipt(text, 5)
    report = verify(text, Evidence(keys=KEYRING.public_keys(), receipts=[kept]))
    assert "so is what was kept (1)" in report.verdicts[-2].detail


def test_a_key_that_signed_no_more_is_found() -> None:
    text = export_of(play("jokers-go-boom", 1))
    (key,) = KEYRING.public_keys()
    retired = replace(key, valid_until="2026-11-30T00:00:00.000Z")
    report = verify(text, Evidence(keys=[retired]))
    assert report.failure is not None
    assert report.failure.check is Check.SIGNATURE
    assert "signed no more" in report.failure.detail


def test_kept_checkpoints_are_connected_by_proofs_of_consistency() -> None:
    frames = play("jokers-go-boom", 1)
    text, keys = export_of(frames), KEYRING.public_keys()
    leaves = tree_leaves(frames)
    nodes = {(n.level, n.index): n.hash for n in merkle.grow(0, leaves, no_node)}

    def look_up(level: int, index: int) -> bytes:
        return nodes[level, index]

    for size, other in ((5, 7), (7, 5), (9, 7)):
        older, newer = sorted((size, 7))
        kept = read_note(
            signed(Checkpoint(ORIGIN, size, merkle.root(size, look_up)), KEYRING.signer())
        )
        unconnected = verify(text, Evidence(keys=keys, checkpoints=[kept]))
        proof = Consistency(
            old=older, new=newer, path=merkle.consistency_path(older, newer, look_up)
        )
        connected = Evidence(keys=keys, checkpoints=[kept], consistency=[proof])
        broken = replace(connected, consistency=[replace(proof, path=[b"0" * 32])])
        strange = read_note(signed(kept.checkpoint, FixedKeyring(b"s" * 32).signer()))
        elsewhere = replace(kept.checkpoint, origin="other.example/log")
        other_log = read_note(signed(elsewhere, KEYRING.signer()))
        for note in (strange, other_log):
            report = verify(text, replace(connected, checkpoints=[note]))
            assert report.outcome is Outcome.INCOMPLETE
        if size == 7:
            assert unconnected.verdicts[-1].status is Status.PASSED
            continue
        assert unconnected.verdicts[-1].status is Status.NOT_CHECKED
        assert unconnected.outcome is Outcome.INCOMPLETE
        assert f"no proof connects checkpoints {older} and {newer}" in (
            unconnected.verdicts[-1].detail
        )
        assert verify(text, connected).verdicts[-1].status is Status.PASSED
        assert verify(text, broken).verdicts[-1].status is Status.NOT_CHECKED
        assert other in (5, 7)


def test_evidence_that_can_not_be_used_leaves_a_log_incomplete() -> None:
    text, keys = export_of(play("jokers-go-boom", 1)), KEYRING.public_keys()
    receipt, note = kept_receipt(text, 5), read_note(parts(text)[2]["inclusion"]["checkpoint"])
    assert verify(text, Evidence(receipts=[receipt])).outcome is Outcome.INCOMPLETE
    assert verify(text, Evidence(checkpoints=[note])).outcome is Outcome.INCOMPLETE
    bare = with_footer(text, inclusion=None)
    assert verify(bare, Evidence(keys=keys)).outcome is Outcome.VERIFIED
    assert verify(bare, Evidence(keys=keys, checkpoints=[note])).outcome is Outcome.INCOMPLETE
    wrong = kept_receipt(export_of(play("jokers-go-boom", 2)), 9)
    assert verify(text, Evidence(receipts=[wrong])).failure is not None
    unsigned = with_footer(text, receipt=None)
    assert verify(unsigned).outcome is Outcome.VERIFIED
    assert verify(unsigned, Evidence(keys=keys)).outcome is Outcome.FAILED


Forge = Callable[[Game], steps.Step]


def forged(ruleset: str, length: int, *forges: Forge) -> str:
    """So many events of a game, and then what somebody with the key made up, chained and signed."""
    frames = list(play(ruleset, 1, rounds=3)[:length])
    for forge in forges:
        game = frames[-1].after
        frames.append(steps.write(forge(game), game, AT))
    return export_of(frames)


def legal(game: Game, actor: Actor, index: int = 0) -> steps.Step:
    assert game.round is not None
    return steps.play(game, game.ruleset.legal_moves(game.round.state)[index], actor)


THIEF = Occupant(kind="human", player="thief", contribution="lucky 7")
END = (steps.end_game, steps.reveal)
FORGED: dict[str, tuple[Forge, ...]] = {
    "an end in the middle of a round": END,
    "a new deal in the middle of a round": (steps.start_round, *END),
    "a reveal before the end": (steps.reveal,),
    "a second start": (steps.start, steps.start_round, *END),
    "a seat taken while the game runs": (
        lambda game: steps.take_seat(game, Seat(1), THIEF, Actor(kind="player", id="thief")),
        steps.void,
        steps.reveal,
    ),
    "a seat left while the game runs": (
        lambda game: steps.leave_seat(game, Seat(1), Actor(kind="player", id="player1")),
        steps.void,
        steps.reveal,
    ),
    "a clock that plays as it likes": (
        lambda game: legal(game, Actor(kind="clock"), -1),
        steps.void,
        steps.reveal,
    ),
    "a bot that sits in no seat": (
        lambda game: legal(game, Actor(kind="bot", id="other")),
        steps.void,
        steps.reveal,
    ),
    "a move after the end": (steps.void, steps.reveal, steps.reveal),
    "a seat given up by another": (
        lambda game: steps.resign(game, Seat(1), Actor(kind="player", id="player2")),
        steps.void,
        steps.reveal,
    ),
    "a return of who was not away": (
        lambda game: steps.come_back(game, Seat(1), THIEF, Actor(kind="player", id="thief")),
        steps.void,
        steps.reveal,
    ),
    "a clock put back where there is none": (
        lambda game: steps.extend_clock(game, 5),
        steps.void,
        steps.reveal,
    ),
    "a bot for who was not absent": (
        lambda game: steps.replace_absent(replace(game, absences=(3, 0, 0))),
        steps.void,
        steps.reveal,
    ),
    "a second end": (steps.void, steps.reveal, steps.void, steps.reveal),
}


@pytest.mark.parametrize("name", FORGED)
@pytest.mark.parametrize("ruleset", ["jokers-go-boom", "crazy-rummy"])
def test_what_could_not_happen_is_found_whoever_signed_it(ruleset: str, name: str) -> None:
    text = forged(ruleset, 12, *FORGED[name])
    report = verify(text, Evidence(keys=KEYRING.public_keys()))
    assert report.outcome is Outcome.FAILED, name
    assert report.failure is not None
    assert (report.failure.seq or 0) > 12


def test_a_round_is_counted_once_and_all_of_them_are_played() -> None:
    ended = [
        frame.event.seq
        for frame in play("jokers-go-boom", 1, rounds=3)
        if frame.event.type == "round_ended"
    ]
    for forges in (END, (steps.end_round, *END), (steps.void, steps.reveal)):
        report = verify(forged("jokers-go-boom", ended[0], *forges))
        assert report.failure is not None
        assert report.failure.seq == ended[0] + 1


@pytest.mark.parametrize("value", ["30", 0, 10**7, True, None])
def test_a_clock_that_is_none_is_found(value: object) -> None:
    header, events, _ = parts(export_of(play("jokers-go-boom", 1)))
    events[0]["data"]["turn_seconds"] = value
    report = verify(written(header, rechained(events)))
    assert report.failure is not None
    assert (report.failure.check, report.failure.seq) == (Check.DEALS, 1)


def timed_start() -> list[Frame]:
    """A game with a clock, to its first turn, which is a person's; six events."""
    frames = list(play("jokers-go-boom", 1, also={"turn_seconds": 30})[:6])
    assert frames[-1].after.to_act == 2
    return frames


def timed(*forges: Forge) -> str:
    """A game with a clock, to its first turn, and what follows."""
    frames = timed_start()
    for forge in forges:
        game = frames[-1].after
        frames.append(steps.write(forge(game), game, AT))
    return export_of(frames)


def late(*forges: Forge) -> str:
    """The same, half a minute later."""
    header, events, _ = parts(timed(*forges))
    for event in events[6:]:
        event["at"] = "2026-12-01T10:16:01.123Z"
    return written(header, rechained(events))


SECRET = bytes(range(32))


@pytest.mark.parametrize(
    "actor",
    [
        {"kind": "clock"},
        {"kind": "clock", "id": "player2"},
        {"kind": "admin", "id": "player2"},
        {"kind": "bot", "id": "player2"},
        {"kind": "player", "id": "player1"},
        {"kind": "system"},
        {"kind": "nonsense"},
    ],
)
def test_a_seat_is_given_up_by_its_player_alone(actor: dict[str, str]) -> None:
    for seat in (2, 3):
        forged_text = timed(lambda game, seat=seat: steps.resign(game, Seat(seat), Actor(**actor)))  # type: ignore[misc]
        report = verify(forged_text, Evidence(secret=SECRET))
        assert report.failure is not None
        assert report.failure.seq == 7


@pytest.mark.parametrize(
    "occupant",
    [
        Occupant(kind="human", player="stranger"),
        Occupant(kind="human", player="player1"),
        Occupant(kind="bot", level="cheater"),
        Occupant(kind="robot", player="player2"),
    ],
)
def test_who_comes_back_is_who_was_away(occupant: Occupant) -> None:
    """However the seat was lost: the log of an absence is made as the service makes it."""
    frames = timed_start()
    game = replace(frames[-1].after, away=(None, "player2", None))
    for returning, seat in ((occupant, Seat(2)), (THIEF, Seat(1))):
        step = steps.come_back(game, seat, returning, Actor(kind="player", id="player2"))
        event = steps.write(step, frames[-1].after, AT).event
        with pytest.raises(ReplayDiverged):
            advance(game, event, Secret(SECRET, SealedDealer.of))
    own = Occupant(kind="human", player="player2")
    step = steps.come_back(game, Seat(2), own, Actor(kind="player", id="player2"))
    back = advance(game, steps.write(step, game, AT).event, Secret(SECRET, SealedDealer.of)).after
    assert back.occupant(Seat(2)) == own
    assert back.away == (None, None, None)


def test_a_clock_plays_is_put_back_and_hands_seats_to_bots() -> None:
    good = late(steps.absent_turn)
    assert verify(good, Evidence(secret=SECRET)).outcome is Outcome.VERIFIED
    put_back = late(lambda game: steps.extend_clock(game, 31))
    assert verify(put_back, Evidence(secret=SECRET)).outcome is Outcome.VERIFIED
    for forge in (steps.absent_turn, lambda game: steps.extend_clock(game, 1)):
        early = verify(timed(forge), Evidence(secret=SECRET))
        assert early.failure is not None
        assert early.failure.seq == 7
    for seconds in (0, -1, "7", None, True, 33, 10**9):
        header, events, _ = parts(put_back)
        events[6]["data"]["seconds"] = seconds
        report = verify(written(header, rechained(events)), Evidence(secret=SECRET))
        assert report.failure is not None
        assert report.failure.seq == 7
    by_player = timed(lambda game: steps.resign(game, Seat(2), Actor(kind="player", id="player2")))
    assert verify(by_player, Evidence(secret=SECRET)).outcome is Outcome.VERIFIED


@pytest.mark.parametrize("length", [1, 2, 3])
def test_a_game_starts_when_its_seats_are_taken(length: int) -> None:
    report = verify(forged("jokers-go-boom", length, steps.start, steps.void, steps.reveal))
    assert report.failure is not None
    assert (report.failure.check, report.failure.seq) == (Check.DEALS, length + 1)


@pytest.mark.parametrize("field", ["scores", "round", "dealer"])
@pytest.mark.parametrize("value", [None, {}, "1", 10**9, True])
def test_later_rounds_that_can_not_be_read_are_findings(field: str, value: object) -> None:
    text = export_of(play("jokers-go-boom", 1, rounds=3))
    header, events, _ = parts(text)
    second = next(e for e in events if e["type"] == "round_started" and e["data"]["round"] == 2)
    for change in ({field: value}, None):
        changed = [
            {**event, "data": {**event["data"], **(change or {})}} if event is second else event
            for event in events
        ]
        if change is None:
            del changed[second["seq"] - 1]["data"][field]
        report = verify(written(header, rechained(changed)))
        assert report.failure is not None
        assert report.failure.seq == second["seq"]


@pytest.mark.parametrize("at", ["", "tomorrow", "2026-12-01T10:15:30Z", "2026-12-01 10:15:30.123Z"])
def test_a_time_that_is_none_is_found(at: str) -> None:
    header, events, _ = parts(export_of(play("jokers-go-boom", 1)))
    events[3]["at"] = at
    report = verify(written(header, rechained(events)))
    assert report.failure is not None
    assert (report.failure.check, report.failure.seq) == (Check.CANONICAL, 4)


@pytest.mark.parametrize(
    "actor", [{}, {"kind": 1}, {"kind": "bot", "id": 2}, {"kind": "x", "y": 1}]
)
def test_an_actor_that_is_none_is_found(actor: JsonMap) -> None:
    header, *lines = export_of(play("jokers-go-boom", 1)).splitlines(keepends=True)
    event = json.loads(lines[3]) | {"actor": actor}
    lines[3] = canonical_text(event) + "\n"
    report = verify("".join([header, *lines]))
    assert report.failure is not None
    assert (report.failure.check, report.failure.seq) == (Check.CANONICAL, 4)


def changed(change: Callable[[Any], object]) -> Report:
    """What is found in a game of two rounds whose events somebody changed, and signed."""
    header, events, _ = parts(export_of(play("jokers-go-boom", 1)))
    change(events)
    return verify(written(header, rechained(events)))


CHANGES: dict[str, tuple[Callable[[Any], object], Check, int]] = {
    "an event of another game": (
        lambda events: events[3].update(game=GAME[:-1] + "9"),
        Check.CHAIN,
        4,
    ),
    "a second beginning": (lambda events: events.insert(3, events[0]), Check.DEALS, 4),
    "a seat that is taken": (lambda events: events[3]["data"].update(seat=1), Check.DEALS, 4),
    "a bot's seat taken": (lambda events: events.insert(4, events[3]), Check.DEALS, 5),
    "a seat that nobody left": (
        lambda events: events.insert(
            1, {**events[1], "type": "seat_left", "data": {"seat": 1, "kind": "human"}}
        ),
        Check.DEALS,
        2,
    ),
    "a first deal that is none": (lambda events: events[5].update(type="x"), Check.DEALS, 0),
    "scores that are texts": (
        lambda events: next(
            e["data"]["scores"].update({"1": "0"})
            for e in reversed(events)
            if e["type"] == "round_started"
        ),
        Check.DEALS,
        0,
    ),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_log_that_could_not_be_is_found(name: str) -> None:
    change, check, seq = CHANGES[name]
    report = changed(change)
    assert report.failure is not None
    assert report.failure.check is check
    assert not seq or report.failure.seq == seq


@pytest.mark.parametrize("seq", [1, 2, 4, 5, 6])
def test_a_wrong_actor_is_found(seq: int) -> None:
    header, events, _ = parts(export_of(play("jokers-go-boom", 1)))
    events[seq - 1]["actor"] = {"kind": "admin", "id": "x"}
    report = verify(written(header, rechained(events)))
    assert report.failure is not None
    found_by = Check.DEALS if events[seq - 1]["type"] == "round_started" else Check.MOVES
    assert (report.failure.check, report.failure.seq) == (found_by, seq)


@given(st.data())
@settings(max_examples=150, deadline=None)
def test_no_change_of_a_character_goes_unseen_or_breaks_the_verifier(data: st.DataObject) -> None:
    text = data.draw(st.sampled_from(SMALL))
    place = data.draw(st.integers(0, len(text) - 1))
    char = data.draw(st.characters(codec="utf-8"))
    changed = text[:place] + char + text[place + 1 :]
    report = verify(changed, Evidence(keys=KEYRING.public_keys()))
    assert (report.outcome is Outcome.FAILED) == (changed != text)


@given(st.data())
@settings(max_examples=150, deadline=None)
def test_no_rewritten_value_goes_unseen_or_breaks_the_verifier(data: st.DataObject) -> None:
    """Whatever JSON stands in an event, chained and signed by a liar, there is a report."""
    text = data.draw(st.sampled_from(SMALL))
    header, events, _ = parts(text)
    event = data.draw(st.sampled_from(events))
    name = data.draw(st.sampled_from(sorted(event["data"]) or ["x"]))
    value = data.draw(JSON)
    before = event["data"].get(name)
    event["data"][name] = value
    report = verify(written(header, rechained(events)), Evidence(keys=KEYRING.public_keys()))
    if name in ASKED_FOR or canonical_text({"": value}) == canonical_text({"": before}):
        return
    assert report.outcome is Outcome.FAILED


ASKED_FOR = {"visibility", "player", "bot", "kind"}
"""What somebody asked for and nothing follows from: only receipts and checkpoints bind it."""


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53) + 1, 2**53 - 1)
    | st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text("abc123", max_size=3), inner, max_size=3)
    ),
    max_leaves=6,
)
SMALL = [export_of(play(ruleset, 4, rounds=1)) for ruleset in ("jokers-go-boom", "crazy-rummy")]
