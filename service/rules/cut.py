"""The cut for the first deal, as both rules pages play it: the lowest card deals."""

from collections.abc import Callable, Sequence

from service.cards import Card, Rank, Seat, rank_of
from service.rules.ruleset import Cut


def lowest_deals(pack: Sequence[Card], seats: int, height: Callable[[Rank], int]) -> Cut:
    """Show each seat a card; the lowest by `height` deals.

    Seats that tie for the lowest are shown the next cards, in seat order,
    until one is left.
    """
    shown: list[tuple[Seat, Card]] = []
    tied = [Seat(seat) for seat in range(1, seats + 1)]
    while len(tied) > 1:
        cards = pack[len(shown) : len(shown) + len(tied)]
        turned = list(zip(tied, cards, strict=True))
        shown += turned
        lowest = min(height(rank_of(card)) for _, card in turned)
        tied = [seat for seat, card in turned if height(rank_of(card)) == lowest]
    return Cut(tied[0], tuple(shown))
