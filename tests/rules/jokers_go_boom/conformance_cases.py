"""Jokers Go Boom in the conformance suite: every option value, each number of seats."""

from collections.abc import Sequence
from itertools import chain
from typing import Any

from rules.conformance.cases import Case

from service.canonical import canonical_text
from service.cards import Card, card_text, pack
from service.rules.jokers_go_boom import RULESET
from service.rules.jokers_go_boom.options import AfterBoom, BoomCall, Options
from service.rules.jokers_go_boom.state import State


def other_moves(_state: State) -> Sequence[Any]:
    """Every move that there is."""
    cards = [{"type": "play", "card": card_text(card)} for card in pack(8)]
    calls = [{**move, "call": "BOOM"} for move in cards]
    return [*cards, *calls, {"type": "draw"}, {"type": "pass"}]


def some_moves() -> Sequence[Any]:
    cards = [{"type": "play", "card": card} for card in ("2c", "9d", "Qh", "As", "X1", "X8")]
    return [*cards, {**cards[-1], "call": "BOOM"}, {"type": "draw"}, {"type": "pass"}]


def may_be_accepted(view: Any, move: Any) -> bool:
    """Whether the move is listed, or is one that is listed with its call."""
    return move in view["legal_moves"] or {**move, "call": "BOOM"} in view["legal_moves"]


def is_equivalent(_state: State, move: Any, listed: set[str]) -> bool:
    """G17: where the call is asked for, a boom card is accepted without it, though not listed."""
    return canonical_text({**move, "call": "BOOM"}) in listed


def all_cards(state: State) -> Sequence[Card]:
    return [*chain(*state.hands), *state.stock, *state.discard]


def _case(seats: int, options: Options) -> Case:
    return Case(
        ruleset=RULESET,
        seats=seats,
        options=options,
        other_moves=other_moves,
        is_equivalent=is_equivalent,
        all_cards=all_cards,
        moves_it_could_try=other_moves,
        moves_anybody_could_try=some_moves,
        may_be_accepted=may_be_accepted,
    )


CASES = [
    *(_case(seats, Options()) for seats in RULESET.seats),
    *(_case(3, Options(jokers=jokers)) for jokers in (0, 1, 8)),
    _case(4, Options(after_boom=AfterBoom.CARD_BELOW)),
    _case(4, Options(boom_call=BoomCall.REQUIRED)),
    _case(3, Options(jokers=0, after_boom=AfterBoom.CARD_BELOW, boom_call=BoomCall.REQUIRED)),
]
