import json
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from games import AT, CREATOR, SECRET, add, opened, whole_game

from service.cards import Seat
from service.log import steps
from service.log.events import Actor, Draft, Event, chained, parse_event
from service.log.game import Occupant, Secret, Status
from service.log.replay import ReplayDiverged, advance, replay, resume
from service.log.steps import Frame, Opening
from service.rules.registry import find


def events_of(frames: list[Frame]) -> list[Event]:
    return [parse_event(frame.event.line) for frame in frames]


@pytest.mark.parametrize("seats", [3, 4])
def test_a_log_replays_to_the_very_states_it_was_written_from(seats: int) -> None:
    frames = whole_game(seed=seats, seats=seats)
    assert list(replay(events_of(frames), SECRET)) == frames
    assert frames[-1].after.status is Status.FINISHED
    assert frames[-1].event.type == "secret_revealed"


def test_the_scores_of_the_log_are_those_of_its_rounds() -> None:
    frames = whole_game()
    points = [f.event.data["points"] for f in frames if f.event.type == "round_ended"]
    ended: Any = next(f.event.data for f in frames if f.event.type == "game_ended")
    assert len(points) == 3
    assert ended["scores"] == {s: sum(p[s] for p in points) for s in ("1", "2", "3")}  # type: ignore[index]
    least = min(ended["scores"].values())
    assert ended["winners"] == [int(s) for s, v in ended["scores"].items() if v == least]
    assert ended["standings"][0] == ended["winners"]


def test_the_deal_passes_to_the_left() -> None:
    dealers = [f.event.data["dealer"] for f in whole_game() if f.event.type == "round_started"]
    for before, after in pairwise(dealers):
        assert after == before % 3 + 1  # type: ignore[operator]


def test_a_game_is_resumed_from_its_milestones_and_its_last_round() -> None:
    frames = whole_game()
    for end in range(len(frames)):
        events = events_of(frames[: end + 1])
        last = max((e.seq for e in events if e.type == "round_started"), default=1)
        needed = [
            event
            for event in events
            if event.seq >= last or event.type not in ("move", "round_ended")
        ]
        assert resume(needed, SECRET) == frames[end].after


def test_moves_without_their_round_are_no_way_to_resume() -> None:
    events = events_of(whole_game())
    last = max(event.seq for event in events if event.type == "round_started")
    first_move = last + 1
    with pytest.raises(ReplayDiverged, match="missing") as caught:
        resume(events[: first_move - 1] + events[first_move:], SECRET)
    assert caught.value.seq == first_move + 1


def test_nothing_is_no_log() -> None:
    with pytest.raises(ValueError, match="at least one event"):
        resume([], SECRET)


def rewritten(events: list[Event], index: int, **data: Any) -> list[Event]:
    """The log with one event's data changed, and chained anew from there."""
    chain = events[:index]
    for event in events[index:]:
        changed = {**event.data, **data} if event is events[index] else event.data
        draft = Draft(event.type, Actor(**event.actor), changed)  # type: ignore[arg-type]
        prev = chain[-1].hash if chain else event.prev
        chain.append(chained(draft, game=event.game, seq=event.seq, at=event.at, prev=prev))
    return chain


def index_of(events: list[Event], kind: str) -> int:
    return next(index for index, event in enumerate(events) if event.type == kind)


@pytest.mark.parametrize(
    ("kind", "data", "field"),
    [
        ("game_created", {"commitment": "0" * 64}, "commitment"),
        ("game_started", {"dealer": 9}, "dealer"),
        ("round_started", {"first": 9}, "first"),
        ("round_started", {"upcard": "2c2"}, "upcard"),
        ("round_started", {"state_mac": "0" * 64}, "state_mac"),
        ("move", {"outcome": {"boom": False}}, "outcome"),
        ("move", {"state_mac": "0" * 64}, "state_mac"),
        ("move", {"seat": 9}, "seat"),
        ("move", {"seat": True}, "seat"),
        ("round_ended", {"points": {"1": 0, "2": 0, "3": 0}}, "points"),
        ("round_ended", {"more": 1}, "more"),
        ("game_ended", {"winners": [1, 2, 3]}, "winners"),
        ("secret_revealed", {"server_secret": "0" * 64}, "server_secret"),
    ],
)
def test_a_consequence_that_does_not_follow_is_named_by_its_seq(
    kind: str, data: dict[str, Any], field: str
) -> None:
    events = events_of(whole_game())
    index = index_of(events, kind)
    with pytest.raises(ReplayDiverged, match=field) as caught:
        list(replay(rewritten(events, index, **data), SECRET))
    assert caught.value.seq == index + 1


@pytest.mark.parametrize(
    ("kind", "data"),
    [
        ("game_created", {"ruleset": "snap"}),
        ("game_created", {"options": {}}),
        ("seat_taken", {"kind": None, "seat": "x"}),
        ("move", {"move": {"type": "play", "card": "X8"}}),
        ("move", {"move": {"type": "leap"}}),
    ],
)
def test_an_input_that_the_rules_refuse_is_named_by_its_seq(
    kind: str, data: dict[str, Any]
) -> None:
    events = events_of(whole_game())
    index = index_of(events, kind)
    with pytest.raises(ReplayDiverged) as caught:
        list(replay(rewritten(events, index, **data), SECRET))
    assert caught.value.seq == index + 1


def test_another_secret_does_not_replay() -> None:
    other = Secret(bytes(32), SECRET.dealer)
    with pytest.raises(ReplayDiverged, match="commitment"):
        list(replay(events_of(whole_game()), other))


def test_an_unknown_type_is_skipped_and_still_counted() -> None:
    frames = opened()
    game = frames[-1].after
    event = chained(
        Draft("weather_changed", CREATOR, {"sun": True}),
        game=game.id,
        seq=game.version + 1,
        at=AT,
        prev=game.head,
    )
    after = advance(game, event, SECRET).after
    assert after == replace(game, version=event.seq, head=event.hash, at=AT)


def test_a_log_begins_with_its_creation() -> None:
    event = chained(Draft("weather_changed", CREATOR, {}), game="x", seq=1, at=AT, prev="0" * 64)
    with pytest.raises(ReplayDiverged, match="begins with game_created"):
        list(replay([event], SECRET))


def test_an_event_of_a_game_out_of_order_is_named() -> None:
    events = events_of(whole_game())
    with pytest.raises(ReplayDiverged) as caught:
        list(replay([*events[:5], *events[6:]], SECRET))
    assert caught.value.seq == 7


@pytest.mark.parametrize("early", ["round_started", "round_ended", "game_ended", "move"])
def test_a_round_is_not_played_before_the_game_has_started(early: str) -> None:
    game = opened()[0].after
    data: dict[str, Any] = {"reason": "finished", "move": {"type": "draw"}}
    event = chained(Draft(early, CREATOR, data), game=game.id, seq=2, at=AT, prev=game.head)
    with pytest.raises(ReplayDiverged):
        advance(game, event, SECRET)


def test_a_round_that_goes_on_is_not_ended() -> None:
    with pytest.raises(ValueError, match="goes on"):
        steps.end_round(opened()[-1].after)


def test_a_game_that_has_not_started_deals_nothing() -> None:
    game = opened()[2].after
    assert not game.is_full
    assert opened()[-1].after.is_full
    for step in (steps.start_round, steps.end_round):
        with pytest.raises(ValueError, match=r"not started|no round"):
            step(game)
    round_first = replace(game, first_dealer=Seat(1))
    with pytest.raises(ValueError, match="not started"):
        steps.start_round(round_first)
    assert steps.next_step(game) is None


def test_milestones_between_rounds_are_resumed_over() -> None:
    """A type that a later release adds may stand among the events that are left out."""
    frames = whole_game()
    events = events_of(frames)
    last = max(event.seq for event in events if event.type == "round_started")
    stranger = replace(events[last - 3], type="weather_changed", seq=last - 2)
    setup = [
        e
        for e in events[: last - 1]
        if e.type in ("game_created", "seat_taken", "game_started", "round_started")
    ]
    assert resume([*setup, stranger, *events[last - 1 :]], SECRET) == frames[-1].after


def test_a_seat_that_is_left_is_free_again() -> None:
    frames = opened()[:2]
    add(frames, steps.leave_seat(frames[-1].after, Seat(1), CREATOR))
    assert json.loads(frames[-1].event.line)["data"] == {
        "seat": 1,
        "kind": "human",
        "player": "player1",
    }
    assert frames[-1].after.occupants == (None, None, None)
    bot = Occupant(kind="bot", level="steady")
    add(frames, steps.take_seat(frames[-1].after, Seat(2), bot, CREATOR))
    assert frames[-1].event.data == {
        "seat": 2,
        "kind": "bot",
        "bot": "steady",
        "contribution": "",
    }
    assert [f.after for f in replay(events_of(frames), SECRET)] == [f.after for f in frames]


def test_a_voided_game_reveals_its_secret_and_has_no_winner() -> None:
    frames = opened()[:2]
    add(frames, steps.void(frames[-1].after))
    frames += steps.consequences(frames[-1].after, AT)
    assert [frame.event.type for frame in frames[2:]] == ["game_ended", "secret_revealed"]
    assert frames[2].event.data["winners"] == []
    assert frames[-1].after.status is Status.VOIDED
    assert frames[-1].after.result is not None
    assert frames[-1].after.result.winners == ()
    assert list(replay(events_of(frames), SECRET)) == frames


def test_a_sandbox_deals_the_same_in_every_game() -> None:
    rules = find("jokers-go-boom")

    def deal(game: str, sandbox: str | None) -> Any:
        opening = Opening(
            ruleset=rules, options=rules.options(), seats=3, visibility="public", sandbox=sandbox
        )
        frames = [steps.write(steps.create(game, opening, SECRET, CREATOR, AT), None, AT)]
        for number in (1, 2, 3):
            who = Occupant(kind="human", player=str(number))
            add(frames, steps.take_seat(frames[-1].after, Seat(number), who, CREATOR))
        add(frames, steps.start(frames[-1].after))
        frames += steps.consequences(frames[-1].after, AT)
        return frames[-1].after.round.state  # type: ignore[union-attr]

    one, other = "01j00000000000000000000001", "01j00000000000000000000002"
    sandbox = SECRET.value.hex()
    assert deal(one, sandbox) == deal(other, sandbox)
    assert deal(one, None) != deal(other, None)


def test_a_secret_of_another_length_is_refused() -> None:
    rules = find("jokers-go-boom")
    opening = Opening(ruleset=rules, options=rules.options(), seats=3, visibility="public")
    with pytest.raises(ValueError, match="32 bytes"):
        steps.create("x", opening, Secret(b"short", SECRET.dealer), CREATOR, AT)


def test_neither_secret_nor_state_stands_in_a_repr() -> None:
    text = repr(opened()[-1].after)
    assert SECRET.value.hex() not in text
    assert "hands=" not in text
    assert repr(SECRET) == "Secret()"
