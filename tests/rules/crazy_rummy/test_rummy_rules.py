"""Each rule, by its number: a test fails when the rule is taken out."""

import random
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from itertools import combinations, permutations, product
from typing import Any

import pytest
from rummy_table import (
    discard,
    do,
    draw,
    hand,
    lay_off,
    meld,
    played,
    position,
    refusal,
    refused_by,
    table,
    take,
)

from service.cards import Card, Rank, Seat, cards_text, pack, parse_card, parse_cards, rank_of
from service.rules.crazy_rummy import RULESET
from service.rules.crazy_rummy.legal import legal_moves
from service.rules.crazy_rummy.melds import SHAPES, kind_of, readings
from service.rules.crazy_rummy.moves import LayDown
from service.rules.crazy_rummy.options import DiscardTaken, Options
from service.rules.crazy_rummy.scoring import card_points
from service.rules.crazy_rummy.state import Phase
from service.rules.ruleset import Round

TESTED: set[str] = set()
FORBIDDEN = {"discard_taken": "forbidden"}


def rule(number: str) -> Callable[[Any], Any]:
    """Mark a test as one of the rule's."""
    TESTED.add(number)
    return lambda test: test


def deal(seats: int, number: int = 1, dealer: int = 1, **options: Any) -> Any:
    chosen = Options(**options)
    return RULESET.deal(chosen, Round(number, Seat(dealer), seats), RULESET.pack(chosen))


@rule("C1")
def test_three_to_six_play_with_one_pack() -> None:
    assert list(RULESET.seats) == [3, 4, 5, 6]
    assert RULESET.pack(Options()) == pack()


@rule("C1")
@pytest.mark.parametrize(
    "move",
    [
        discard("2c"),
        meld("7c 7d 7s"),
        meld("7c 7c 7d"),
        lay_off(1, "8h"),
        take(1, "3c", "6h"),
    ],
)
def test_only_held_cards_are_used_and_each_once(move: dict[str, Any]) -> None:
    state = position("7c 7d 7h 9s", "9c", "9d", melds=("5h 3c=6h 7h",), melded=(1,))
    assert refused_by(state, move) == "C1"


@rule("C2")
def test_the_lowest_card_shown_deals_ace_low() -> None:
    assert RULESET.first_dealer(parse_cards(["2c", "As", "Kd"]), 3).dealer == 2
    cut = RULESET.first_dealer(parse_cards(["Ac", "9s", "Ah", "5d", "4d"]), 3)
    assert ([seat for seat, _ in cut.shown], cut.dealer) == ([1, 2, 3, 1, 3], 3)


@rule("C3")
@pytest.mark.parametrize("seats", [3, 6])
def test_seven_each_from_the_dealers_left_and_an_eighth_to_who_begins(seats: int) -> None:
    state = deal(seats)
    assert state.hands[1] == (*pack()[0 : 7 * seats : seats], pack()[7 * seats])
    assert [len(cards) for cards in state.hands] == [7, 8, *[7] * (seats - 2)]
    assert state.stock == pack()[7 * seats + 1 :]
    assert state.discard == ()


@rule("C4")
def test_another_rank_is_wild_in_each_of_thirteen_rounds() -> None:
    wilds = [deal(3, number).wild.text for number in range(1, 14)]
    assert "".join(wilds) == "A23456789TJQK"
    assert RULESET.facts(deal(3, 10)) == {"wild": "T"}
    assert RULESET.rounds(Options(), 3) == 13
    assert RULESET.rounds(Options(rounds=4), 6) == 4
    assert RULESET.complete(Options(), 3) == Options()


@rule("C5")
def test_an_ace_is_low_and_never_follows_a_king() -> None:
    state = position("Ah 2h 3h Kh Qh 9s", "9c", "9d", wild=5)
    assert refused_by(state, meld("Ah 2h 3h")) is None
    assert refused_by(state, meld("Qh Kh Ah")) == "C7"
    assert refused_by(state, meld("Kh Ah 2h")) == "C7"


@rule("C6")
def test_a_set_is_three_or_four_of_one_rank() -> None:
    state = position("7c 7d 7h 7s 8c 9s", "9c", "9d")
    assert refused_by(state, meld("7c 7d 7h")) is None
    assert refused_by(state, meld("7s 7d 7h 7c")) is None
    assert refused_by(state, meld("7c 7d 8c")) == "C7"


@rule("C6")
def test_a_set_has_four_cards_at_most() -> None:
    state = position("7c 7d 7h 7s 3c 9s", "9c", "9d")
    assert refused_by(state, meld("7c 7d 7h 7s 3c")) == "C6"


@rule("C7")
def test_a_run_is_of_one_suit_in_sequence() -> None:
    state = position("5h 6h 7h 8h Th 8c 9s", "9c", "9d")
    assert refused_by(state, meld("7h 5h 8h 6h")) is None
    assert refused_by(state, meld("7h 8h Th")) == "C7"
    assert refused_by(state, meld("6h 7h 8c")) == "C7"


@rule("C7")
def test_a_run_may_have_thirteen_cards() -> None:
    whole = "Ah 2h 3h 4h 5h 6h 7h 8h 9h Th Jh Qh Kh"
    state = position(f"{whole} 9s", "9c", "9d", wild=13)
    assert table(played(state, meld(whole))) == [whole]


@rule("C8")
def test_who_begins_does_not_draw_and_everybody_else_does() -> None:
    state = deal(3)
    assert (state.phase, RULESET.to_act(state)) == (Phase.PLAY, 2)
    assert refused_by(state, draw()) == "C8"
    after = played(state, discard(hand(state, 2)[0]))
    assert refused_by(after, discard(hand(after, 3)[0])) == "C8"
    assert refused_by(after, meld("2c 2d 2h")) == "C8"
    assert hand(played(after, draw("discard")), 3) != hand(after, 3)
    assert refused_by(played(after, draw()), draw()) == "C8"


@rule("C8")
def test_from_an_empty_discard_pile_nobody_draws() -> None:
    state = position("7c 9s", "9c", "9d", discard="", phase="draw")
    assert refused_by(state, draw("discard")) == "C8"
    assert [move["from"] for move in map(RULESET.write_move, legal_moves(state))] == ["stock"]


@rule("C9")
def test_any_number_of_melds_may_be_put_down_in_the_first_turn_too() -> None:
    state = position("7c 7d 7h 5h 6h 8h 4h 9s", "9c", "9d", discard="", wild=3)
    after = played(state, meld("7c 7d 7h"), meld("4h 5h 6h"))
    assert table(after) == ["7c 7d 7h", "4h 5h 6h"]
    assert RULESET.view(after, None).table["melded"] == [1]


@rule("C10")
def test_a_meld_may_be_of_wild_cards_alone_and_each_stands_for_another_card() -> None:
    state = position("3c 3d 3h 9s", "9c", "9d")
    assert table(played(state, meld("3c 3d 3h", "7c 8c 9c"))) == ["3c=7c 3d=8c 3h=9c"]
    assert refused_by(state, meld("3c 3d 3h", "7c 7c 7d")) == "C10"


@rule("C10")
def test_a_card_that_is_not_wild_stands_for_itself() -> None:
    state = position("4c 7d 7h 3h 9s", "9c", "9d", melds=("5h 6h 7s=4h",), melded=(1,), wild=7)
    assert refused_by(state, meld("4c 7d 7h", "5c 6c 7c")) == "C10"
    assert refused_by(state, lay_off(1, "4c", "3h")) == "C10"


@rule("C11")
def test_cards_that_make_a_meld_as_printed_are_read_so() -> None:
    state = position("3c 3d 3h 4h 5h 9s", "9c", "9d")
    assert table(played(state, meld("5h 3h 4h"))) == ["3h 4h 5h"]
    assert table(played(state, meld("3d 3h 3c"))) == ["3c 3d 3h"]
    assert table(played(state, meld("3h 4h 5h", "6h 4h 5h"))) == ["4h 5h 3h=6h"]


@rule("C11")
def test_one_reading_is_understood_and_several_are_named() -> None:
    state = position("Ks Kd Kc 3c 5h 6h 3d 9s", "9c", "9d")
    assert table(played(state, meld("Ks Kd Kc 3c"))) == ["Kc Kd 3c=Kh Ks"]
    violation = refusal(state, meld("5h 3c 6h"))
    assert violation is not None
    assert violation.rule == "C11"
    assert violation.members == {"readings": [["5h", "4h", "6h"], ["5h", "7h", "6h"]]}
    for reading in (["5h", "4h", "6h"], ["5h", "7h", "6h"]):
        assert refused_by(state, {**meld("5h 3c 6h"), "as": reading}) is None


@rule("C11")
def test_a_wild_card_that_is_represented_stands_for_itself_and_the_rest_fill_upwards() -> None:
    state = position("2h 3h 3c 3d 9s", "9c", "9d")
    violation = refusal(state, meld("3d 2h 3h 3c"))
    assert violation is not None
    assert violation.members["readings"] == [
        ["2c", "2h", "2d", "2s"],
        ["Ah", "2h", "3h", "4h"],
        ["4h", "2h", "3h", "5h"],
    ]


@rule("C11")
def test_what_each_card_stands_for_is_said_for_all_or_for_none() -> None:
    state = position("5h 6h 3c 9s", "9c", "9d")
    assert refused_by(state, meld("5h 6h 3c", "5h 6h 7h 8h")) == "C11"


@rule("C11")
def test_a_wild_card_laid_off_is_understood_where_one_place_is_left() -> None:
    state = position(
        "3c 3d 3s 9s 8d", "9c", "9d", melds=("Kc Kd Kh", "Jh Qh Kh", "4s 5s 6s"), melded=(1,)
    )
    assert table(played(state, lay_off(1, "3c")))[0] == "Kc Kd Kh 3c=Ks"
    assert table(played(state, lay_off(2, "3c")))[1] == "3c=Th Jh Qh Kh"
    assert table(played(state, lay_off(3, "3s")))[2] == "3s 4s 5s 6s"
    violation = refusal(state, lay_off(3, "3c"))
    assert violation is not None
    assert (violation.rule, violation.members) == ("C11", {"readings": ["3s", "7s"]})


@rule("C11")
def test_what_is_said_must_make_a_meld_too() -> None:
    state = position("5h 6h 7c 7d 3c 9s", "9c", "9d")
    assert refused_by(state, meld("5h 6h 3c", "5h 6h 8h")) == "C7"
    assert refused_by(state, meld("7c 7d 3c", "7c 7d 8h")) == "C7"


@rule("C12")
def test_nothing_is_laid_off_before_a_meld_of_ones_own() -> None:
    state = position("8h 9s 2c", "9c", "9d", melds=("5h 6h 7h",), melded=(2,))
    assert refused_by(state, lay_off(1, "8h")) == "C12"
    own = position("8h 9s 2c", "9c", "9d", melds=("5h 6h 7h",), melded=(1, 2))
    assert table(played(own, lay_off(1, "8h"))) == ["5h 6h 7h 8h"]
    assert refused_by(own, lay_off(2, "8h")) == "C12"


@rule("C12")
def test_a_card_is_laid_off_where_it_fits_alone() -> None:
    state = position(
        "9h Kh 7d 9s 2c",
        "9c",
        "9d",
        melds=("5h 6h 7h", "Ks Kd Kc", "Jc Qc Kc"),
        melded=(1,),
        wild=4,
    )
    assert refused_by(state, lay_off(1, "9h")) == "C7"
    assert refused_by(state, lay_off(2, "7d")) == "C6"
    assert refused_by(state, lay_off(3, "7d")) == "C7"
    full = position("4d 9s 2c", "9c", "9d", melds=("Kc Kd Kh Ks",), melded=(1,), wild=4)
    assert refused_by(full, lay_off(1, "4d")) == "C6"
    assert refused_by(full, lay_off(1, "4d", "Kh")) == "C10"


@rule("C13")
def test_a_wild_card_is_taken_for_the_very_card_that_it_stands_for() -> None:
    state = position("6h 8h 9s", "9c", "9d", melds=("5h 3c=6h 7h",), melded=(1,))
    after, outcome = do(state, take(1, "3c", "6h"))
    assert (table(after), hand(after), outcome) == (
        ["5h 6h 7h"],
        ["3c", "8h", "9s"],
        {"wild": "3c"},
    )
    assert refused_by(state, take(1, "3c", "8h")) == "C13"
    assert refused_by(state, take(1, "3d", "6h")) == "C13"
    other = position("6h 8h 9s", "9c", "9d", melds=("5h 3c=6h 7h",), melded=(2,))
    assert refused_by(other, take(1, "3c", "6h")) == "C12"


@rule("C13")
def test_a_wild_card_that_stands_for_itself_can_not_be_taken() -> None:
    state = position("5d 8h 9s", "9c", "9d", melds=("4h 5h 6h",), melded=(1,), wild=5)
    assert refused_by(state, take(1, "5h", "5d")) == "C13"


@rule("C14")
def test_a_card_that_may_be_discarded_must_be_left() -> None:
    assert refused_by(position("7c 7d 7h", "9c", "9d"), meld("7c 7d 7h")) == "C14"
    state = position("8h", "9c", "9d", melds=("5h 6h 7h",), melded=(1,))
    assert refused_by(state, lay_off(1, "8h")) == "C14"


@rule("C14")
def test_an_exchange_that_would_leave_only_the_taken_card_is_refused() -> None:
    """The wild card was taken from the discard pile, melded, and would come back (C15)."""
    state = position(
        "6h",
        "9c",
        "9d",
        melds=("5h 3c=6h 7h",),
        melded=(1,),
        options=FORBIDDEN,
        taken=parse_card("3c"),
    )
    assert refused_by(state, take(1, "3c", "6h")) == "C14"
    allowed = replace(state, options=Options(discard_taken=DiscardTaken.ALLOWED))
    assert refused_by(allowed, take(1, "3c", "6h")) is None


@rule("C15")
def test_a_turn_ends_with_one_discard_of_any_card() -> None:
    state = position("3c 8h 9s", "9c", "9d")
    after = played(state, discard("3c"))
    assert (cards_text(after.discard), RULESET.to_act(after)) == (["Jd", "3c"], 2)


@rule("C15")
def test_the_taken_card_may_be_forbidden_to_be_discarded() -> None:
    state = position("4h 8c 9s", "9c", "9d", phase="draw", options=FORBIDDEN)
    after = played(state, draw("discard"))
    assert refused_by(after, discard("Jd")) == "C15"
    assert refused_by(after, discard("4h")) is None
    allowed = position("4h 8c 9s", "9c", "9d", phase="draw")
    assert refused_by(played(allowed, draw("discard")), discard("Jd")) is None


@rule("C16")
def test_one_goes_out_by_discarding_the_last_card() -> None:
    after = played(position("9s", "9c", "9d", melded=(1,)), discard("9s"))
    result = RULESET.round_result(after)
    assert result is not None
    assert (result.reason, result.by, RULESET.to_act(after)) == ("went_out", 1, None)
    assert refused_by(after, draw()) == "C16"
    assert RULESET.legal_moves(after) == ()


@rule("C17")
def test_with_a_single_card_one_draws_from_the_stock_alone() -> None:
    state = position("Kc", "9c", "9d", phase="draw")
    assert refused_by(state, draw("discard")) == "C17"
    after = played(state, draw())
    assert refused_by(after, discard("2s")) == "C17"
    assert hand(played(after, discard("Kc"))) == ["2s"]


@rule("C17")
def test_a_wild_card_taken_for_the_single_card_takes_its_place() -> None:
    state = position("Kh", "9c", "9d", melds=("Kd Ks 3c=Kh", "5h 6h 7h"), melded=(1,), phase="draw")
    after = played(state, draw(), take(1, "3c", "Kh"))
    assert refused_by(after, discard("2s")) == "C17"
    assert refused_by(after, discard("3c")) is None
    out = played(after, lay_off(2, "3c", "8h"), discard("2s"))
    assert RULESET.round_result(out) is not None


@rule("C17")
def test_a_wild_card_taken_for_the_drawn_card_must_be_kept() -> None:
    state = position(
        "Qc", "9c", "9d", stock="Kh 4s", melds=("Kd Ks 3c=Kh",), melded=(1,), phase="draw"
    )
    after = played(state, draw(), take(1, "3c", "Kh"))
    assert refused_by(after, discard("3c")) == "C17"
    assert hand(played(after, discard("Qc"))) == ["3c"]


@rule("C18")
def test_the_turn_of_the_last_stock_card_is_finished_and_then_all_are_counted() -> None:
    state = position("7c Kd", "9c", "9d", stock="2s", phase="draw")
    after = played(state, draw())
    assert RULESET.round_result(after) is None
    result = RULESET.round_result(played(after, discard("Kd")))
    assert result is not None
    assert (result.reason, result.by, result.points) == ("stock_exhausted", None, (9, 9, 9))


@rule("C18")
def test_who_goes_out_in_that_turn_has_nothing() -> None:
    state = position("7c 7d 7h", "9c", "9d", stock="2s", phase="draw")
    result = RULESET.round_result(played(state, draw(), meld("7c 7d 7h"), discard("2s")))
    assert result is not None
    assert (result.reason, result.by, result.points) == ("went_out", 1, (0, 9, 9))


@rule("C19")
def test_the_deal_passes_to_the_left_and_who_sits_there_begins() -> None:
    assert [RULESET.first(deal(3, dealer=dealer)) for dealer in (1, 2, 3)] == [2, 3, 1]


@rule("C20")
@pytest.mark.parametrize(
    ("card", "wild", "points"),
    [
        ("As", 1, 25),
        ("As", 2, 1),
        ("2d", 2, 25),
        ("2d", 1, 2),
        ("Td", 1, 10),
        ("9c", 1, 9),
        ("Jc", 1, 10),
        ("Qd", 1, 10),
        ("Kh", 1, 10),
        ("Kh", 13, 25),
    ],
)
def test_cards_left_count_against_you(card: str, wild: int, points: int) -> None:
    assert card_points(parse_card(card), deal(3, wild).wild) == points


@rule("C21")
def test_after_three_idle_circuits_the_next_draw_is_from_the_stock() -> None:
    state = position("7c Kd 2d", "9c 4d", "9d 5s", stock="2s 4s 6s", phase="draw")
    for turn in range(9):
        assert refused_by(state, draw("discard")) is None, turn
        taken = cards_text(state.discard[-1:])[0]
        state = played(state, draw("discard"), discard(taken))
    assert refused_by(state, draw("discard")) == "C21"
    assert [m["from"] for m in map(RULESET.write_move, legal_moves(state))] == ["stock"]
    after = played(state, draw(), discard("7c"))
    assert after.idle == 0
    assert refused_by(after, draw("discard")) is None


@rule("C21")
@pytest.mark.parametrize("work", [meld("7c 7d 7h"), lay_off(1, "8h"), take(1, "3c", "6h")], ids=str)
def test_melding_laying_off_and_exchanging_begin_the_count_anew(work: dict[str, Any]) -> None:
    state = position(
        "7c 7d 7h 8h 6h 9s", "9c", "9d", melds=("5h 3c=6h 3s=7h",), melded=(1,), idle=8
    )
    assert played(state, work, discard("9s")).idle == 0
    assert played(state, discard("9s")).idle == 9


@rule("C22")
def test_fewest_points_win_and_equal_fewest_share() -> None:
    assert RULESET.standings((30, 8, 8)).winners == (2, 3)


def test_the_tested_rules_are_the_rules_that_the_texts_explain() -> None:
    for texts in RULESET.texts.values():
        assert list(texts) == [f"C{number}" for number in range(1, 23)]
        assert set(texts) == TESTED


def test_only_a_stock_draw_and_a_discard_come_last_in_a_batch() -> None:
    state = position("7c 7d 7h 9s", "9c", "9d")
    for move in (draw(), discard("9s")):
        assert RULESET.reveals(state, RULESET.read_move(move))
    for move in (draw("discard"), meld("7c 7d 7h"), lay_off(1, "8h"), take(1, "3c", "6h")):
        assert not RULESET.reveals(state, RULESET.read_move(move))


def test_a_drawn_card_is_told_to_who_drew_it_alone() -> None:
    state = position("7c Kd", "9c", "9d", phase="draw")
    after = played(state, draw())
    assert RULESET.learned(state, after, Seat(1)) == {"drew": ["2s"]}
    assert RULESET.learned(state, after, Seat(2)) is None
    taken = played(state, draw("discard"))
    assert RULESET.learned(state, taken, Seat(1)) is None


def test_the_clock_draws_and_then_discards_the_highest_that_is_not_wild() -> None:
    assert (
        RULESET.write_move(RULESET.absent_move(position("7c", "9c", "9d", phase="draw"))) == draw()
    )
    for cards, wild, expected in (
        ("Kc Kd Qs 2h", 3, "Kd"),
        ("Kc Kd Qs 2h", 13, "Qs"),
        ("3c 3d", 3, "3d"),
        ("Ah 2h", 3, "2h"),
    ):
        state = position(cards, "9c", "9d", wild=wild)
        assert RULESET.write_move(RULESET.absent_move(state)) == discard(expected)
    held = replace(position("Kc 2h", "9c", "9d"), held_before=parse_card("2h"))
    assert RULESET.write_move(RULESET.absent_move(held)) == discard("2h")


def test_moves_are_listed_in_canonical_order() -> None:
    state = position("5c 5d 5h 6h 7h 8h Th 9s", "9c", "9d", melds=("Jh Qh Kh",), melded=(1,))
    listed = [RULESET.write_move(move) for move in legal_moves(state)]
    assert listed[:5] == [
        meld("5c 5d 5h", "5c 5d 5h"),
        meld("5h 6h 7h", "5h 6h 7h"),
        meld("5h 6h 7h 8h", "5h 6h 7h 8h"),
        meld("6h 7h 8h", "6h 7h 8h"),
        lay_off(1, "Th", "Th"),
    ]
    assert [move["card"] for move in listed[5:]] == hand(state)


def every_reading(cards: tuple[Card, ...], wild: Rank) -> set[tuple[tuple[Card, Card], ...]]:
    """By brute force: each way in which the cards are a meld, as pairs of card and what it is."""
    found = set()
    choices = [pack() if rank_of(card) is wild else (card,) for card in cards]
    for stands_for in product(*choices):
        if kind_of(stands_for) is not None:
            found.add(tuple(sorted(zip(cards, stands_for, strict=True))))
    return found


@pytest.mark.parametrize("seed", range(12))
def test_the_listed_melds_are_those_that_brute_force_finds(seed: int) -> None:
    """All subsets of a small hand in all readings; wild cards that serve alike count once."""
    chance = random.Random(seed)
    wild = Rank(chance.randrange(13))
    wilds = [card for card in pack() if rank_of(card) is wild]
    suit = chance.randrange(4)
    near = [card for card in pack() if card // 13 == suit and rank_of(card) is not wild]
    cards = tuple(
        sorted({*chance.sample(wilds, 2), *chance.sample(near, 4), *chance.sample(pack(), 1)})
    )
    state = replace(position("2c", "9c", "9d"), wild=wild, hands=(cards, (), ()))
    forced = {
        (frozenset(as_ for _, as_ in reading), frozenset(c for c, as_ in reading if c == as_))
        for size in range(3, len(cards))
        for subset in combinations(cards, size)
        if sum(rank_of(card) is not wild for card in subset) >= 1
        for reading in every_reading(subset, wild)
        if serves_alike_once(reading)
    }
    listed = [move for move in legal_moves(state) if isinstance(move, LayDown)]
    found = [
        (
            frozenset(move.stands_for or ()),
            frozenset(c for c, a in zip(move.cards, move.stands_for or (), strict=True) if c == a),
        )
        for move in listed
    ]
    assert len(set(found)) == len(found)
    assert set(found) == forced


def serves_alike_once(reading: tuple[tuple[Card, Card], ...]) -> bool:
    """Whether no wild card stands elsewhere while it is itself among the cards represented."""
    represented = {as_ for _, as_ in reading}
    return all(card == as_ or card not in represented for card, as_ in reading)


def test_every_reading_is_found_whatever_order_the_cards_are_sent_in() -> None:
    wild = Rank.THREE
    for texts in ("5h 3c 6h", "3c 3d 7h", "3c 3d 3s 7h", "Kh 3c Qh", "3c Kd Ks"):
        cards = parse_cards(texts.split())
        forced = {frozenset(a for _, a in reading) for reading in every_reading(cards, wild)}
        for order in permutations(cards):
            assert {frozenset(reading) for reading in readings(order, wild)} == forced
    assert readings(parse_cards(["5h", "6h"]), wild) == []


def test_there_are_as_many_melds_as_there_should_be() -> None:
    lengths = Counter(len(shape.cards) for shape in SHAPES)
    assert [lengths[length] for length in (3, 4, 5, 13)] == [52 + 44, 13 + 40, 36, 4]
    assert all(kind_of(shape.cards) is not None for shape in SHAPES)
    assert len({shape.bits for shape in SHAPES}) == len(SHAPES)


def test_the_steady_bot_melds_lays_off_exchanges_and_sheds() -> None:
    def steady(state: Any) -> Any:
        view = RULESET.view(state, RULESET.to_act(state))
        return RULESET.write_move(RULESET.steady(state.options, view))

    draws = position("Jc Js 2h", "9c 8c 7c", "9d 8d 7d", phase="draw")
    assert steady(draws) == draw("discard")
    assert steady(position("2c 5s 9h", "9c 8c 7c", "9d 8d 7d", phase="draw")) == draw()
    assert steady(position("2c 5s", "9c", "9d", discard="", phase="draw")) == draw()
    assert steady(position("7c 7d 7h 9s", "9c 8c 7s", "9d 8d 7s"))["type"] == "meld"
    table_of = {"melds": ("5h 3c=6h 7h",), "melded": (1,)}
    assert steady(position("6h 9s Kd", "9c 8c 7c", "9d 8d 7d", **table_of))["type"] == "take_wild"
    assert steady(position("8h 9s Kd", "9c 8c 7c", "9d 8d 7d", **table_of)) == lay_off(
        1, "8h", "8h"
    )
    kept = position("Kd Ks 9s 4d", "9c 8c 7c", "9d 8d 7d")
    assert steady(kept) == discard("9s")
    late = position("Kd Ks 9s 4d", "9c", "9d 8d 7d")
    assert steady(late)["card"] in ("Kd", "Ks")


def test_what_is_no_move_can_not_be_read() -> None:
    for value in (
        {},
        {"type": "draw"},
        {"type": "draw", "from": "hand"},
        {**draw(), "x": 1},
        {"type": "meld", "cards": [1, 2, 3]},
        {"type": "meld", "cards": "7c"},
        {**meld("7c 7d 7h"), "x": 1},
        {**meld("7c 7d 7h", "7c 7d 7h"), "x": 1},
        {"type": "lay_off", "meld": "1", "card": "7c"},
        {**lay_off(1, "7c", "8c"), "x": 1},
        {**take(1, "3c", "6h"), "x": 1},
        {"type": "discard", "card": "77"},
        {**discard("7c"), "x": 1},
    ):
        with pytest.raises(ValueError):
            RULESET.read_move(value)


def test_what_are_no_options_can_not_be_read() -> None:
    good = RULESET.write_options(Options(discard_taken=DiscardTaken.FORBIDDEN))
    assert RULESET.read_options(good) == Options(discard_taken=DiscardTaken.FORBIDDEN)
    for name in good:
        with pytest.raises(ValueError):
            RULESET.read_options({**good, name: "other"})


def test_moves_left_to_be_understood_are_read_and_written() -> None:
    for move in (meld("7c 7d 7h"), lay_off(1, "8h"), take(1, "3c", "6h")):
        assert RULESET.write_move(RULESET.read_move(move)) == move


def test_a_state_is_encoded_as_documented() -> None:
    state = position("Ts Kc Ac", "9d", "9h", melds=("5h 3c=6h 7h",), melded=(2, 1))
    assert RULESET.encode(state) == {
        "discard": ["Jd"],
        "discard_taken": "allowed",
        "hands": [["Ac", "Kc", "Ts"], ["9d"], ["9h"]],
        "held_before": None,
        "idle": 0,
        "melded": [1, 2],
        "melds": [
            {"cards": [["5h", "5h"], ["3c", "6h"], ["7h", "7h"]], "id": 1, "kind": "run", "seat": 1}
        ],
        "phase": "play",
        "stock": ["2s", "4s", "6s"],
        "taken": None,
        "to_act": 1,
        "wild": "3",
        "worked": False,
    }
    single = played(position("Kc", "9c", "9d", phase="draw"), draw())
    assert RULESET.encode(single)["held_before"] == "Kc"
    taken = played(position("Kc Qc", "9c", "9d", phase="draw"), draw("discard"))
    assert RULESET.encode(taken)["taken"] == "Jd"
    over = played(position("9s", "9c", "9d", melded=(1,)), discard("9s"))
    assert (RULESET.encode(over)["phase"], RULESET.encode(over)["to_act"]) == ("over", None)
