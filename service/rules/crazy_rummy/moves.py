"""What a player may ask for in Crazy Rummy."""

from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple, TypeAlias

from service.cards import Card


class Source(Enum):
    """Where a card is drawn from (C8)."""

    STOCK = "stock"
    DISCARD = "discard"


@dataclass(frozen=True, slots=True)
class Draw:
    """Draw the top card of the stock or of the discard pile (C8)."""

    source: Source


class LayDown(NamedTuple):
    """Put down a meld (C9).

    `stands_for` says card by card what each stands for; None leaves it to be
    understood (C11). A named tuple, for hands with four wild cards list
    hundreds of them.
    """

    cards: tuple[Card, ...]
    stands_for: tuple[Card, ...] | None = None


@dataclass(frozen=True, slots=True)
class LayOff:
    """Add a card to a meld on the table (C12); `stands_for` as in a meld."""

    meld: int
    card: Card
    stands_for: Card | None = None


@dataclass(frozen=True, slots=True)
class TakeWild:
    """Take a wild card out of a meld for the very card that it stands for (C13)."""

    meld: int
    wild: Card
    card: Card


@dataclass(frozen=True, slots=True)
class Discard:
    """Discard a card; the turn ends (C15)."""

    card: Card


Move: TypeAlias = Draw | LayDown | LayOff | TakeWild | Discard
