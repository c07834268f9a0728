"""What a player may ask for in Jokers Go Boom."""

from dataclasses import dataclass
from typing import TypeAlias

from service.cards import Card


@dataclass(frozen=True, slots=True)
class Play:
    """Play a card on the discard pile; `call` is whether the move calls "BOOM!" (G17)."""

    card: Card
    call: bool = False


@dataclass(frozen=True, slots=True)
class Draw:
    """Draw the top card of the stock; the turn ends (G8)."""


@dataclass(frozen=True, slots=True)
class Pass:
    """Do nothing, where the stock is empty and nothing can be played (G11)."""


Move: TypeAlias = Play | Draw | Pass
