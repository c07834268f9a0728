"""What may be played, and what the clock plays for a seat that is away."""

from collections.abc import Sequence

from service.cards import Card, is_joker, rank_of, suit_of
from service.rules.jokers_go_boom.moves import Draw, Move, Pass, Play
from service.rules.jokers_go_boom.options import BoomCall
from service.rules.jokers_go_boom.state import State, booms, card_to_follow


def legal_moves(state: State) -> Sequence[Move]:
    """Plays by suit and rank, jokers last; then the draw or the pass.

    A boom card is listed with the call where the call is asked for (G17).
    """
    if state.end:
        return ()
    followed = card_to_follow(state)
    plays = [_play(state, card) for card in state.hand if may_play(state, card, followed)]
    if must_play(state, followed):
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


def matches(card: Card, followed: Card | None) -> bool:
    """Whether the card follows suit or rank (G7); on a joker every card does (G10)."""
    if followed is None:
        return True
    if is_joker(card):
        return False
    return suit_of(card) == suit_of(followed) or rank_of(card) == rank_of(followed)


def may_play(state: State, card: Card, followed: Card | None) -> bool:
    """Whether a card of the hand may be played: it follows, or it is a boom card (G9)."""
    return matches(card, followed) or booms(state, card)


def must_play(state: State, followed: Card | None) -> bool:
    """Whether the hand holds a card that follows; a boom card alone is no duty (G7, G8)."""
    return any(matches(card, followed) for card in state.hand)


def _play(state: State, card: Card) -> Play:
    call = booms(state, card) and state.options.boom_call is BoomCall.REQUIRED
    return Play(card, call=call)


def _is_boom(state: State, move: Move) -> bool:
    return isinstance(move, Play) and booms(state, move.card)
