"""A round of Jokers Go Boom, and how it starts."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum

from service.canonical import JsonMap
from service.cards import Card, Seat, card_text, clockwise, is_joker, next_seat
from service.rules.cut import lowest_deals
from service.rules.jokers_go_boom.options import AfterBoom, Options, is_boom_card
from service.rules.ruleset import Cut, Round

CARDS_DEALT = 7


class EndReason(Enum):
    """Why a round is over."""

    WENT_OUT = "went_out"
    BLOCKED = "blocked"


@dataclass(frozen=True, slots=True)
class RoundEnd:
    """The end of a round: why, and by whom if somebody went out (G12, G13)."""

    reason: EndReason
    by: Seat | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """A round as the dealer sees it.

    `hands` are by seat, each sorted; `stock` has its top first, `discard` its
    top last; `passes` counts the turns passed in a row; `seat_in_turn` is who
    plays, or played last once `end` is set.
    """

    options: Options
    hands: tuple[tuple[Card, ...], ...]
    stock: tuple[Card, ...]
    discard: tuple[Card, ...]
    seat_in_turn: Seat
    passes: int = 0
    end: RoundEnd | None = None

    @property
    def hand(self) -> tuple[Card, ...]:
        """The hand of the seat whose turn it is."""
        return self.hands[self.seat_in_turn - 1]


def first_dealer(pack: Sequence[Card], seats: int) -> Cut:
    """The lowest card shown deals, two low and ace high (G4)."""
    return lowest_deals(pack, seats, int)


def deal(options: Options, round_: Round, deck: Sequence[Card]) -> State:
    """Seven cards to each, one at a time, from the dealer's left; then the upcard (G5)."""
    hands: list[list[Card]] = [[] for _ in range(round_.seats)]
    for turn, seat in enumerate(clockwise(round_.dealer, round_.seats)):
        hands[seat - 1] = sorted(deck[turn : CARDS_DEALT * round_.seats : round_.seats])
    upcard, *stock = deck[CARDS_DEALT * round_.seats :]
    return State(
        options=options,
        hands=tuple(tuple(hand) for hand in hands),
        stock=tuple(stock),
        discard=(upcard,),
        seat_in_turn=next_seat(round_.dealer, round_.seats),
    )


def first(state: State) -> Seat:
    """The seat at the dealer's left, who begins (G7)."""
    return state.seat_in_turn


def facts(state: State) -> JsonMap:
    """The upcard: all that is public when the cards are dealt (G5)."""
    return {"upcard": card_text(state.discard[0])}


def to_act(state: State) -> Seat | None:
    """Whose turn it is; None when the round is over."""
    return None if state.end else state.seat_in_turn


def card_to_follow(state: State) -> Card | None:
    """The card whose suit or rank must be followed; None where anything may be played (G10).

    On a joker anything may be played, or, where the option says so, what may
    be played on the topmost card under it that is no joker.
    """
    top = state.discard[-1]
    if not is_joker(top):
        return top
    if state.options.after_boom is AfterBoom.ANYTHING:
        return None
    return next((card for card in reversed(state.discard) if not is_joker(card)), None)


def booms(state: State, card: Card) -> bool:
    """Whether the card is a boom card in this game (G3)."""
    return is_boom_card(state.options, card)


def stock(state: State) -> tuple[Card, ...]:
    """The cards of the stock, the top first."""
    return state.stock


def restock(state: State, cards: Sequence[Card]) -> State:
    """The state with its stock in another order."""
    return replace(state, stock=tuple(cards))


def laid(state: State) -> tuple[Card, ...]:
    """The cards that lie open, or lay open and were covered."""
    return state.discard
