"""The log's JSON, and back."""

from typing import assert_never

from service.canonical import Json, JsonMap
from service.cards import card_text, cards_text, parse_card
from service.rules.jokers_go_boom.moves import Draw, Move, Pass, Play
from service.rules.jokers_go_boom.options import AfterBoom, BoomCall, Options
from service.rules.jokers_go_boom.state import State, to_act

CALL = "BOOM"


def encode(state: State) -> JsonMap:
    """The documented form of a state; hands are sorted as text."""
    options = state.options
    return {
        "after_boom": options.after_boom.value,
        "boom_call": options.boom_call.value,
        "discard": cards_text(state.discard),
        "hands": [sorted(cards_text(hand)) for hand in state.hands],
        "jokers": options.jokers,
        "passes": state.passes,
        "stock": cards_text(state.stock),
        "to_act": to_act(state),
    }


def write_move(move: Move) -> JsonMap:
    """The move in house form."""
    match move:
        case Play(card, call):
            play: JsonMap = {"type": "play", "card": card_text(card)}
            return {**play, "call": CALL} if call else play
        case Draw():
            return {"type": "draw"}
        case Pass():
            return {"type": "pass"}
        case _:
            assert_never(move)


def read_move(value: JsonMap) -> Move:
    """The move that stands in the log; raises ValueError."""
    match value:
        case {"type": "play", "card": str(card), "call": "BOOM", **rest} if not rest:
            return Play(parse_card(card), call=True)
        case {"type": "play", "card": str(card), **rest} if not rest:
            return Play(parse_card(card))
        case {"type": "draw", **rest} if not rest:
            return Draw()
        case {"type": "pass", **rest} if not rest:
            return Pass()
        case _:
            message = f"no move of Jokers Go Boom: {value}"
            raise ValueError(message)


def write_options(options: Options) -> JsonMap:
    """The house rules, the standard ones included."""
    return {
        "jokers": options.jokers,
        "after_boom": options.after_boom.value,
        "boom_call": options.boom_call.value,
        "rounds": options.rounds,
    }


def read_options(value: JsonMap) -> Options:
    """The house rules that stand in the log; raises ValueError."""
    return Options(
        jokers=_integer(value.get("jokers")),
        after_boom=AfterBoom(value.get("after_boom")),
        boom_call=BoomCall(value.get("boom_call")),
        rounds=_integer(value.get("rounds")),
    )


def _integer(value: Json) -> int:
    if type(value) is not int:
        message = f"{value!r} is no whole number."
        raise ValueError(message)
    return value
