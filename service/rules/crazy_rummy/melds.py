"""Melds: sets and runs, and how cards are read as one (C5 to C7, C10, C11)."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum
from itertools import combinations
from operator import itemgetter

from service.cards import Card, Rank, Suit, make_card, rank_of, suit_of

RANKS_UPWARDS = (Rank.ACE, *(rank for rank in Rank if rank is not Rank.ACE))
"""Ace low, king high; nothing follows a king (C5)."""

SMALLEST_MELD = 3
LARGEST_SET = 4
LARGEST_RUN = 13


class Kind(Enum):
    """A set is of one rank, a run of one suit in sequence."""

    SET = "set"
    RUN = "run"


@dataclass(frozen=True, slots=True)
class Place:
    """A card in a meld, and the card that it stands for: itself, unless it is wild."""

    card: Card
    stands_for: Card


@dataclass(frozen=True, slots=True, kw_only=True)
class Meld:
    """A meld on the table; its places go upwards in a run, c d h s in a set."""

    id: int
    seat: int
    kind: Kind
    places: tuple[Place, ...]

    @property
    def represented(self) -> tuple[Card, ...]:
        """The cards that the meld stands for."""
        return tuple(place.stands_for for place in self.places)


def height(card: Card) -> int:
    """How high the card is: 0 for an ace, 12 for a king (C5)."""
    return (rank_of(card) + 1) % LARGEST_RUN


def kind_of(cards: Sequence[Card]) -> Kind | None:
    """What the cards are as they stand, in any order: a set, a run, or no meld."""
    if len(cards) < SMALLEST_MELD or len(set(cards)) < len(cards):
        return None
    if len({rank_of(card) for card in cards}) == 1:
        return Kind.SET
    heights = sorted(map(height, cards))
    is_sequence = heights == list(range(heights[0], heights[0] + len(heights)))
    if len({suit_of(card) for card in cards}) == 1 and is_sequence:
        return Kind.RUN
    return None


def in_order(places: Sequence[Place]) -> tuple[Place, ...]:
    """The places in the order of what they stand for: a run upwards, a set c d h s."""
    return tuple(
        sorted(places, key=lambda place: (height(place.stands_for), suit_of(place.stands_for)))
    )


def _every_set() -> Iterator[tuple[Card, ...]]:
    for rank in RANKS_UPWARDS:
        cards = [make_card(rank, suit) for suit in Suit]
        for length in (SMALLEST_MELD, LARGEST_SET):
            yield from combinations(cards, length)


def _every_run() -> Iterator[tuple[Card, ...]]:
    for suit in Suit:
        cards = [make_card(rank, suit) for rank in RANKS_UPWARDS]
        for lowest in range(LARGEST_RUN):
            for end in range(lowest + SMALLEST_MELD, LARGEST_RUN + 1):
                yield tuple(cards[lowest:end])


@dataclass(frozen=True, slots=True)
class Shape:
    """The cards of a possible meld, in order, and as a set of bits, one a card.

    `take` takes of 52 values, one a card, those of the meld's cards.
    """

    cards: tuple[Card, ...]
    bits: int
    take: Callable[[Sequence[bool]], tuple[bool, ...]] = field(repr=False)


def bits_of(cards: Iterable[Card]) -> int:
    """The cards as a set of bits: asking what two sets share is then one step."""
    return sum(1 << card for card in cards)


SHAPES = tuple(
    Shape(cards, bits_of(cards), itemgetter(*cards)) for cards in (*_every_set(), *_every_run())
)
"""Every meld that there can be: sets by rank, runs by suit and lowest rank, shorter ones first."""


def readings(cards: Sequence[Card], wild: Rank) -> list[tuple[Card, ...]]:
    """What the cards may stand for, card by card in the order sent: each way to read them (C11).

    Two readings are one if they represent the same cards: then a wild card
    that is one of them stands for itself, and the rest, in the order sent,
    fill the free places upwards.
    """
    if not SMALLEST_MELD <= len(cards) <= LARGEST_RUN:
        return []
    if kind_of(cards) is not None:
        return [tuple(cards)]
    naturals = bits_of(card for card in cards if rank_of(card) is not wild)
    return [
        _filled(cards, shape.cards)
        for shape in SHAPES
        if len(shape.cards) == len(cards) and naturals & shape.bits == naturals
    ]


def _filled(cards: Sequence[Card], represented: Sequence[Card]) -> tuple[Card, ...]:
    """What each card stands for in that meld; those that are in it stand for themselves."""
    free = iter([card for card in represented if card not in cards])
    return tuple(card if card in represented else next(free) for card in cards)


def additions(meld: Meld) -> tuple[Card, ...]:
    """The cards that may be laid off on the meld, upwards: a set's fourth, a run's two ends."""
    represented = meld.represented
    if meld.kind is Kind.SET:
        rank = rank_of(represented[0])
        suits = {suit_of(card) for card in represented}
        return tuple(make_card(rank, suit) for suit in Suit if suit not in suits)
    suit = suit_of(represented[0])
    lowest, highest = height(represented[0]), height(represented[-1])
    ends = [lowest - 1] if lowest > 0 else []
    ends += [highest + 1] if highest < LARGEST_RUN - 1 else []
    return tuple(make_card(RANKS_UPWARDS[end], suit) for end in ends)


def rank_for_round(number: int) -> Rank:
    """The rank that is wild in that round: aces in the first, kings in the thirteenth (C4)."""
    return RANKS_UPWARDS[number - 1]
