"""What a referee may do to a game: take it back, deal again, change scores; nothing is lost."""

import random
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from proof.exports import AT, CREATOR, GAME, play

from service.cards import Seat
from service.fairness import SealedDealer
from service.log import steps
from service.log.events import GENESIS, Actor, Draft, Event, chained
from service.log.game import Game, Rematch, Secret, Status
from service.log.replay import ReplayDiverged, advance, check_deals, replay, resume
from service.log.steps import Dispute, Frame, Ruling

REFEREE = Actor(kind="admin", id="01j0000000000000000000000r")
SECRET = Secret(bytes(range(32)), SealedDealer.of)
RULESETS = ("jokers-go-boom", "crazy-rummy")


class Table:
    """A game that is played on, and ruled upon."""

    def __init__(self, frames: Sequence[Frame], seed: int) -> None:
        self.frames = list(frames)
        self.chance = random.Random(seed)

    @property
    def game(self) -> Game:
        return self.frames[-1].after

    @property
    def events(self) -> list[Event]:
        return [frame.event for frame in self.frames]

    def add(self, step: steps.Step) -> None:
        self.frames.append(steps.write(step, self.game, AT))

    def move(self) -> bool:
        if self.game.to_act is None or self.game.round is None:
            return False
        move = self.chance.choice(self.game.ruleset.legal_moves(self.game.round.state))
        occupant = self.game.occupant_to_act
        assert occupant is not None
        kind = "player" if occupant.player else "bot"
        actor = Actor(kind=kind, id=occupant.player or occupant.level)
        self.add(steps.play(self.game, move, actor))
        self.frames += steps.consequences(self.game, AT)
        return True

    def rule(self, *remedies: str, scores: Sequence[int] | None = None) -> None:
        ruling = Ruling(
            id="r",
            outcome="upheld",
            remedies=remedies,
            dispute=next((opened for opened, _ in self.game.disputes), None),
            scores=None if scores is None else tuple(scores),
        )
        self.add(steps.rule(self.game, ruling, REFEREE))

    def check(self) -> None:
        """The log replays, from its start, from its deals alone and from its milestones."""
        frames = list(replay(self.events, SECRET))
        assert [frame.after for frame in frames] == [frame.after for frame in self.frames]
        check_deals(self.events, SECRET)
        for length in {len(self.events), *self.chance.sample(range(1, len(self.events)), 12)}:
            assert resume(cold(self.events[:length]), SECRET) == self.frames[length - 1].after


def cold(events: Sequence[Event]) -> list[Event]:
    """What is read of a game that is not remembered."""
    last = max((event.seq for event in events if event.type == "round_started"), default=1)
    return [e for e in events if e.seq >= last or e.type not in ("move", "round_ended")]


def table(ruleset: str, seed: int, length: int | None = None, **options: Any) -> Table:
    frames = play(ruleset, seed, **options)
    if length is None:
        starts = [n for n, frame in enumerate(frames) if frame.event.type == "round_started"]
        length = starts[-1] + 9
    return Table(frames[:length], seed)


def all_cards(game: Game) -> list[int]:
    assert game.round is not None
    state = game.round.state
    melded = [place.card for meld in getattr(state, "melds", ()) for place in meld.places]
    return sorted(
        [*(c for hand in state.hands for c in hand), *state.stock, *state.discard, *melded]
    )


@pytest.mark.parametrize("ruleset", RULESETS)
@pytest.mark.parametrize("seed", range(4))
def test_a_round_is_taken_back_to_any_of_its_events(ruleset: str, seed: int) -> None:
    begun = table(ruleset, seed)
    first = begun.game.starts[-1].seq
    for to in range(first, begun.game.version):
        one = Table(begun.frames, seed)
        cards = all_cards(one.game)
        one.add(steps.rewind(one.game, to, REFEREE))
        assert all_cards(one.game) == cards
        then = one.frames[to - 1].after
        assert one.game.round is not None
        assert then.round is not None
        now, before = one.game.round.state, then.round.state
        assert (now.hands, now.discard) == (before.hands, before.discard)
        assert sorted(now.stock) == sorted(before.stock)
        assert one.game.to_act == then.to_act
        assert one.game.abandoned == ((to + 1, begun.game.version),)
        for _ in range(3):
            one.move()
        one.check()


@pytest.mark.parametrize("ruleset", RULESETS)
def test_the_stock_is_in_another_order_each_time(ruleset: str) -> None:
    one = table(ruleset, 1)
    to = one.game.starts[-1].seq
    stocks = set()
    for deal in range(1, 5):
        one.add(steps.rewind(one.game, to, REFEREE))
        assert one.events[-1].data["deal"] == deal
        assert one.game.round is not None
        stocks.add(one.game.round.state.stock)
    assert len(stocks) == 4
    one.check()


@pytest.mark.parametrize("ruleset", RULESETS)
def test_what_was_folded_back_can_not_be_gone_back_to(ruleset: str) -> None:
    one = table(ruleset, 2)
    version, to = one.game.version, one.game.version - 4
    one.add(steps.rewind(one.game, to, REFEREE))
    one.move()
    for folded in range(to + 1, version + 1):
        with pytest.raises(ValueError, match="taken back"):
            steps.rewind(one.game, folded, REFEREE)
    for outside in (0, one.game.starts[-1].seq - 1, one.game.version, one.game.version + 1):
        with pytest.raises(ValueError, match="taken back"):
            steps.rewind(one.game, outside, REFEREE)
    one.add(steps.rewind(one.game, version + 1, REFEREE))
    one.add(steps.rewind(one.game, to - 1, REFEREE))
    while one.move():
        pass
    one.check()


@pytest.mark.parametrize("ruleset", RULESETS)
@pytest.mark.parametrize("number", [1, 2])
def test_a_round_is_dealt_again_and_what_came_since_is_void(ruleset: str, number: int) -> None:
    one = table(ruleset, 3)
    start = one.game.starts[number - 1]
    decks = {frame.after.round.state.stock for frame in one.frames if frame.after.round}
    version = one.game.version
    one.add(steps.redeal(one.game, number, REFEREE))
    data = one.events[-1].data
    assert (data["round"], data["deal"], data["dealer"]) == (number, 1, start.dealer)
    assert one.game.scores == start.scores
    assert one.game.abandoned[-1] == (start.seq, version)
    assert one.game.round is not None
    assert one.game.round.state.stock not in decks
    while one.move():
        pass
    assert one.game.status is Status.FINISHED
    deals = [(e.data["round"], e.data["deal"]) for e in one.events if e.type == "round_started"]
    assert len(set(deals)) == len(deals)
    if number == 1:
        assert deals[-1] == (2, 1)
    one.check()
    with pytest.raises(ValueError, match="dealt again"):
        steps.redeal(one.game, 1, REFEREE)


@pytest.mark.parametrize("ruleset", RULESETS)
def test_a_game_that_is_held_stands_still_and_goes_on(ruleset: str) -> None:
    one = table(ruleset, 4, also={"turn_seconds": 60})
    opened = Dispute(id="d", seat=Seat(1), reason="rules", seqs=(one.game.version,))
    one.add(steps.open_dispute(one.game, opened, Actor(kind="player", id="player1")))
    one.add(steps.hold(one.game, REFEREE, "d"))
    assert (one.game.status, one.game.to_act) == (Status.HELD, None)
    assert not one.move()
    one.add(steps.rewind(one.game, one.game.starts[-1].seq + 2, REFEREE))
    one.add(steps.hand_over(one.game, Seat(2), REFEREE))
    one.rule("rewind", "replace_seat")
    one.add(steps.let_go(one.game, REFEREE))
    one.add(steps.extend_clock(one.game, 30, REFEREE, steps.RULED))
    assert one.game.extended == 30
    occupant = one.game.occupant(Seat(2))
    assert occupant is not None
    assert occupant.level == "steady"
    while one.move():
        pass
    one.check()


@pytest.mark.parametrize("ruleset", RULESETS)
def test_scores_are_adjusted_while_a_game_runs_and_after_its_end(ruleset: str) -> None:
    one = table(ruleset, 5)
    wanted = tuple(score + 10 * seat for seat, score in enumerate(one.game.scores))
    one.rule("adjust_scores", scores=wanted)
    assert one.game.scores == wanted
    one.add(steps.redeal(one.game, len(one.game.starts), REFEREE))
    assert one.game.scores == wanted
    while one.move():
        pass
    assert one.game.is_revealed
    before = one.game.result
    one.rule("adjust_scores", scores=[500, 1, 2])
    assert one.game.result is not None
    assert before is not None
    assert one.game.result.scores == (500, 1, 2)
    assert one.game.result.standings != before.standings or before.standings[-1] == (1,)
    assert one.events[-1].data["winners"] == list(one.game.result.winners)
    one.check()


@pytest.mark.parametrize("is_over", [False, True])
def test_a_game_is_voided_before_and_after_its_end(*, is_over: bool) -> None:
    one = table("jokers-go-boom", 6)
    if is_over:
        while one.move():
            pass
        one.rule("void")
    else:
        one.rule("void")
        one.add(steps.void(one.game, REFEREE))
        one.frames += steps.consequences(one.game, AT)
    assert one.game.status is Status.VOIDED
    assert one.game.result is not None
    assert one.game.result.winners == ()
    assert one.game.is_revealed
    one.add(steps.disclose(one.game, {"read": "a", "at": 9, "seats": [1]}))
    one.check()


def test_a_game_is_awarded() -> None:
    one = table("crazy-rummy", 7)
    one.rule("award")
    one.add(steps.award(one.game, [[2], [1, 3]], REFEREE))
    one.frames += steps.consequences(one.game, AT)
    assert one.game.result is not None
    assert (one.game.result.winners, one.game.result.reason) == ((2,), "awarded")
    one.check()
    for places in ([[1], [2]], [[1], [2, 2], [3]], [[1, 2, 3], []], [[1], [2], [3], [4]]):
        with pytest.raises(ValueError, match="one place"):
            steps.award(table("crazy-rummy", 7).game, places, REFEREE)


Forge = Callable[[Table], steps.Step]
PLAYER = Actor(kind="player", id="player1")
FORGED: Sequence[tuple[str, Forge]] = (
    ("a player takes it back", lambda t: steps.rewind(t.game, t.game.version - 1, PLAYER)),
    ("a player deals again", lambda t: steps.redeal(t.game, 1, PLAYER)),
    ("a player rules", lambda t: steps.rule(t.game, RULING, PLAYER)),
    ("a player ends it", lambda t: steps.award(t.game, [[1], [2, 3]], PLAYER)),
    ("a player takes a seat away", lambda t: steps.hand_over(t.game, Seat(2), PLAYER)),
    ("going on without a hold", lambda t: steps.let_go(t.game, REFEREE)),
    ("a disclosure in mid-game", lambda t: steps.disclose(t.game, {"read": "x"})),
)
RULING = Ruling(id="r", outcome="upheld", remedies=("none",))


@pytest.mark.parametrize(("name", "forge"), FORGED, ids=[name for name, _ in FORGED])
def test_what_only_a_referee_may_do_is_refused_to_others(name: str, forge: Forge) -> None:
    one = table("jokers-go-boom", 8)
    before = one.game
    forged = steps.write(forge(one), before, AT)
    with pytest.raises(ReplayDiverged):
        advance(before, forged.event, SECRET)
    assert name


def test_nothing_is_dealt_or_moved_after_the_reveal() -> None:
    one = table("jokers-go-boom", 9, length=10_000)
    assert one.game.is_revealed
    round_before = Table(one.frames[:-3], 1)
    for late in (
        steps.redeal(round_before.game, 1, REFEREE),
        steps.hold(one.game, REFEREE, None),
        steps.void(one.game, REFEREE),
        steps.hand_over(one.game, Seat(1), REFEREE),
    ):
        event = steps.write(late, one.game, AT).event
        with pytest.raises(ReplayDiverged):
            advance(one.game, event, SECRET)
    opened = Dispute(id="d", seat=Seat(1), reason="deal", seqs=(7,))
    one.add(steps.open_dispute(one.game, opened, PLAYER))
    one.add(steps.withdraw_dispute(one.game, "d", PLAYER))
    one.check()
    assert (CREATOR.kind, one.game.id) == ("player", GAME)


def chained_again(events: Sequence[Event], seq: int, **data: Any) -> list[Event]:
    """The log with one event's data changed, and chained anew from there."""
    chain: list[Event] = []
    for event in events:
        told: Any = {**event.data, **data} if event.seq == seq else event.data
        draft = Draft(event.type, Actor(**event.actor), told)  # type: ignore[arg-type]
        prev = chain[-1].hash if chain else GENESIS
        chain.append(chained(draft, game=event.game, seq=event.seq, at=event.at, prev=prev))
    return chain


def with_all_of_it() -> Table:
    """A game in which every kind of refereeing stands in a round that is left out."""
    one = table("jokers-go-boom", 3, also={"turn_seconds": 60, "hold_on_dispute": True})
    opened = Dispute(id="d", seat=Seat(1), reason="rules", seqs=(one.game.version,))
    one.add(steps.open_dispute(one.game, opened, PLAYER))
    one.add(steps.hold(one.game, REFEREE, "d"))
    one.add(steps.rewind(one.game, one.game.starts[-1].seq + 2, REFEREE))
    one.rule("adjust_scores", scores=[1, 2, 3])
    one.add(steps.let_go(one.game, REFEREE))
    again = Dispute(id="e", seat=Seat(1), reason="rules", seqs=())
    one.add(steps.open_dispute(one.game, again, PLAYER))
    one.add(steps.withdraw_dispute(one.game, "e", PLAYER))
    one.add(steps.extend_clock(one.game, 30, REFEREE, steps.RULED))
    one.add(steps.redeal(one.game, 2, REFEREE))
    one.move()
    one.check()
    return one


BROKEN: Sequence[tuple[str, dict[str, Any]]] = (
    ("dispute_opened", {"dispute": ""}),
    ("dispute_opened", {"dispute": 5}),
    ("dispute_opened", {"seat": 9}),
    ("dispute_opened", {"reason": "boredom"}),
    ("dispute_opened", {"seqs": "12"}),
    ("dispute_opened", {"seqs": [10_000]}),
    ("dispute_opened", {"seqs": [True]}),
    ("dispute_withdrawn", {"dispute": None}),
    ("game_held", {"dispute": 1}),
    ("ruling", {"dispute": "z"}),
    ("dispute_withdrawn", {"dispute": "z"}),
    ("rewound", {"to": "1"}),
    ("rewound", {"round": 7}),
    ("rewound", {"deal": 7}),
    ("ruling", {"outcome": "maybe"}),
    ("ruling", {"remedies": {"none": 1}}),
    ("ruling", {"remedies": ["dance"]}),
    ("ruling", {"ruling": ""}),
    ("ruling", {"scores": {"1": 1}}),
    ("ruling", {"scores": {"1": 1, "2": "2", "3": 3}}),
    ("round_started", {"round": "1"}),
    ("round_started", {"scores": {}}),
    ("game_created", {"hold_on_dispute": False}),
    ("game_created", {"hold_on_dispute": 1}),
)


@pytest.mark.parametrize(("kind", "data"), BROKEN)
def test_what_no_service_would_write_is_found(kind: str, data: dict[str, Any]) -> None:
    """By a whole replay, and where its round is left out."""
    events = with_all_of_it().events
    seq = next(event.seq for event in events if event.type == kind)
    broken = chained_again(events, seq, **data)
    with pytest.raises(ReplayDiverged) as found:
        list(replay(broken, SECRET))
    assert found.value.seq == seq
    if data != {"dispute": "z"} or kind != "ruling":  # which is believed where it is left out
        with pytest.raises(ReplayDiverged):
            resume(cold(broken), SECRET)


@pytest.mark.parametrize("seconds", [0, -5, "30"])
def test_a_clock_is_not_put_back_by_nothing(seconds: Any) -> None:
    events = with_all_of_it().events
    seq = next(event.seq for event in events if event.type == "clock_extended")
    with pytest.raises(ReplayDiverged):
        list(replay(chained_again(events, seq, seconds=seconds), SECRET))


def test_a_seat_has_one_open_dispute_and_a_ruling_a_score_for_each() -> None:
    one = table("jokers-go-boom", 2)
    opened = Dispute(id="d", seat=Seat(1), reason="rules", seqs=())
    one.add(steps.open_dispute(one.game, opened, PLAYER))
    with pytest.raises(ValueError, match="open dispute"):
        steps.open_dispute(one.game, opened, PLAYER)
    with pytest.raises(ValueError, match="every seat"):
        one.rule("adjust_scores", scores=[1, 2])
    assert one.game.disputes == (("d", 1),)
    one.rule("none")
    assert one.game.disputes == ()


@pytest.mark.parametrize(
    "also",
    [
        {"spectators": "friends"},
        {"spectators": "delayed"},
        {"spectators": "delayed", "spectator_delay": 201},
        {"spectators": "none", "spectator_delay": 3},
        {"rematch": Rematch(of="g", dealer=Seat(9), players=(None, None, None))},
        {"rematch": Rematch(of="g", dealer=Seat(1), players=(None,))},
        {"rematch": Rematch(of="g", dealer=Seat(1), players=("stranger", None, None))},
    ],
)
def test_a_game_is_not_opened_with_what_makes_no_sense(also: Any) -> None:
    with pytest.raises(ValueError, match=r"spectators|rematch|kept"):
        play("jokers-go-boom", 1, also=also)
