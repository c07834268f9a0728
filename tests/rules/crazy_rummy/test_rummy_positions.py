"""The worked positions: what must follow, or which rule refuses."""

import json
from typing import Any

import pytest
from conftest import VECTORS
from rummy_table import meld_of, options_of, refusal

from service.cards import Seat, cards_text, parse_cards
from service.rules.crazy_rummy import RULESET
from service.rules.crazy_rummy.melds import rank_for_round
from service.rules.crazy_rummy.state import Phase, State

POSITIONS = json.loads((VECTORS / "positions-crazy-rummy.json").read_text())


def given(position: dict[str, Any]) -> State:
    held = position["given"]
    return State(
        options=options_of(position["options"]),
        wild=rank_for_round(held["round"]),
        hands=tuple(
            tuple(sorted(parse_cards(held["hands"][seat]))) for seat in sorted(held["hands"])
        ),
        stock=parse_cards(held["stock"]),
        discard=parse_cards(held["discard"]),
        melds=tuple(
            meld_of(int(number), " ".join(f"{p['card']}={p['as']}" for p in places))
            for number, places in held["melds"].items()
        ),
        melded=frozenset(map(Seat, held["melded"])),
        seat_in_turn=Seat(held["to_act"]),
        phase=Phase(held["phase"]),
    )


def by_what_it_is(places: list[dict[str, str]]) -> list[tuple[str, str]]:
    return sorted((place["as"], place["card"]) for place in places)


@pytest.mark.parametrize("position", POSITIONS, ids=lambda position: position["id"])
def test_a_worked_position(position: dict[str, Any]) -> None:
    state, expected = given(position), position["expect"]
    for index, (seat, move) in enumerate(position["steps"]):
        if RULESET.to_act(state) != seat:
            assert (expected["refused_at"], expected["rules"]) == (index, ["turn"])
            return
        violation = refusal(state, move)
        if violation is not None:
            assert expected["refused_at"] == index, violation
            assert violation.rule in expected["rules"]
            return
        state, _ = RULESET.apply(state, RULESET.settle(state, RULESET.read_move(move)))
    assert "refused_at" not in expected
    for seat, cards in expected["hands"].items():
        assert sorted(cards_text(state.hands[int(seat) - 1])) == cards
    assert cards_text(state.stock) == expected["stock"]
    assert cards_text(state.discard) == expected["discard"]
    shown: Any = RULESET.view(state, None).table
    assert {str(m["id"]): by_what_it_is(m["cards"]) for m in shown["melds"]} == {
        number: by_what_it_is(places) for number, places in expected["melds"].items()
    }
    assert shown["melded"] == expected["melded"]
    if "round_over" in expected:
        result = RULESET.round_result(state)
        assert result is not None
        assert result.reason == expected["round_over"]
        assert {str(s): p for s, p in enumerate(result.points, 1)} == expected["points"]
    else:
        assert RULESET.to_act(state) == expected["to_act"]
        assert RULESET.view(state, None).phase == expected["phase"]
