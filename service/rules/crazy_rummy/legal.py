"""Every legal move in canonical order, and what the clock plays for a seat that is away."""

from collections.abc import Callable, Iterator, Sequence
from functools import cache, lru_cache
from itertools import chain, combinations, count, islice, repeat
from operator import itemgetter
from typing import TypeAlias

from service.cards import SUITED_CARDS, Card, suit_of
from service.rules.crazy_rummy.melds import SHAPES, additions, bits_of, height
from service.rules.crazy_rummy.moves import (
    Discard,
    Draw,
    LayDown,
    LayOff,
    Move,
    Source,
    TakeWild,
)
from service.rules.crazy_rummy.play import apply
from service.rules.crazy_rummy.state import Phase, State, is_taken, may_discard
from service.rules.violation import RuleViolation

Cards: TypeAlias = tuple[Card, ...]

Held: TypeAlias = tuple[bool, ...]
"""Of each card of a meld, whether it is in the hand."""

Filling: TypeAlias = Callable[[Cards], Cards]

FILLED_KEPT = 4096
"""How many melds of some hand are kept, made up: from turn to turn most of a hand's stay."""


def legal_moves(state: State) -> Sequence[Move]:
    """Draws; melds, lay-offs, exchanges, discards: complete, each in its order.

    Wild cards that could serve alike are listed once, lowest suit first.
    """
    if state.end:
        return ()
    if state.phase is Phase.DRAW:
        return [move for move in map(Draw, Source) if _is_legal(state, move)]
    return [
        *_melds(state),
        *_lay_offs(state),
        *_exchanges(state),
        *(Discard(card) for card in state.hand if may_discard(state, card)),
    ]


def absent_move(state: State) -> Move:
    """Draw from the stock; then discard the highest card that is not wild, ties s h d c."""
    if state.phase is Phase.DRAW:
        return Draw(Source.STOCK)
    allowed = [card for card in state.hand if may_discard(state, card)]
    return Discard(
        max(allowed, key=lambda card: (not state.is_wild(card), height(card), suit_of(card)))
    )


def _melds(state: State) -> list[LayDown]:
    """Each represented meld, each choice of its places that are filled by the very card in hand."""
    hand = bits_of(state.hand)
    is_held = tuple([bool(hand >> card & 1) for card in range(SUITED_CARDS)])
    wild = bits_of([card for card in state.hand if state.is_wild(card)])
    longest, unchecked = len(state.hand) - 1, _unchecked(state)
    laid: list[LayDown] = []
    wilds = wild.bit_count()
    near = [shape for shape in SHAPES if (shape.bits & ~hand).bit_count() <= wilds]
    for shape in near:
        natural = hand & shape.bits
        spare = wild & ~natural
        length = len(shape.cards)
        if longest >= length <= natural.bit_count() + spare.bit_count():
            held = shape.take(is_held)
            if length <= unchecked:
                laid += _filled(shape.cards, held, spare)
            else:
                laid += _legally_filled(state, shape.cards, held, spare)
    return laid


@lru_cache(FILLED_KEPT)
def _filled(meld: Cards, held: Held, spare: int) -> list[LayDown]:
    """The ways to make the meld of its cards in hand and of the lowest spare wild cards."""
    wild = _cards_of(spare)
    choosable = meld + wild
    made = [take(choosable) for _, take in _ways_to_fill(held, len(wild))]
    made.sort()
    return [*map(LayDown, made, repeat(meld))]


def _legally_filled(state: State, meld: Cards, held: Held, spare: int) -> list[LayDown]:
    """The same, each with the lowest wild cards that leave a card to discard."""
    made: list[LayDown] = []
    wild = _cards_of(spare)
    for free, take in _ways_to_fill(held, len(wild)):
        moves = (LayDown(take(meld + chosen), meld) for chosen in combinations(wild, free))
        made += islice((move for move in moves if _is_legal(state, move)), 1)
    return sorted(made, key=lambda move: move.cards)


@cache
def _ways_to_fill(held: Held, spare: int) -> Sequence[tuple[int, Filling]]:
    """Each choice of a meld's places for spare wild cards: those not held, and any more.

    How many places they are, and what takes a meld's cards from its own,
    followed by wild ones: these fill the places upwards. There are a few
    thousand such choices, since no round has more than four wild cards.
    """
    missing = [place for place, is_held in enumerate(held) if not is_held]
    fillable = [place for place, is_held in enumerate(held) if is_held]
    more = range(min(spare - len(missing), len(fillable)) + 1)
    freed = chain.from_iterable(combinations(fillable, size) for size in more)
    return [_filling(len(held), {*missing, *places}) for places in freed]


def _filling(length: int, free: set[int]) -> tuple[int, Filling]:
    wild = count(length)
    taken = [next(wild) if place in free else place for place in range(length)]
    return len(free), itemgetter(*taken)


@cache
def _cards_of(bits: int) -> Cards:
    """The wild cards that the bits are; there are not many such sets."""
    return tuple([Card(card) for card in range(SUITED_CARDS) if bits >> card & 1])


def _unchecked(state: State) -> int:
    """How many cards may go, whichever they are, and leave one to discard (C14, C15, C17)."""
    barred = sum(is_taken(state, card) for card in state.hand)
    return len(state.hand) - barred - 1 if state.held_before is None else -1


def _lay_offs(state: State) -> Iterator[LayOff]:
    if state.seat_in_turn not in state.melded:
        return
    unchecked = _unchecked(state)
    for meld in state.melds:
        fitting = additions(meld)
        for card in state.hand:
            for represented in fitting:
                move = LayOff(meld.id, card, represented)
                may_stand = card == represented or state.is_wild(card)
                if may_stand and (unchecked >= 1 or _is_legal(state, move)):
                    yield move


def _exchanges(state: State) -> Iterator[TakeWild]:
    if state.seat_in_turn not in state.melded:
        return
    unchecked = _unchecked(state)
    places = chain.from_iterable(
        ((meld.id, place) for place in meld.places) for meld in state.melds
    )
    for number, place in places:
        move = TakeWild(number, place.card, place.stands_for)
        is_wanted = place.stands_for != place.card and place.stands_for in state.hand
        if is_wanted and (unchecked >= 0 or _is_legal(state, move)):
            yield move


def _is_legal(state: State, move: Move) -> bool:
    try:
        apply(state, move)
    except RuleViolation:
        return False
    return True
