"""The worked positions: what must follow, or which rule refuses."""

import json
from typing import Any

import pytest
from conftest import VECTORS
from table import hand, options_of

from service.cards import Seat, cards_text, parse_cards
from service.rules.jokers_go_boom import RULESET
from service.rules.jokers_go_boom.state import State
from service.rules.violation import RuleViolation

POSITIONS = json.loads((VECTORS / "positions-go-boom.json").read_text())


def given(position: dict[str, Any]) -> State:
    held = position["given"]
    return State(
        options=options_of(position["options"]),
        hands=tuple(
            tuple(sorted(parse_cards(held["hands"][seat]))) for seat in sorted(held["hands"])
        ),
        stock=parse_cards(held["stock"]),
        discard=parse_cards(held["discard"]),
        seat_in_turn=Seat(held["to_act"]),
        passes=held["passes"],
    )


def refusal(state: State, seat: int, move: Any) -> tuple[State, str | None]:
    if RULESET.to_act(state) != seat:
        return state, "turn"
    try:
        after, _ = RULESET.apply(state, RULESET.read_move(move))
    except RuleViolation as violation:
        return state, violation.rule
    return after, None


@pytest.mark.parametrize("position", POSITIONS, ids=lambda position: position["id"])
def test_a_worked_position(position: dict[str, Any]) -> None:
    state, expected = given(position), position["expect"]
    for index, (seat, move) in enumerate(position["steps"]):
        state, rule = refusal(state, seat, move)
        if rule is not None:
            assert expected["refused_at"] == index
            assert rule in expected["rules"]
            return
    assert "refused_at" not in expected
    for seat, cards in expected["hands"].items():
        assert sorted(hand(state, int(seat))) == cards
    assert cards_text(state.stock) == expected["stock"]
    assert cards_text(state.discard) == expected["discard"]
    if "round_over" in expected:
        result = RULESET.round_result(state)
        assert result is not None
        assert result.reason == expected["round_over"]
        assert {str(s): p for s, p in enumerate(result.points, 1)} == expected["points"]
    else:
        assert RULESET.to_act(state) == expected["to_act"]
        assert state.passes == expected["passes"]
