"""A round of Crazy Rummy, and how it starts."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum

from service.canonical import JsonMap
from service.cards import Card, Rank, Seat, clockwise, next_seat, rank_of
from service.rules.crazy_rummy.melds import RANKS_UPWARDS, Meld, rank_for_round
from service.rules.crazy_rummy.options import DiscardTaken, Options
from service.rules.cut import lowest_deals
from service.rules.ruleset import Cut, Round

CARDS_DEALT = 7
IDLE_CIRCUITS = 3


class Phase(Enum):
    """How far a turn has come (C8, C9)."""

    DRAW = "draw"
    PLAY = "play"


class EndReason(Enum):
    """Why a round is over."""

    WENT_OUT = "went_out"
    STOCK_EXHAUSTED = "stock_exhausted"


@dataclass(frozen=True, slots=True)
class RoundEnd:
    """The end of a round: why, and by whom if somebody went out (C16, C18)."""

    reason: EndReason
    by: Seat | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """A round as the dealer sees it.

    `hands` are by seat, each sorted; `stock` has its top first, `discard` its
    top last; `melded` are the seats that have put down a meld. Of the turn:
    `held_before` is the card that a seat held alone when it drew (C17),
    `taken` the card that came from the discard pile (C15), `worked` whether
    the turn did what C21 counts. `idle` counts the turns before it that did not.
    """

    options: Options
    wild: Rank
    hands: tuple[tuple[Card, ...], ...]
    stock: tuple[Card, ...]
    discard: tuple[Card, ...]
    melds: tuple[Meld, ...] = ()
    melded: frozenset[Seat] = frozenset()
    seat_in_turn: Seat
    phase: Phase
    held_before: Card | None = None
    taken: Card | None = None
    worked: bool = False
    idle: int = 0
    end: RoundEnd | None = None

    @property
    def hand(self) -> tuple[Card, ...]:
        """The hand of the seat whose turn it is."""
        return self.hands[self.seat_in_turn - 1]

    @property
    def goes_in_circles(self) -> bool:
        """Whether three circuits of the table have passed in which nothing happened (C21)."""
        return self.idle >= IDLE_CIRCUITS * len(self.hands)

    def is_wild(self, card: Card) -> bool:
        """Whether the card is of this round's wild rank (C4)."""
        return rank_of(card) is self.wild


def first_dealer(pack: Sequence[Card], seats: int) -> Cut:
    """The lowest card shown deals, ace low (C2)."""
    return lowest_deals(pack, seats, RANKS_UPWARDS.index)


def deal(options: Options, round_: Round, deck: Sequence[Card]) -> State:
    """Seven cards to each from the dealer's left, and an eighth to the first player (C3)."""
    seats = round_.seats
    dealt = CARDS_DEALT * seats
    hands: list[list[Card]] = [[] for _ in range(seats)]
    for turn, seat in enumerate(clockwise(round_.dealer, seats)):
        hands[seat - 1] = list(deck[turn:dealt:seats])
    beginner = next_seat(round_.dealer, seats)
    hands[beginner - 1].append(deck[dealt])
    return State(
        options=options,
        wild=rank_for_round(round_.number),
        hands=tuple(tuple(sorted(hand)) for hand in hands),
        stock=tuple(deck[dealt + 1 :]),
        discard=(),
        seat_in_turn=beginner,
        phase=Phase.PLAY,
    )


def first(state: State) -> Seat:
    """The seat at the dealer's left, who begins (C8)."""
    return state.seat_in_turn


def facts(state: State) -> JsonMap:
    """The wild rank: all that is public when the cards are dealt (C4)."""
    return {"wild": state.wild.text}


def to_act(state: State) -> Seat | None:
    """Whose turn it is; None when the round is over."""
    return None if state.end else state.seat_in_turn


def may_discard(state: State, card: Card) -> bool:
    """Whether a card of the hand may be discarded now, by C15 and C17."""
    return not is_taken(state, card) and not must_keep(state, card)


def is_taken(state: State, card: Card) -> bool:
    """Whether the card was taken in this turn and may not be discarded in it (C15)."""
    return state.options.discard_taken is DiscardTaken.FORBIDDEN and card == state.taken


def must_keep(state: State, card: Card) -> bool:
    """Whether the card was drawn to a single one, and that one must go first (C17)."""
    return state.held_before not in (None, card) and len(state.hand) > 1


def stock(state: State) -> tuple[Card, ...]:
    """The cards of the stock, the top first."""
    return state.stock


def restock(state: State, cards: Sequence[Card]) -> State:
    """The state with its stock in another order."""
    return replace(state, stock=tuple(cards))


def laid(state: State) -> tuple[Card, ...]:
    """The cards that lie open, or lay open and were covered."""
    melded = (place.card for meld in state.melds for place in meld.places)
    return (*state.discard, *melded)
