"""The log's JSON, and back."""

from collections.abc import Sequence
from typing import assert_never

from service.canonical import Json, JsonMap
from service.cards import card_text, cards_text, parse_card, parse_cards
from service.rules.crazy_rummy.melds import Meld
from service.rules.crazy_rummy.moves import (
    Discard,
    Draw,
    LayDown,
    LayOff,
    Move,
    Source,
    TakeWild,
)
from service.rules.crazy_rummy.options import DiscardTaken, Options
from service.rules.crazy_rummy.state import State, to_act


def encode(state: State) -> JsonMap:
    """The documented form of a state; hands are sorted as text."""
    return {
        "discard": cards_text(state.discard),
        "discard_taken": state.options.discard_taken.value,
        "hands": [sorted(cards_text(hand)) for hand in state.hands],
        "held_before": None if state.held_before is None else card_text(state.held_before),
        "idle": state.idle,
        "melded": sorted(state.melded),
        "melds": [_encode_meld(meld) for meld in state.melds],
        "phase": "over" if state.end else state.phase.value,
        "stock": cards_text(state.stock),
        "taken": None if state.taken is None else card_text(state.taken),
        "to_act": to_act(state),
        "wild": state.wild.text,
        "worked": state.worked,
    }


def _encode_meld(meld: Meld) -> JsonMap:
    return {
        "cards": [[card_text(place.card), card_text(place.stands_for)] for place in meld.places],
        "id": meld.id,
        "kind": meld.kind.value,
        "seat": meld.seat,
    }


def write_move(move: Move) -> JsonMap:
    """The move in house form."""
    match move:
        case Draw(source):
            return {"type": "draw", "from": source.value}
        case LayDown(cards, stands_for):
            meld: JsonMap = {"type": "meld", "cards": cards_text(cards)}
            return meld if stands_for is None else {**meld, "as": cards_text(stands_for)}
        case LayOff(number, card, stands_for):
            laid: JsonMap = {"type": "lay_off", "meld": number, "card": card_text(card)}
            return laid if stands_for is None else {**laid, "as": card_text(stands_for)}
        case TakeWild(number, wild, card):
            exchange: JsonMap = {"type": "take_wild", "meld": number, "wild": card_text(wild)}
            return {**exchange, "card": card_text(card)}
        case Discard(card):
            return {"type": "discard", "card": card_text(card)}
        case _:
            assert_never(move)


def read_move(value: JsonMap) -> Move:  # noqa: PLR0911  one for each form of a move
    """The move that stands in the log; raises ValueError."""
    match value:
        case {"type": "draw", "from": str(source), **rest} if not rest:
            return Draw(Source(source))
        case {"type": "meld", "cards": list(cards), "as": list(stands_for), **rest} if not rest:
            return LayDown(parse_cards(_texts(cards)), parse_cards(_texts(stands_for)))
        case {"type": "meld", "cards": list(cards), **rest} if not rest:
            return LayDown(parse_cards(_texts(cards)))
        case {
            "type": "lay_off",
            "meld": int(meld),
            "card": str(card),
            "as": str(other),
            **rest,
        } if not rest:
            return LayOff(meld, parse_card(card), parse_card(other))
        case {"type": "lay_off", "meld": int(meld), "card": str(card), **rest} if not rest:
            return LayOff(meld, parse_card(card))
        case {
            "type": "take_wild",
            "meld": int(meld),
            "wild": str(wild),
            "card": str(card),
            **rest,
        } if not rest:
            return TakeWild(meld, parse_card(wild), parse_card(card))
        case {"type": "discard", "card": str(card), **rest} if not rest:
            return Discard(parse_card(card))
        case _:
            message = f"no move of Crazy Rummy: {value}"
            raise ValueError(message)


def write_options(options: Options) -> JsonMap:
    """The house rules, the standard ones included."""
    return {"rounds": options.rounds, "discard_taken": options.discard_taken.value}


def read_options(value: JsonMap) -> Options:
    """The house rules that stand in the log; raises ValueError."""
    rounds = value.get("rounds")
    if type(rounds) is not int:
        message = f"{rounds!r} is no whole number."
        raise ValueError(message)
    return Options(rounds=rounds, discard_taken=DiscardTaken(value.get("discard_taken")))


def _texts(values: Sequence[Json]) -> list[str]:
    """The values, all of them text; raises ValueError."""
    texts = [value for value in values if isinstance(value, str)]
    if len(texts) < len(values):
        message = "cards are written as text"
        raise ValueError(message)
    return texts
