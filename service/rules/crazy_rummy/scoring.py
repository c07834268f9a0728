"""What the cards left in the hands cost."""

from service.cards import Card, Rank, rank_of
from service.rules.crazy_rummy.melds import height
from service.rules.crazy_rummy.state import State
from service.rules.ruleset import RoundResult

WILD_POINTS = 25
COURT_POINTS = 10


def round_result(state: State) -> RoundResult | None:
    """Why the round ended, and the points against each seat; None while it goes on.

    Who went out has no cards, and so no points (C20).
    """
    if state.end is None:
        return None
    return RoundResult(
        reason=state.end.reason.value,
        by=state.end.by,
        hands=state.hands,
        points=tuple(sum(card_points(card, state.wild) for card in hand) for hand in state.hands),
    )


def card_points(card: Card, wild: Rank) -> int:
    """Points that a card left in a hand costs (C20).

    A wild card 25, another ace 1, court cards 10, the others their number.
    """
    if rank_of(card) is wild:
        return WILD_POINTS
    return min(height(card) + 1, COURT_POINTS)
