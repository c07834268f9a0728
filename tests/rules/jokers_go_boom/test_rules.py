"""Each rule, by its number: a test fails when the rule is taken out."""

from collections.abc import Callable
from typing import Any

import pytest
from table import DRAW, PASS, hand, listed, play, played, position, refused_by

from service.cards import Seat, cards_text, pack, parse_cards
from service.rules.jokers_go_boom import RULESET
from service.rules.jokers_go_boom.options import Options
from service.rules.jokers_go_boom.scoring import card_points
from service.rules.ruleset import Round

TESTED: set[str] = set()


def rule(number: str) -> Callable[[Any], Any]:
    """Mark a test as one of the rule's."""
    TESTED.add(number)
    return lambda test: test


def deal(options: Options, seats: int, dealer: int = 1) -> Any:
    deck = RULESET.pack(options)
    return RULESET.deal(options, Round(1, Seat(dealer), seats), deck)


@rule("G1")
def test_three_or_four_play() -> None:
    assert list(RULESET.seats) == [3, 4]


@rule("G2")
@pytest.mark.parametrize("jokers", [0, 2, 8])
def test_the_pack_has_as_many_jokers_as_set(jokers: int) -> None:
    cards = cards_text(RULESET.pack(Options(jokers=jokers)))
    assert len(cards) == 52 + jokers
    assert len([card for card in cards if card.startswith("X")]) == jokers


@rule("G2")
def test_two_jokers_unless_set() -> None:
    assert Options().jokers == 2


@rule("G3")
def test_jokers_boom_and_aces_do_not_while_there_are_jokers() -> None:
    state = position("X1 As 9c", "2c", "3c", discard="4h", stock="5d 6d")
    assert refused_by(state, play("As")) == "G7"
    assert hand(played(state, play("X1")), 2) == ["2c", "5d"]


@rule("G3")
def test_aces_boom_where_there_are_no_jokers() -> None:
    state = position("As 9c", "2c", "3c", discard="4h", stock="5d 6d", jokers=0)
    after = played(state, play("As"))
    assert (hand(after, 2), hand(after, 3)) == (["2c", "5d"], ["3c", "6d"])


@rule("G4")
def test_the_lowest_card_shown_deals() -> None:
    cut = RULESET.first_dealer(parse_cards(["9c", "2s", "Ah", "Kd"]), 3)
    assert (cut.dealer, len(cut.shown)) == (2, 3)


@rule("G4")
def test_an_ace_is_high_in_the_cut() -> None:
    assert RULESET.first_dealer(parse_cards(["Ac", "Ks", "Ah"]), 3).dealer == 2


@rule("G4")
def test_seats_that_tie_for_the_lowest_are_shown_another() -> None:
    shown = parse_cards(["3c", "9s", "3h", "Kd", "Kc", "5d", "4d"])
    cut = RULESET.first_dealer(shown, 3)
    assert [seat for seat, _ in cut.shown] == [1, 2, 3, 1, 3, 1, 3]
    assert cut.dealer == 3


@rule("G5")
@pytest.mark.parametrize("seats", [3, 4])
def test_seven_cards_each_one_at_a_time_from_the_dealers_left(seats: int) -> None:
    state = deal(Options(), seats, dealer=1)
    deck = pack(2)
    assert state.hands[1] == deck[0 : 7 * seats : seats]
    assert state.hands[0] == deck[seats - 1 : 7 * seats : seats]
    assert state.discard == (deck[7 * seats],)
    assert state.stock == deck[7 * seats + 1 :]


@rule("G6")
def test_a_joker_turned_up_draws_nobody_a_card_and_is_followed_by_any_card() -> None:
    state = position("2c 9s", "3c", "4c", discard="X1", stock="5d")
    assert listed(state) == ["2c", "9s"]
    assert [len(cards) for cards in state.hands] == [2, 1, 1]


@rule("G6")
def test_a_joker_turned_up_with_nothing_below_is_followed_by_any_card() -> None:
    state = position("2c 9s", "3c", "4c", discard="X1", stock="5d", after_boom="card_below")
    assert listed(state) == ["2c", "9s"]


@rule("G6")
def test_an_ace_turned_up_is_an_ordinary_ace() -> None:
    state = position("2c 9s", "3c", "4c", discard="As", stock="5d", jokers=0)
    assert listed(state) == ["9s"]


@rule("G7")
def test_the_player_at_the_dealers_left_begins() -> None:
    assert RULESET.first(deal(Options(), 4, dealer=4)) == 1


@rule("G7")
def test_only_held_cards_are_played() -> None:
    assert refused_by(position("4c 9s", "4d", "5c", discard="4h", stock="2c"), play("4d")) == "G7"


@rule("G7")
def test_a_card_follows_suit_or_rank() -> None:
    state = position("4c 9h 9s", "4d", "5c", discard="4h", stock="2c")
    assert listed(state) == ["4c", "9h"]
    assert refused_by(state, play("9s")) == "G7"


@rule("G7")
def test_who_can_follow_must_play() -> None:
    assert refused_by(position("4c 9s", "4d", "5c", discard="4h", stock="2c"), DRAW) == "G7"


@rule("G8")
def test_who_can_not_follow_draws_one_and_the_turn_ends() -> None:
    state = position("9s", "4d", "5c", discard="4h", stock="4c 2c")
    after = played(state, DRAW)
    assert hand(after, 1) == ["4c", "9s"]
    assert RULESET.to_act(after) == 2


@rule("G8")
def test_a_boom_card_that_does_not_match_is_no_duty() -> None:
    assert listed(position("9s X1", "4d", "5c", discard="4h", stock="2c")) == ["X1", "draw"]


@rule("G8")
def test_an_ace_that_boomed_is_matched_by_rank_so_it_is_a_duty() -> None:
    state = position("9c Ah", "4d", "5c", discard="4h", stock="2c", jokers=0)
    assert refused_by(state, DRAW) == "G7"


@rule("G9")
def test_a_boom_draws_every_other_player_one_from_the_left() -> None:
    state = position("9s", "X1 2c", "9d", "9h", discard="4h", stock="5c 6c 7c", to_act=2)
    after, outcome = RULESET.apply(state, RULESET.read_move(play("X1")))
    assert outcome == {"boom": True, "drew": [3, 4, 1]}
    assert [hand(after, seat)[0] for seat in (3, 4, 1)] == ["5c", "6c", "7c"]
    assert RULESET.to_act(after) == 3


@rule("G9")
def test_a_boom_draws_as_long_as_the_stock_lasts() -> None:
    state = position("X1 2c", "9d", "9h", discard="4h", stock="5c")
    _, outcome = RULESET.apply(state, RULESET.read_move(play("X1")))
    assert outcome == {"boom": True, "drew": [2]}


@rule("G10")
def test_on_a_joker_every_card_matches_a_joker_too_so_one_must_be_played() -> None:
    state = position("X2", "9d", "9h", discard="4h X1", stock="5c")
    assert listed(state) == ["X2"]
    assert refused_by(state, DRAW) == "G7"


@rule("G10")
def test_the_card_below_the_jokers_counts_on_if_set_so() -> None:
    state = position("2d 4d", "9d", "9h", discard="4h X1 X2", stock="5c", after_boom="card_below")
    assert listed(state) == ["4d"]


@rule("G10")
def test_a_joker_is_no_match_for_a_joker_where_the_card_below_counts() -> None:
    state = position("X2 9s", "9d", "9h", discard="4h X1", stock="5c", after_boom="card_below")
    assert listed(state) == ["X2", "draw"]


@rule("G10")
def test_an_ace_that_boomed_is_followed_by_its_own_suit_or_rank() -> None:
    state = position("4s Ac 4h", "9d", "9h", discard="4h As", stock="5c", jokers=0)
    assert listed(state) == ["Ac", "4s"]


@rule("G11")
def test_nobody_passes_while_the_stock_has_cards() -> None:
    assert refused_by(position("9s", "4d", "5c", discard="4h", stock="2c"), PASS) == "G11"


@rule("G11")
def test_with_an_empty_stock_who_can_play_nothing_passes() -> None:
    state = position("9s", "4d", "5c", discard="4h")
    assert listed(state) == ["pass"]
    assert refused_by(state, DRAW) == "G11"
    assert RULESET.to_act(played(state, PASS)) == 2


@rule("G11")
def test_with_an_empty_stock_the_boom_card_must_be_played() -> None:
    state = position("9s X1", "4d", "5c", discard="4h")
    assert listed(state) == ["X1"]
    assert refused_by(state, PASS) == "G11"


@rule("G12")
def test_the_last_card_ends_the_round() -> None:
    after = played(position("4c", "9d", "9h", discard="4h", stock="5c"), play("4c"))
    result = RULESET.round_result(after)
    assert result is not None
    assert (result.reason, result.by, RULESET.to_act(after)) == ("went_out", 1, None)
    assert RULESET.legal_moves(after) == ()
    assert refused_by(after, DRAW) == "G12"


@rule("G12")
def test_if_the_last_card_booms_the_others_draw_before_the_count() -> None:
    after = played(position("X1", "9d", "9h", discard="4h", stock="5c Kd"), play("X1"))
    result = RULESET.round_result(after)
    assert result is not None
    assert result.points == (0, 14, 19)


@rule("G13")
def test_the_round_ends_when_every_player_in_turn_has_passed() -> None:
    state = position("9s", "Ks", "5c", discard="4h")
    assert RULESET.round_result(played(state, PASS, PASS)) is None
    result = RULESET.round_result(played(state, PASS, PASS, PASS))
    assert result is not None
    assert (result.reason, result.by, result.points) == ("blocked", None, (9, 10, 5))


@rule("G13")
def test_a_play_between_passes_begins_the_count_anew() -> None:
    state = position("9s", "4c Ks", "5d", discard="4h")
    after = played(state, PASS, play("4c"), PASS, PASS)
    assert RULESET.round_result(after) is None


@rule("G14")
@pytest.mark.parametrize(
    ("card", "points"),
    [("X1", 20), ("As", 15), ("Kc", 10), ("Qd", 10), ("Jh", 10), ("Ts", 10), ("9c", 9), ("2d", 2)],
)
def test_cards_left_count_against_you(card: str, points: int) -> None:
    assert card_points(parse_cards([card])[0]) == points


@rule("G15")
def test_as_many_rounds_as_players_unless_set() -> None:
    assert (RULESET.rounds(Options(), 3), RULESET.rounds(Options(), 4)) == (3, 4)
    assert RULESET.rounds(Options(rounds=7), 4) == 7
    assert RULESET.complete(Options(), 3).rounds == 3


@rule("G16")
def test_fewest_points_win_and_equal_fewest_share() -> None:
    standings = RULESET.standings((17, 3, 17, 3))
    assert standings.places == ((2, 4), (1, 3))
    assert standings.winners == (2, 4)


@rule("G17")
def test_a_boom_card_without_the_call_is_just_a_card_where_the_call_is_asked_for() -> None:
    state = position("X1 9s", "2c", "3c", discard="4h", stock="5d 6d", boom_call="required")
    silent, outcome = RULESET.apply(state, RULESET.read_move(play("X1")))
    assert (outcome, hand(silent, 2)) == ({}, ["2c"])
    called = played(state, play("X1", call="BOOM"))
    assert hand(called, 2) == ["2c", "5d"]


@rule("G17")
def test_a_boom_card_is_listed_with_the_call_where_it_is_asked_for() -> None:
    state = position("X1 9s", "2c", "3c", discard="4h", stock="5d", boom_call="required")
    assert listed(state) == ["X1!", "draw"]


@rule("G17")
def test_a_call_with_an_ordinary_card_is_refused() -> None:
    state = position("4c X1", "2c", "3c", discard="4h", stock="5d", boom_call="required")
    assert refused_by(state, play("4c", call="BOOM")) == "G17"


@rule("G17")
def test_a_call_is_refused_where_the_table_calls() -> None:
    state = position("X1 9s", "2c", "3c", discard="4h", stock="5d")
    assert refused_by(state, play("X1", call="BOOM")) == "G17"


def test_the_tested_rules_are_the_rules_that_the_texts_explain() -> None:
    for texts in RULESET.texts.values():
        assert list(texts) == [f"G{number}" for number in range(1, 18)]
        assert set(texts) == TESTED
        assert all(text.endswith((".", ")", "։")) for text in texts.values())


def test_the_clock_draws_for_a_seat_that_is_away() -> None:
    state = position("9s X1", "2c", "3c", discard="4h", stock="5d")
    assert RULESET.write_move(RULESET.absent_move(state)) == DRAW


def test_the_clock_passes_for_a_seat_that_is_away() -> None:
    state = position("9s", "2c", "3c", discard="4h")
    assert RULESET.write_move(RULESET.absent_move(state)) == PASS


def test_the_clock_plays_the_first_card_that_is_no_boom() -> None:
    state = position("4s Ah 4d", "2c", "3c", discard="4h", stock="5d", jokers=0)
    assert RULESET.write_move(RULESET.absent_move(state)) == play("4d")


def test_the_clock_booms_if_nothing_else_may_be_played() -> None:
    state = position("9s Ah", "2c", "3c", discard="4h", stock="5d", jokers=0)
    assert RULESET.write_move(RULESET.absent_move(state)) == play("Ah")


def test_the_steady_bot_sheds_its_dearest_card() -> None:
    state = position("4s Kh 2h", "2c 3c 4c 5c", "3d 4d 5d 6d", discard="4h", stock="5d")
    assert RULESET.write_move(RULESET.steady(state.options, RULESET.view(state, Seat(1)))) == play(
        "Kh"
    )


def test_the_steady_bot_booms_when_somebody_is_nearly_out() -> None:
    state = position("4s Kh X1", "2c", "3d 4d 5d 6d", discard="4h", stock="5d")
    assert RULESET.write_move(RULESET.steady(state.options, RULESET.view(state, Seat(1)))) == play(
        "X1"
    )


def test_the_steady_bot_keeps_its_boom_while_nobody_is_near_the_end() -> None:
    state = position("4s X1", "2c 3c 4c 5c", "3d 4d 5d 6d", discard="4h", stock="5d")
    assert RULESET.write_move(RULESET.steady(state.options, RULESET.view(state, Seat(1)))) == play(
        "4s"
    )


def test_the_steady_bot_draws_if_it_must() -> None:
    state = position("9s", "2c", "3c", discard="4h", stock="5d")
    assert RULESET.write_move(RULESET.steady(state.options, RULESET.view(state, Seat(1)))) == DRAW


def test_what_is_no_move_can_not_be_read() -> None:
    for value in (
        {},
        {"type": "play"},
        {"type": "draw", "x": 1},
        {"type": "pass", "x": 1},
        play("4h", call="boom"),
        play("44"),
        {"type": "play", "card": "4h", "x": 1},
        {"type": "play", "card": "4h", "call": "BOOM", "x": 1},
    ):
        with pytest.raises(ValueError):
            RULESET.read_move(value)  # type: ignore[arg-type]


def test_what_are_no_options_can_not_be_read() -> None:
    good = RULESET.write_options(RULESET.complete(Options(), 3))
    assert RULESET.read_options(good) == Options(rounds=3)
    for name in good:
        with pytest.raises(ValueError):
            RULESET.read_options({**good, name: "other"})


def test_a_state_is_encoded_as_documented() -> None:
    state = position("Ts Kc Ac", "9d", "9h", discard="4h", stock="5c X1")
    assert RULESET.encode(state) == {
        "after_boom": "anything",
        "boom_call": "automatic",
        "discard": ["4h"],
        "hands": [["Ac", "Kc", "Ts"], ["9d"], ["9h"]],
        "jokers": 2,
        "passes": 0,
        "stock": ["5c", "X1"],
        "to_act": 1,
    }
    over = played(position("4c", "9d", "9h", discard="4h"), play("4c"))
    assert RULESET.encode(over)["to_act"] is None


def test_every_move_ends_its_turn_so_none_may_be_followed_in_a_batch() -> None:
    state = position("9s", "2c", "3c", discard="4h", stock="5d")
    for move in (DRAW, PASS, play("4h")):
        assert RULESET.reveals(state, RULESET.read_move(move))
