"""Positions of Jokers Go Boom written down as text."""

from typing import Any

from service.cards import Seat, cards_text, parse_cards
from service.rules.jokers_go_boom import RULESET
from service.rules.jokers_go_boom.options import AfterBoom, BoomCall, Options
from service.rules.jokers_go_boom.state import State
from service.rules.violation import RuleViolation


def options_of(named: dict[str, Any]) -> Options:
    known = dict(named)
    if "after_boom" in known:
        known["after_boom"] = AfterBoom(known["after_boom"])
    if "boom_call" in known:
        known["boom_call"] = BoomCall(known["boom_call"])
    return Options(**known)


def position(
    *hands: str,
    discard: str,
    stock: str = "",
    to_act: int = 1,
    passes: int = 0,
    **options: Any,
) -> State:
    """A position: each hand, the discard pile (top last) and the stock (top first) as text."""
    return State(
        options=options_of(options),
        hands=tuple(tuple(sorted(parse_cards(hand.split()))) for hand in hands),
        stock=parse_cards(stock.split()),
        discard=parse_cards(discard.split()),
        seat_in_turn=Seat(to_act),
        passes=passes,
    )


def played(state: State, *moves: dict[str, Any]) -> State:
    """The state after the moves."""
    for move in moves:
        state, _ = RULESET.apply(state, RULESET.read_move(move))
    return state


def refused_by(state: State, move: dict[str, Any]) -> str | None:
    """The rule that refuses the move; None if it is accepted."""
    try:
        RULESET.apply(state, RULESET.read_move(move))
    except RuleViolation as violation:
        return violation.rule
    return None


def play(card: str, **call: str) -> dict[str, Any]:
    return {"type": "play", "card": card, **call}


DRAW = {"type": "draw"}
PASS = {"type": "pass"}


def listed(state: State) -> list[str]:
    """The legal moves, shortly: cards, `draw`, `pass`; a call is marked with `!`."""
    short = []
    for move in map(RULESET.write_move, RULESET.legal_moves(state)):
        call = "!" if "call" in move else ""
        short.append(f"{move['card']}{call}" if move["type"] == "play" else str(move["type"]))
    return short


def hand(state: State, seat: int) -> list[str]:
    return cards_text(state.hands[seat - 1])
