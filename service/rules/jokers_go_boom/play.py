"""Playing, drawing, passing: what each move does to a round, and why it may be refused."""

from dataclasses import replace
from itertools import islice
from typing import TypeAlias, assert_never

from service.cards import Card, Seat, card_text, clockwise, next_seat, rank_of, suit_of
from service.rules.jokers_go_boom.legal import may_play, must_play
from service.rules.jokers_go_boom.moves import Draw, Move, Pass, Play
from service.rules.jokers_go_boom.options import BoomCall
from service.rules.jokers_go_boom.state import EndReason, RoundEnd, State, booms, card_to_follow
from service.rules.ruleset import Outcome
from service.rules.violation import RuleViolation

Turned: TypeAlias = tuple[State, Outcome]


def settle(_state: State, move: Move) -> Move:
    """The move as it is: nothing in Jokers Go Boom is left to be understood."""
    return move


def reveals(_state: State, _move: Move) -> bool:
    """Every move ends its turn, so none may be followed by another in a batch."""
    return True


def apply(state: State, move: Move) -> Turned:
    """The round after the move of the seat whose turn it is.

    Raises RuleViolation with the number of the rule that forbids it.
    """
    if state.end:
        raise RuleViolation("G12", "The round is over.")
    match move:
        case Play():
            return _play(state, move)
        case Draw():
            return _draw(state)
        case Pass():
            return _pass(state)
        case _:
            assert_never(move)


def _play(state: State, move: Play) -> Turned:
    """Put the card on the discard pile; the last card ends the round (G7, G9, G12)."""
    _refuse_unless_playable(state, move.card)
    _refuse_stray_call(state, move)
    seat = state.seat_in_turn
    hand = tuple(card for card in state.hand if card != move.card)
    played = replace(
        state,
        hands=_with_hand(state.hands, seat, hand),
        discard=(*state.discard, move.card),
        passes=0,
        seat_in_turn=seat if not hand else next_seat(seat, len(state.hands)),
        end=None if hand else RoundEnd(EndReason.WENT_OUT, seat),
    )
    return _boom(played, seat) if _is_called(state, move) else (played, {})


def _draw(state: State) -> Turned:
    """Draw one card; the turn ends even if the card fits (G8)."""
    if not state.stock:
        raise RuleViolation("G11", "The stock is empty: play a card, or pass if you can't.")
    if must_play(state):
        raise RuleViolation("G7", "You hold a card that may be played: you must play.")
    seat = state.seat_in_turn
    return _next_turn(_drawn(state, seat)), {"drew": [seat]}


def _pass(state: State) -> Turned:
    """Pass; when every player in turn has passed the round is over (G11, G13)."""
    if state.stock:
        raise RuleViolation("G11", "Nobody passes while the stock has cards: draw one.")
    if any(may_play(state, card) for card in state.hand):
        raise RuleViolation("G11", "You can play a card, so you must.")
    passed = replace(state, passes=state.passes + 1)
    if passed.passes == len(state.hands):
        return replace(passed, end=RoundEnd(EndReason.BLOCKED)), {}
    return _next_turn(passed), {}


def _refuse_unless_playable(state: State, card: Card) -> None:
    if card not in state.hand:
        raise RuleViolation("G7", "You don't hold {card}.", card=card_text(card))
    followed = card_to_follow(state)
    if followed is not None and not may_play(state, card):
        raise RuleViolation(
            "G7",
            "{card} follows neither suit nor rank: play a card of suit {suit} or of rank {rank}, "
            "or a boom card.",
            card=card_text(card),
            suit=suit_of(followed).text,
            rank=rank_of(followed).text,
        )


def _refuse_stray_call(state: State, move: Play) -> None:
    """Refuse a call where nothing booms, or where the table calls by itself (G17)."""
    if not move.call:
        return
    if not booms(state, move.card):
        raise RuleViolation("G17", "{card} is no boom card.", card=card_text(move.card))
    if state.options.boom_call is BoomCall.AUTOMATIC:
        raise RuleViolation("G17", "In this game the table calls the boom: leave the call out.")


def _is_called(state: State, move: Play) -> bool:
    """Whether the played card booms: a boom card, called by the table or by its player (G17)."""
    called = move.call or state.options.boom_call is BoomCall.AUTOMATIC
    return called and booms(state, move.card)


def _boom(state: State, boomer: Seat) -> Turned:
    """Every other player draws one, clockwise from the left, as long as the stock lasts (G9)."""
    seats = len(state.hands)
    others = islice(clockwise(boomer, seats), seats - 1)
    drew = [seat for seat, _ in zip(others, state.stock, strict=False)]
    for seat in drew:
        state = _drawn(state, seat)
    return state, {"boom": True, "drew": drew}


def _drawn(state: State, seat: Seat) -> State:
    """The seat holds the top card of the stock as well."""
    top, stock = state.stock[0], state.stock[1:]
    hand = tuple(sorted((*state.hands[seat - 1], top)))
    return replace(state, hands=_with_hand(state.hands, seat, hand), stock=stock)


def _next_turn(state: State) -> State:
    return replace(state, seat_in_turn=next_seat(state.seat_in_turn, len(state.hands)))


def _with_hand(
    hands: tuple[tuple[Card, ...], ...], seat: Seat, hand: tuple[Card, ...]
) -> tuple[tuple[Card, ...], ...]:
    return (*hands[: seat - 1], hand, *hands[seat:])
