"""How likely a hand is, and whether shuffles are as good as they should be."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from service.cards import Card, card_text, is_joker

PRECISION = 1e-14
TINY = 1e-300


@dataclass(frozen=True, slots=True)
class Odds:
    """So many cards of a kind in a hand, of so many in the pack; how likely as many or more."""

    kind: str
    count: int
    of: int
    likelihood: Fraction

    def words(self, drawn: int, total: int) -> str:
        """The odds for people."""
        one_in = float(1 / self.likelihood)
        return (
            f"{self.count} or more of the {self.of} cards of kind {self.kind} among {drawn} of "
            f"{total}: one hand in {one_in:,.1f}"
        )


@dataclass(frozen=True, slots=True)
class Fit:
    """A chi-square test: the statistic, its degrees of freedom, and how likely one as large is."""

    statistic: float
    freedom: int
    likelihood: float


def at_least(count: int, of: int, drawn: int, total: int) -> Fraction:
    """How likely `count` or more of `of` special cards are among `drawn` of `total`, exactly."""
    ways = sum(
        math.comb(of, some) * math.comb(total - of, drawn - some)
        for some in range(count, min(of, drawn) + 1)
        if drawn - some <= total - of
    )
    return Fraction(ways, math.comb(total, drawn))


def odds_of_hand(pack: Sequence[Card], hand: Sequence[Card]) -> list[Odds]:
    """The odds of what the hand has more than one of, and of its jokers; the rarest first."""
    in_pack, in_hand = Counter(map(_kind, pack)), Counter(map(_kind, hand))
    found = [
        Odds(kind, count, in_pack[kind], at_least(count, in_pack[kind], len(hand), len(pack)))
        for kind, count in in_hand.items()
        if count > 1 or kind == JOKER
    ]
    return sorted(found, key=lambda odds: (odds.likelihood, odds.kind))


JOKER = "joker"


def _kind(card: Card) -> str:
    return JOKER if is_joker(card) else card_text(card)[0]


def uniformity(decks: Sequence[Sequence[Card]]) -> Fit:
    """Whether every card is as often at every place; all decks have the same cards.

    A deck has each card once, so the cells of a row and of a column are not
    free of each other: hence the (n − 1) / n, with which the mean is right.
    """
    cards = sorted(decks[0])
    index = {card: row for row, card in enumerate(cards)}
    counts = [[0] * len(cards) for _ in cards]
    for deck in decks:
        for place, card in enumerate(deck):
            counts[index[card]][place] += 1
    expected = len(decks) / len(cards)
    squares = sum((n - expected) ** 2 for row in counts for n in row)
    statistic = squares / expected * (len(cards) - 1) / len(cards)
    freedom = (len(cards) - 1) ** 2
    return Fit(statistic, freedom, chi_square_tail(statistic, freedom))


def evenness(counts: Mapping[str, int], shares: Mapping[str, float]) -> Fit:
    """Whether counts fall on their names as their shares say."""
    total = sum(counts.values())
    expected = {name: total * share for name, share in shares.items() if share > 0}
    statistic = sum((counts.get(name, 0) - e) ** 2 / e for name, e in expected.items() if e)
    freedom = max(1, len(expected) - 1)
    return Fit(statistic, freedom, chi_square_tail(statistic, freedom) if total else 1.0)


def chi_square_tail(statistic: float, freedom: int) -> float:
    """How likely a chi-square of so many degrees of freedom is at least that large."""
    a, x = freedom / 2, statistic / 2
    if x <= 0:
        return 1.0
    factor = math.exp(a * math.log(x) - x - math.lgamma(a))
    if x < a + 1:
        return max(0.0, 1.0 - factor * _series(a, x))
    return min(1.0, factor * _fraction(a, x))


def _series(a: float, x: float) -> float:
    """The lower incomplete gamma function by its power series, but for the factor."""
    term = total = 1 / a
    n = 0
    while term > total * PRECISION:
        n += 1
        term *= x / (a + n)
        total += term
    return total


def _fraction(a: float, x: float) -> float:
    """The upper one by its continued fraction (Lentz's method), but for the factor."""
    b = x + 1 - a
    c, d = 1 / TINY, 1 / b
    value, change, n = d, 0.0, 0
    while abs(change - 1) > PRECISION:
        n += 1
        step = -n * (n - a)
        b += 2
        d = 1 / _away_from_zero(step * d + b)
        c = _away_from_zero(b + step / c)
        change = d * c
        value *= change
    return value


def _away_from_zero(value: float) -> float:
    return value if abs(value) > TINY else TINY
