"""A card: an int inside the service, two characters of text at every border.

The ints follow the base pack: clubs, diamonds, hearts, spades, each from two
to ace, then the jokers. So sorting ints sorts by suit, then rank, jokers last.
"""

from collections.abc import Iterable
from enum import IntEnum
from typing import NewType

Card = NewType("Card", int)
"""0 to 51 for the suited cards, 52 and up for the jokers X1, X2 …"""

SUITED_CARDS = 52
RANKS_IN_A_SUIT = 13
RANK_TEXTS = "23456789TJQKA"
SUIT_TEXTS = "cdhs"
JOKERS_AT_MOST = 8


class Suit(IntEnum):
    """The four suits, in the order of the base pack."""

    CLUBS = 0
    DIAMONDS = 1
    HEARTS = 2
    SPADES = 3

    @property
    def text(self) -> str:
        """The suit's letter: c, d, h or s."""
        return SUIT_TEXTS[self]


class Rank(IntEnum):
    """The thirteen ranks, two low and ace high, as in the base pack.

    A ruleset in which aces are low says so itself.
    """

    TWO = 0
    THREE = 1
    FOUR = 2
    FIVE = 3
    SIX = 4
    SEVEN = 5
    EIGHT = 6
    NINE = 7
    TEN = 8
    JACK = 9
    QUEEN = 10
    KING = 11
    ACE = 12

    @property
    def text(self) -> str:
        """The rank's character: 2 to 9, T, J, Q, K or A."""
        return RANK_TEXTS[self]


_TEXTS = (
    *(rank + suit for suit in SUIT_TEXTS for rank in RANK_TEXTS),
    *(f"X{number}" for number in range(1, JOKERS_AT_MOST + 1)),
)
_CARDS = {text: Card(number) for number, text in enumerate(_TEXTS)}
_SUITS = tuple(suit for suit in Suit for _ in Rank)
_RANKS = tuple(rank for _ in Suit for rank in Rank)


def make_card(rank: Rank, suit: Suit) -> Card:
    """The card of that rank and suit."""
    return Card(suit * RANKS_IN_A_SUIT + rank)


def is_joker(card: Card) -> bool:
    """Whether the card is a joker, with neither suit nor rank."""
    return card >= SUITED_CARDS


def suit_of(card: Card) -> Suit:
    """The suit of a suited card; raises IndexError for a joker."""
    return _SUITS[card]


def rank_of(card: Card) -> Rank:
    """The rank of a suited card; raises IndexError for a joker."""
    return _RANKS[card]


def card_text(card: Card) -> str:
    """The card as text: rank and suit (`Td`), or `X1`, `X2` … for a joker."""
    return _TEXTS[card]


def parse_card(text: str) -> Card:
    """The card that the text names; raises ValueError for anything else."""
    card = _CARDS.get(text)
    if card is None:
        message = f"{text!r} is no card: cards are written like 4h, Td or X1."
        raise ValueError(message)
    return card


def cards_text(cards: Iterable[Card]) -> list[str]:
    """The cards as text, in the order given."""
    return [_TEXTS[card] for card in cards]


def parse_cards(texts: Iterable[str]) -> tuple[Card, ...]:
    """The cards that the texts name, in the order given."""
    return tuple(parse_card(text) for text in texts)
