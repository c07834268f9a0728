"""What a seat, or a bystander, can see of a round."""

from service.canonical import JsonMap
from service.cards import Seat, card_text, cards_text
from service.rules.crazy_rummy.legal import legal_moves
from service.rules.crazy_rummy.melds import Meld
from service.rules.crazy_rummy.moves import Move
from service.rules.crazy_rummy.state import State, to_act
from service.rules.ruleset import Private, View


def view(state: State, seat: Seat | None) -> View[Move]:
    """The table and the number of cards in each hand; a seat's own hand is added for it."""
    turn = to_act(state)
    return View(
        seat=seat,
        to_act=turn,
        phase="over" if turn is None else state.phase.value,
        counts=tuple(len(hand) for hand in state.hands),
        hand=None if seat is None else state.hands[seat - 1],
        table=_table(state),
        legal_moves=legal_moves(state) if seat is not None and seat == turn else (),
    )


def learned(before: State, after: State, seat: Seat) -> Private | None:
    """The card that the seat drew from the stock; what it takes elsewhere everybody sees."""
    if len(after.stock) == len(before.stock) or seat != before.seat_in_turn:
        return None
    return {"drew": cards_text(before.stock[:1])}


def meld_json(meld: Meld) -> JsonMap:
    """A meld as clients are shown it."""
    return {
        "id": meld.id,
        "seat": meld.seat,
        "kind": meld.kind.value,
        "cards": [
            {"card": card_text(place.card), "as": card_text(place.stands_for)}
            for place in meld.places
        ],
    }


def _table(state: State) -> JsonMap:
    top = card_text(state.discard[-1]) if state.discard else None
    return {
        "stock": len(state.stock),
        "discard": {"top": top, "count": len(state.discard)},
        "wild": state.wild.text,
        "melded": sorted(state.melded),
        "melds": [meld_json(meld) for meld in state.melds],
    }
