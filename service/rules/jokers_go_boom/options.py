"""The house rules of Jokers Go Boom, and what follows from them."""

from dataclasses import dataclass, replace
from enum import Enum

from service.cards import JOKERS_AT_MOST, Card, Rank, is_joker, pack, rank_of

SEATS = range(3, 5)
"""Three or four players (G1)."""

JOKER_CARDS = frozenset(filter(is_joker, pack(JOKERS_AT_MOST)))
ACES = frozenset(card for card in pack() if rank_of(card) is Rank.ACE)

JOKERS = 2
ROUNDS_AT_MOST = 20


class AfterBoom(Enum):
    """What may be played on a joker (G10)."""

    ANYTHING = "anything"
    CARD_BELOW = "card_below"


class BoomCall(Enum):
    """Who calls the boom (G17)."""

    AUTOMATIC = "automatic"
    REQUIRED = "required"


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """The house rules that the creator of a game may set.

    `rounds` is 1 to 20, None for as many as there are players (G15).
    """

    jokers: int = JOKERS
    after_boom: AfterBoom = AfterBoom.ANYTHING
    boom_call: BoomCall = BoomCall.AUTOMATIC
    rounds: int | None = None

    def __post_init__(self) -> None:
        """Refuse, as a ValueError, what no game is played with."""
        if not 0 <= self.jokers <= JOKERS_AT_MOST:
            message = f"there are 0 to {JOKERS_AT_MOST} jokers"
            raise ValueError(message)
        if self.rounds is not None and not 1 <= self.rounds <= ROUNDS_AT_MOST:
            message = f"there are 1 to {ROUNDS_AT_MOST} rounds"
            raise ValueError(message)


def complete(options: Options, seats: int) -> Options:
    """The options with the number of rounds written out."""
    return replace(options, rounds=rounds(options, seats))


def rounds(options: Options, seats: int) -> int:
    """As many rounds as players, so that each deals once, unless set otherwise (G15)."""
    return options.rounds or seats


def pack_for(options: Options) -> tuple[Card, ...]:
    """52 cards and the jokers (G2)."""
    return pack(options.jokers)


def boom_cards(options: Options) -> frozenset[Card]:
    """The cards that boom: the jokers, or the aces in a game without jokers (G3)."""
    return JOKER_CARDS if options.jokers else ACES


def is_boom_card(options: Options, card: Card) -> bool:
    """Whether the card booms in a game with these options (G3)."""
    return card in boom_cards(options)
