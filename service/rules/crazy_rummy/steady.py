"""The steady player: melds and lays off what it can, keeps what helps, sheds what is dear."""

from collections.abc import Sequence
from typing import Any

from service.cards import Card, Rank, parse_card, rank_of, suit_of
from service.rules.crazy_rummy.melds import height
from service.rules.crazy_rummy.moves import (
    Discard,
    Draw,
    LayDown,
    LayOff,
    Move,
    Source,
    TakeWild,
)
from service.rules.crazy_rummy.options import Options
from service.rules.crazy_rummy.scoring import card_points
from service.rules.ruleset import View

NEAR_THE_END = 2
"""With so few cards left in another hand, points count for more than hopes."""


def steady(_options: Options, view: View[Move]) -> Move:
    """A sensible move by what can be seen from the seat."""
    table: Any = view.table
    wild = next(rank for rank in Rank if rank.text == table["wild"])
    hand = view.hand or ()
    moves = view.legal_moves
    if isinstance(moves[0], Draw):
        return _draw(view, wild, hand)
    melds = [move for move in moves if isinstance(move, LayDown)]
    if melds:
        return max(melds, key=lambda meld: _shed(meld.cards, wild))
    for kind in (TakeWild, LayOff):
        useful = [move for move in moves if isinstance(move, kind) and _is_plain(move, wild)]
        if useful:
            return useful[0]
    return _discard(view, wild, hand)


def _draw(view: View[Move], wild: Rank, hand: Sequence[Card]) -> Move:
    """The discard pile's top if it is wild or completes what two cards of the hand began."""
    table: Any = view.table
    if Draw(Source.DISCARD) not in view.legal_moves:
        return view.legal_moves[0]
    top = parse_card(table["discard"]["top"])
    is_welcome = rank_of(top) is wild or _neighbours(top, hand) > 1
    return Draw(Source.DISCARD if is_welcome else Source.STOCK)


def _discard(view: View[Move], wild: Rank, hand: Sequence[Card]) -> Move:
    """The card that helps least; near somebody's end, the dearest."""
    others = [count for seat, count in enumerate(view.counts, 1) if seat != view.seat]
    is_late = min(others) <= NEAR_THE_END
    discards = [move for move in view.legal_moves if isinstance(move, Discard)]

    def worth(move: Discard) -> tuple[bool, int, int]:
        hope = 0 if is_late else _neighbours(move.card, hand)
        return rank_of(move.card) is not wild, -hope, card_points(move.card, wild)

    return max(discards, key=worth)


def _shed(cards: Sequence[Card], wild: Rank) -> tuple[int, int]:
    """How good a meld is: few wild cards, then many points off the hand."""
    wilds = sum(rank_of(card) is wild for card in cards)
    return -wilds, sum(card_points(card, wild) for card in cards)


def _is_plain(move: Move, wild: Rank) -> bool:
    """Whether the move spends no wild card: those are kept for melds."""
    return not isinstance(move, LayOff) or rank_of(move.card) is not wild


def _neighbours(card: Card, hand: Sequence[Card]) -> int:
    """How many other cards of the hand could be in a meld with the card."""
    return sum(other != card and _is_near(card, other) for other in hand)


def _is_near(card: Card, other: Card) -> bool:
    if rank_of(card) == rank_of(other):
        return True
    return suit_of(card) == suit_of(other) and abs(height(card) - height(other)) <= NEAR_THE_END
