"""What the cards left in the hands cost."""

from service.cards import Card, Rank, is_joker, rank_of
from service.rules.jokers_go_boom.state import State
from service.rules.ruleset import RoundResult

JOKER_POINTS = 20
ACE_POINTS = 15
COURT_POINTS = 10


def round_result(state: State) -> RoundResult | None:
    """Why the round ended, and the points against each seat; None while it goes on.

    Who went out has no cards, and so no points (G14).
    """
    if state.end is None:
        return None
    return RoundResult(
        reason=state.end.reason.value,
        by=state.end.by,
        hands=state.hands,
        points=tuple(sum(map(card_points, hand)) for hand in state.hands),
    )


def card_points(card: Card) -> int:
    """Points that a card left in a hand costs (G14).

    A joker 20, an ace 15, king, queen, jack and ten 10, the others their number.
    """
    if is_joker(card):
        return JOKER_POINTS
    rank = rank_of(card)
    if rank is Rank.ACE:
        return ACE_POINTS
    return min(rank + 2, COURT_POINTS)
