"""What a seat, or a bystander, can see of a round."""

from service.canonical import JsonMap
from service.cards import Seat, card_text, cards_text, rank_of, suit_of
from service.rules.jokers_go_boom.legal import legal_moves
from service.rules.jokers_go_boom.moves import Move
from service.rules.jokers_go_boom.state import State, card_to_follow, to_act
from service.rules.ruleset import Private, View


def view(state: State, seat: Seat | None) -> View[Move]:
    """The table and the number of cards in each hand; a seat's own hand is added for it."""
    turn = to_act(state)
    return View(
        seat=seat,
        to_act=turn,
        phase="over" if turn is None else "play",
        counts=tuple(len(hand) for hand in state.hands),
        hand=None if seat is None else state.hands[seat - 1],
        table=_table(state),
        legal_moves=legal_moves(state) if seat is not None and seat == turn else (),
    )


def learned(before: State, after: State, seat: Seat) -> Private | None:
    """The cards that the seat drew, by its own turn or by another's boom (G8, G9)."""
    held = before.hands[seat - 1]
    drew = [card for card in after.hands[seat - 1] if card not in held]
    return {"drew": cards_text(drew)} if drew else None


def _table(state: State) -> JsonMap:
    followed = card_to_follow(state)
    return {
        "stock": len(state.stock),
        "discard": {"top": card_text(state.discard[-1]), "count": len(state.discard)},
        "follow": None
        if followed is None
        else {"suit": suit_of(followed).text, "rank": rank_of(followed).text},
    }
