"""What may be played, and what the clock plays for a seat that is away."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from service.cards import JOKERS_AT_MOST, Card, pack, rank_of, suit_of
from service.rules.jokers_go_boom.moves import Draw, Move, Pass, Play
from service.rules.jokers_go_boom.options import BoomCall, boom_cards
from service.rules.jokers_go_boom.state import State, booms, card_to_follow

EVERY_CARD = frozenset(pack(JOKERS_AT_MOST))

FOLLOWERS: Mapping[Card | None, frozenset[Card]] = MappingProxyType(
    {
        None: EVERY_CARD,
        **{
            top: frozenset(
                card
                for card in pack()
                if suit_of(card) == suit_of(top) or rank_of(card) == rank_of(top)
            )
            for top in pack()
        },
    }
)
"""The cards that follow suit or rank of each card (G7); on a joker every card does (G10)."""


def legal_moves(state: State) -> Sequence[Move]:
    """Plays by suit and rank, jokers last; then the draw or the pass.

    A boom card is listed with the call where the call is asked for (G17).
    """
    if state.end:
        return ()
    hand, matching = state.hand, followers(state)
    playable = matching | boom_cards(state.options)
    plays = [_play(state, card) for card in hand if card in playable]
    if not matching.isdisjoint(hand):
        return plays
    if state.stock:
        return [*plays, Draw()]
    return plays or [Pass()]


def absent_move(state: State) -> Move:
    """Draw or pass if that is allowed, else the first play that is no boom, else the first."""
    moves = legal_moves(state)
    if not isinstance(moves[-1], Play):
        return moves[-1]
    return next((move for move in moves if not _is_boom(state, move)), moves[0])


def followers(state: State) -> frozenset[Card]:
    """The cards that follow the card to follow (G7, G10)."""
    return FOLLOWERS[card_to_follow(state)]


def may_play(state: State, card: Card) -> bool:
    """Whether a card of the hand may be played: it follows, or it is a boom card (G9)."""
    return card in followers(state) or booms(state, card)


def must_play(state: State) -> bool:
    """Whether the hand holds a card that follows; a boom card alone is no duty (G7, G8)."""
    return not followers(state).isdisjoint(state.hand)


def _play(state: State, card: Card) -> Play:
    call = state.options.boom_call is BoomCall.REQUIRED and booms(state, card)
    return Play(card, call)


def _is_boom(state: State, move: Move) -> bool:
    return isinstance(move, Play) and booms(state, move.card)
