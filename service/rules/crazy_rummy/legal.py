"""Every legal move in canonical order, and what the clock plays for a seat that is away."""

from collections.abc import Iterator, Sequence
from itertools import chain, combinations

from service.cards import Card, suit_of
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
from service.rules.crazy_rummy.state import Phase, State, may_discard
from service.rules.violation import RuleViolation


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


def _melds(state: State) -> Iterator[LayDown]:
    """Each represented meld, each choice of its places that are filled by the very card in hand."""
    hand = bits_of(state.hand)
    wild = bits_of(card for card in state.hand if state.is_wild(card))
    longest = len(state.hand) - 1
    for shape in SHAPES:
        spare = wild & ~shape.bits
        reach = (hand & shape.bits).bit_count() + spare.bit_count()
        if len(shape.cards) <= min(reach, longest):
            yield from _fillings(state, shape.cards)


def _fillings(state: State, represented: tuple[Card, ...]) -> list[LayDown]:
    """The ways to make the meld from the hand, by its cards."""
    held = [card for card in represented if card in state.hand]
    spare = [card for card in state.hand if state.is_wild(card) and card not in represented]
    fewest = max(len(represented) - len(spare), 0)
    choices = chain.from_iterable(combinations(held, size) for size in range(fewest, len(held) + 1))
    made = (_first_allowed(state, represented, very, spare) for very in choices)
    return sorted((meld for meld in made if meld is not None), key=lambda meld: meld.cards)


def _first_allowed(
    state: State, represented: tuple[Card, ...], very: tuple[Card, ...], spare: list[Card]
) -> LayDown | None:
    """The meld with the lowest wild cards that the rules allow, filling the free places upwards."""
    for wilds in combinations(spare, len(represented) - len(very)):
        filling = iter(wilds)
        cards = tuple([card if card in very else next(filling) for card in represented])
        meld = LayDown(cards, represented)
        if _leaves_two(state, len(cards)) or _is_legal(state, meld):
            return meld
    return None


def _leaves_two(state: State, cards: int) -> bool:
    """Whether so many cards less leave two, of which C15 can bar only one, and C17 none."""
    return len(state.hand) - cards > 1 and state.held_before is None


def _lay_offs(state: State) -> Iterator[LayOff]:
    if state.seat_in_turn not in state.melded:
        return
    for meld in state.melds:
        fitting = additions(meld)
        for card in state.hand:
            for represented in fitting:
                move = LayOff(meld.id, card, represented)
                may_stand = card == represented or state.is_wild(card)
                if may_stand and (_leaves_two(state, 1) or _is_legal(state, move)):
                    yield move


def _exchanges(state: State) -> Iterator[TakeWild]:
    if state.seat_in_turn not in state.melded:
        return
    places = chain.from_iterable(
        ((meld.id, place) for place in meld.places) for meld in state.melds
    )
    for number, place in places:
        move = TakeWild(number, place.card, place.stands_for)
        is_wanted = place.stands_for != place.card and place.stands_for in state.hand
        if is_wanted and (_leaves_two(state, 0) or _is_legal(state, move)):
            yield move


def _is_legal(state: State, move: Move) -> bool:
    try:
        apply(state, move)
    except RuleViolation:
        return False
    return True
