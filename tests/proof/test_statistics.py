"""Odds against brute force, tails against values from tables, shuffles against stacked decks."""

import itertools
import random
from fractions import Fraction

import pytest

from service.cards import pack, parse_cards
from service.fairness import SealedDealer
from service.proof.statistics import (
    at_least,
    chi_square_tail,
    evenness,
    odds_of_hand,
    uniformity,
)


@pytest.mark.parametrize(
    ("count", "of", "drawn", "total"), [(1, 2, 3, 7), (2, 3, 4, 8), (0, 2, 3, 6), (3, 3, 3, 5)]
)
def test_odds_are_those_of_counting_every_hand(count: int, of: int, drawn: int, total: int) -> None:
    hands = list(itertools.combinations(range(total), drawn))
    found = sum(sum(card < of for card in hand) >= count for hand in hands)
    assert at_least(count, of, drawn, total) == Fraction(found, len(hands))


@pytest.mark.parametrize(
    ("statistic", "freedom", "expected"),
    [
        (3.841, 1, 0.05),
        (6.635, 1, 0.01),
        (9.488, 4, 0.05),
        (18.307, 10, 0.05),
        (124.342, 100, 0.05),
        (67.328, 100, 0.995),
        (0.0, 5, 1.0),
        (-1.0, 5, 1.0),
        (1000.0, 3, 0.0),
    ],
)
def test_tails_are_those_of_the_tables(statistic: float, freedom: int, expected: float) -> None:
    assert chi_square_tail(statistic, freedom) == pytest.approx(expected, abs=2e-4)


def test_the_odds_of_a_hand_are_told_the_rarest_first() -> None:
    cards = pack(2)
    hand = parse_cards(["X1", "X2", "7c", "7d", "Kh", "2s", "3s"])
    odds = odds_of_hand(cards, hand)
    assert [(one.kind, one.count, one.of) for one in odds] == [("joker", 2, 2), ("7", 2, 4)]
    assert odds[0].likelihood == Fraction(7 * 6, 54 * 53)
    assert odds[0].words(7, 54) == (
        "2 or more of the 2 cards of kind joker among 7 of 54: one hand in 68.1"
    )
    assert [one.kind for one in odds_of_hand(cards, parse_cards(["X1", "2c", "3c"]))] == ["joker"]


def test_our_shuffles_are_even_and_stacked_decks_are_found() -> None:
    cards = pack(2)
    dealer = SealedDealer.of(b"k" * 32, "0" * 26, ["", ""])
    decks = [dealer.deck(cards, number, 0) for number in range(1, 401)]
    fair = uniformity(decks)
    assert fair.freedom == 53 * 53
    assert 0.001 < fair.likelihood < 0.999
    chance = random.Random(1)
    stacked = []
    for deck in decks:
        top, *rest = (
            deck if chance.random() < 0.7 else (cards[-1], *(c for c in deck if c != cards[-1]))
        )
        stacked.append((top, *rest))
    assert uniformity(stacked).likelihood < 1e-6


def test_who_goes_out_more_often_than_the_others_is_found() -> None:
    shares = {"1": 0.5, "2": 0.5}
    assert evenness({"1": 50, "2": 50}, shares).likelihood == 1.0
    assert evenness({"1": 90, "2": 10}, shares).likelihood < 1e-9
    assert evenness({}, shares).likelihood == 1.0
