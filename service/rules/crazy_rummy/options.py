"""The house rules of Crazy Rummy."""

from dataclasses import dataclass
from enum import Enum

from service.cards import Card, pack

SEATS = range(3, 7)
"""Three to six players (C1)."""

ROUNDS = 13


class DiscardTaken(Enum):
    """Whether the card taken from the discard pile may be discarded in the same turn (C15)."""

    ALLOWED = "allowed"
    FORBIDDEN = "forbidden"


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """The house rules that the creator of a game may set. `rounds` is 1 to 13 (C4)."""

    rounds: int = ROUNDS
    discard_taken: DiscardTaken = DiscardTaken.ALLOWED

    def __post_init__(self) -> None:
        """Refuse, as a ValueError, what no game is played with."""
        if not 1 <= self.rounds <= ROUNDS:
            message = f"there are 1 to {ROUNDS} rounds"
            raise ValueError(message)


def complete(options: Options, _seats: int) -> Options:
    """The options as they are: none depends on the number of seats."""
    return options


def rounds(options: Options, _seats: int) -> int:
    """Thirteen rounds, or the first so many (C4)."""
    return options.rounds


def pack_for(_options: Options) -> tuple[Card, ...]:
    """One pack of 52 (C1)."""
    return pack()
