"""The steady player: sheds its dearest cards, and booms when it hurts."""

from collections import Counter
from collections.abc import Sequence

from service.cards import Card, is_joker, suit_of
from service.rules.jokers_go_boom.moves import Move, Play
from service.rules.jokers_go_boom.options import Options, is_boom_card
from service.rules.jokers_go_boom.scoring import card_points
from service.rules.ruleset import View

SHORT_HAND = 3
"""With so few cards left in another hand it is time to boom, and to be rid of the boom card."""


def steady(options: Options, view: View[Move]) -> Move:
    """A sensible move by what can be seen from the seat.

    An ordinary card goes first, the dearest, of the suit that the hand holds
    most of. A boom card is kept until somebody is near the end, or until it
    is all that can be played.
    """
    plays = [move for move in view.legal_moves if isinstance(move, Play)]
    if not plays:
        return view.legal_moves[0]
    booms = [play for play in plays if is_boom_card(options, play.card)]
    ordinary = [play for play in plays if play not in booms]
    if booms and (not ordinary or _somebody_is_short(view)):
        return booms[0]
    return max(ordinary, key=lambda play: _worth(play.card, view.hand or ()))


def _somebody_is_short(view: View[Move]) -> bool:
    others = (count for seat, count in enumerate(view.counts, 1) if seat != view.seat)
    return min(others) <= SHORT_HAND


def _worth(card: Card, hand: Sequence[Card]) -> tuple[int, int]:
    """How glad one is to be rid of the card: its points, then how well its suit goes on."""
    suits = Counter(suit_of(held) for held in hand if not is_joker(held))
    return card_points(card), suits[suit_of(card)]
