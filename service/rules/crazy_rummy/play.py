"""Drawing, melding, laying off, exchanging, discarding: and why each may be refused."""

from dataclasses import replace
from typing import TypeAlias, assert_never

from service.cards import Card, card_text, next_seat
from service.rules.crazy_rummy.melds import Kind, Meld, Place, additions, in_order, kind_of
from service.rules.crazy_rummy.moves import (
    Discard,
    Draw,
    LayDown,
    LayOff,
    Move,
    Source,
    TakeWild,
)
from service.rules.crazy_rummy.settling import meld_on_table, no_meld, refuse_unusable
from service.rules.crazy_rummy.state import (
    EndReason,
    Phase,
    RoundEnd,
    State,
    is_taken,
    may_discard,
    must_keep,
)
from service.rules.ruleset import Outcome
from service.rules.violation import RuleViolation

Turned: TypeAlias = tuple[State, Outcome]


def reveals(_state: State, move: Move) -> bool:
    """A draw from the stock shows a hidden card, a discard ends the turn."""
    return isinstance(move, Discard) or move == Draw(Source.STOCK)


def apply(state: State, move: Move) -> Turned:
    """The round after the settled move of the seat whose turn it is.

    Raises RuleViolation with the number of the rule that forbids it.
    """
    if state.end:
        raise RuleViolation("C16", "The round is over.")
    match move:
        case Draw():
            return _draw(state, move.source)
        case LayDown():
            return _lay_down(state, move)
        case LayOff():
            return _lay_off(state, move)
        case TakeWild():
            return _take_wild(state, move)
        case Discard():
            return _discard(state, move.card)
        case _:
            assert_never(move)


def _draw(state: State, source: Source) -> Turned:
    """Draw the top card of the stock, or of the discard pile (C8)."""
    if state.phase is not Phase.DRAW:
        raise RuleViolation("C8", "You don't draw now: meld, lay off or discard.")
    return _draw_stock(state) if source is Source.STOCK else _draw_discard(state)


def _draw_stock(state: State) -> Turned:
    """A seat with a single card must go by C17 from here."""
    top, stock = state.stock[0], state.stock[1:]
    held_before = state.hand[0] if len(state.hand) == 1 else None
    drawn = _holding(state, (*state.hand, top))
    return (
        replace(drawn, stock=stock, phase=Phase.PLAY, held_before=held_before, worked=True),
        {"drew": 1},
    )


def _draw_discard(state: State) -> Turned:
    if not state.discard:
        raise RuleViolation("C8", "The discard pile is empty: draw from the stock.")
    if len(state.hand) == 1:
        raise RuleViolation("C17", "With a single card you draw from the stock.")
    if state.goes_in_circles:
        raise RuleViolation(
            "C21", "Three circuits have passed without anything new: draw from the stock."
        )
    top = state.discard[-1]
    drawn = _holding(state, (*state.hand, top))
    return (
        replace(drawn, discard=state.discard[:-1], phase=Phase.PLAY, taken=top),
        {"took": card_text(top)},
    )


def _lay_down(state: State, move: LayDown) -> Turned:
    """Put down a meld (C9)."""
    refuse_unusable(state, move.cards)
    stands_for = move.stands_for or move.cards
    for card, represented in zip(move.cards, stands_for, strict=True):
        _refuse_disguise(state, card, represented)
    _refuse_doubles(stands_for)
    kind = kind_of(stands_for)
    if kind is None:
        raise no_meld(state, stands_for)
    places = [Place(*pair) for pair in zip(move.cards, stands_for, strict=True)]
    number = len(state.melds) + 1
    meld = Meld(id=number, seat=state.seat_in_turn, kind=kind, places=in_order(places))
    laid = replace(
        _without(state, move.cards),
        melds=(*state.melds, meld),
        melded=state.melded | {state.seat_in_turn},
        worked=True,
    )
    return _able_to_discard(laid), {"meld": number}


def _lay_off(state: State, move: LayOff) -> Turned:
    """Add a card to a meld on the table (C12)."""
    refuse_unusable(state, (move.card,))
    _refuse_before_melding(state)
    meld = meld_on_table(state, move.meld)
    represented = move.card if move.stands_for is None else move.stands_for
    _refuse_disguise(state, move.card, represented)
    _refuse_doubles((*meld.represented, represented))
    _refuse_misfit(meld, represented)
    longer = replace(meld, places=in_order((*meld.places, Place(move.card, represented))))
    laid = _without(_with_meld(state, longer), (move.card,))
    if move.card == state.held_before:
        laid = replace(laid, held_before=None)
    return _able_to_discard(replace(laid, worked=True)), {}


def _take_wild(state: State, move: TakeWild) -> Turned:
    """Put the very card in the place of the wild card that stands for it, and take that (C13)."""
    refuse_unusable(state, (move.card,))
    _refuse_before_melding(state)
    meld = meld_on_table(state, move.meld)
    _refuse_no_exchange(meld, move)
    places = tuple(
        Place(move.card, move.card) if place.card == move.wild else place for place in meld.places
    )
    given = _without(_with_meld(state, replace(meld, places=places)), (move.card,))
    taken = _holding(given, (*given.hand, move.wild))
    held_before = move.wild if move.card == state.held_before else state.held_before
    after = replace(taken, held_before=held_before, worked=True)
    return _able_to_discard(after), {"wild": card_text(move.wild)}


def _discard(state: State, card: Card) -> Turned:
    """Discard one card and end the turn; a seat left with none goes out (C15, C16)."""
    refuse_unusable(state, (card,))
    if is_taken(state, card):
        raise RuleViolation(
            "C15", "You took {card} in this turn: discard another.", card=card_text(card)
        )
    if must_keep(state, card):
        raise RuleViolation(
            "C17",
            "You held {card} alone before you drew: it must be the one to go.",
            card=card_text(state.held_before or card),
        )
    left = _without(state, (card,))
    return _ended_turn(replace(left, discard=(*state.discard, card))), {}


def _ended_turn(state: State) -> State:
    """The next seat's turn, or the end of the round (C16, C18)."""
    if not state.hand:
        return replace(state, end=RoundEnd(EndReason.WENT_OUT, state.seat_in_turn))
    if not state.stock:
        return replace(state, end=RoundEnd(EndReason.STOCK_EXHAUSTED))
    return replace(
        state,
        seat_in_turn=next_seat(state.seat_in_turn, len(state.hands)),
        phase=Phase.DRAW,
        held_before=None,
        taken=None,
        worked=False,
        idle=0 if state.worked else state.idle + 1,
    )


def _able_to_discard(state: State) -> State:
    """The state, if it leaves a card that may be discarded (C14)."""
    if not any(may_discard(state, card) for card in state.hand):
        raise RuleViolation("C14", "You must keep a card that you may discard.")
    return state


def _refuse_before_melding(state: State) -> None:
    if state.seat_in_turn not in state.melded:
        raise RuleViolation("C12", "Put down a meld of your own first.")


def _refuse_disguise(state: State, card: Card, represented: Card) -> None:
    """Only a wild card stands for another (C10)."""
    if card != represented and not state.is_wild(card):
        raise RuleViolation(
            "C10", "{card} is not wild: it stands for itself.", card=card_text(card)
        )


def _refuse_doubles(represented: tuple[Card, ...]) -> None:
    if len(set(represented)) < len(represented):
        raise RuleViolation("C10", "Two cards of a meld can't stand for the same card.")


def _refuse_misfit(meld: Meld, represented: Card) -> None:
    if represented in additions(meld):
        return
    if meld.kind is Kind.SET:
        raise RuleViolation(
            "C6", "{card} is no fourth card to this set.", card=card_text(represented)
        )
    raise RuleViolation("C7", "{card} fits neither end of this run.", card=card_text(represented))


def _refuse_no_exchange(meld: Meld, move: TakeWild) -> None:
    place = next((place for place in meld.places if place.card == move.wild), None)
    if place is None:
        raise RuleViolation("C13", "{wild} is not in that meld.", wild=card_text(move.wild))
    if place.stands_for == place.card:
        raise RuleViolation("C13", "{wild} stands for itself.", wild=card_text(move.wild))
    if place.stands_for != move.card:
        raise RuleViolation(
            "C13",
            "{wild} stands for {represented}: only that card can take its place.",
            wild=card_text(move.wild),
            represented=card_text(place.stands_for),
        )


def _with_meld(state: State, changed: Meld) -> State:
    melds = tuple(changed if meld.id == changed.id else meld for meld in state.melds)
    return replace(state, melds=melds)


def _without(state: State, cards: tuple[Card, ...]) -> State:
    return _holding(state, tuple(card for card in state.hand if card not in cards))


def _holding(state: State, hand: tuple[Card, ...]) -> State:
    """The state in which the seat in turn holds that hand."""
    seat = state.seat_in_turn
    hands = (*state.hands[: seat - 1], tuple(sorted(hand)), *state.hands[seat:])
    return replace(state, hands=hands)
