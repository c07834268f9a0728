"""What every ruleset owes the service, whatever game it is."""

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import jsonschema_rs
import pytest
from cases import Case, cases, twins_unseen
from play_through import any_deck, round_states

from service.api.describing import json_schema, moves_json_schema
from service.canonical import canonical_text, is_canonical
from service.cards import Seat
from service.rules.registry import UnknownRuleset, current, find, rulesets, schemas_of
from service.rules.ruleset import AnyRuleset
from service.rules.violation import RuleViolation

GAMES = 12


@pytest.fixture(params=cases(), ids=str)
def case(request: pytest.FixtureRequest) -> Case:
    found: Case = request.param
    return found


def rounds_of(case: Case, games: int = GAMES) -> Iterator[tuple[Any, Any, Any]]:
    for seed in range(games):
        yield from round_states(case.ruleset, case.options, case.seats, random.Random(seed))


def test_a_state_and_a_move_always_lead_to_the_same(case: Case) -> None:
    for state, move, outcome in rounds_of(case, 3):
        if move is not None:
            settled = case.ruleset.settle(state, move)
            assert case.ruleset.apply(state, settled)[1] == outcome
            first, second = (case.ruleset.apply(state, settled)[0] for _ in range(2))
            assert first == second
            assert canonical_text(case.ruleset.encode(first)) == canonical_text(
                case.ruleset.encode(second)
            )


def test_listed_moves_are_accepted_and_all_others_refused(case: Case) -> None:
    tried = accepted = 0
    for state, move, _ in rounds_of(case, 4):
        if move is None:
            continue
        listed = {
            canonical_text(case.ruleset.write_move(m)) for m in case.ruleset.legal_moves(state)
        }
        assert listed, "somebody is to act, and has no move"
        for value in case.other_moves(state):
            tried += 1
            is_accepted = accepts(case.ruleset, state, value)
            accepted += is_accepted
            if canonical_text(value) in listed:
                assert is_accepted, value
            elif is_accepted:
                assert case.is_equivalent(state, value, listed), value
    assert tried > accepted > 0


def accepts(ruleset: AnyRuleset, state: Any, value: Any) -> bool:
    try:
        ruleset.apply(state, ruleset.settle(state, ruleset.read_move(value)))
    except RuleViolation as violation:
        assert violation.rule in ruleset.texts["en"]
        return False
    return True


def test_moves_are_listed_once_and_in_an_order_of_their_own(case: Case) -> None:
    for state, move, _ in rounds_of(case, 4):
        if move is not None:
            moves = [
                canonical_text(case.ruleset.write_move(m)) for m in case.ruleset.legal_moves(state)
            ]
            assert len(set(moves)) == len(moves)


def test_cards_are_conserved(case: Case) -> None:
    whole = Counter(case.ruleset.pack(case.options))
    for state, _, _ in rounds_of(case):
        assert Counter(case.all_cards(state)) == whole


def test_every_round_ends_and_is_counted(case: Case) -> None:
    for seed in range(GAMES):
        *_, (last, move, _) = round_states(
            case.ruleset, case.options, case.seats, random.Random(seed)
        )
        result = case.ruleset.round_result(last)
        assert move is None
        assert result is not None
        assert len(result.points) == len(result.hands) == case.seats
        assert case.ruleset.view(last, None).phase == "over"
        assert all(
            not case.ruleset.view(last, Seat(s)).legal_moves for s in range(1, case.seats + 1)
        )


def test_what_the_clock_plays_is_legal_and_brings_every_round_to_its_end(case: Case) -> None:
    def absent(state: Any, moves: Sequence[Any]) -> Any:
        move = case.ruleset.absent_move(state)
        assert move in moves
        return move

    *_, (last, _, _) = round_states(
        case.ruleset, case.options, case.seats, random.Random(1), absent
    )
    assert case.ruleset.round_result(last) is not None


def test_the_steady_bot_plays_legal_moves_to_the_end(case: Case) -> None:
    def steady(state: Any, moves: Sequence[Any]) -> Any:
        view = case.ruleset.view(state, case.ruleset.to_act(state))
        move = case.ruleset.steady(case.options, view)
        assert move in moves
        return move

    for seed in range(GAMES):
        *_, (last, _, _) = round_states(
            case.ruleset, case.options, case.seats, random.Random(seed), steady
        )
        assert case.ruleset.round_result(last) is not None


def test_moves_and_options_are_read_back_from_what_is_written(case: Case) -> None:
    ruleset = case.ruleset
    complete = ruleset.complete(case.options, case.seats)
    assert ruleset.read_options(ruleset.write_options(complete)) == complete
    for _, move, _ in rounds_of(case, 3):
        if move is not None:
            assert ruleset.read_move(ruleset.write_move(move)) == move


def test_all_that_is_hashed_keeps_within_canonical_json(case: Case) -> None:
    for state, move, outcome in rounds_of(case, 2):
        assert is_canonical(case.ruleset.encode(state))
        if move is not None:
            assert is_canonical(case.ruleset.write_move(move))
            assert is_canonical(outcome)


def test_the_schemas_describe_what_the_ruleset_says(case: Case) -> None:
    schemas = schemas_of(case.ruleset)
    moves = jsonschema_rs.Draft202012Validator(moves_json_schema(case.ruleset))
    table = jsonschema_rs.Draft202012Validator(json_schema(schemas.TABLE))
    outcomes = jsonschema_rs.Draft202012Validator(json_schema(schemas.OUTCOME))
    options = jsonschema_rs.Draft202012Validator(json_schema(schemas.OPTIONS))
    options.validate(case.ruleset.write_options(case.ruleset.complete(case.options, case.seats)))
    for state, move, outcome in rounds_of(case, 2):
        table.validate(case.ruleset.view(state, None).table)
        if move is not None:
            value = case.ruleset.write_move(move)
            moves.validate(value)
            outcomes.validate(outcome)
            assert schemas.MOVES[value["type"]].load(dict(value)) == move


def test_a_bystander_is_shown_no_hand(case: Case) -> None:
    for state, _, _ in rounds_of(case, 2):
        view = case.ruleset.view(state, None)
        assert view.hand is None
        assert view.seat is None
        assert list(view.legal_moves) == []


def test_moves_are_listed_for_the_seat_that_is_to_act_and_for_no_other(case: Case) -> None:
    for state, _, _ in rounds_of(case, 2):
        turn = case.ruleset.to_act(state)
        for seat in range(1, case.seats + 1):
            listed = case.ruleset.view(state, Seat(seat)).legal_moves
            assert bool(listed) == (seat == turn)


def test_a_seat_sees_the_same_whatever_the_cards_that_it_can_not_see(case: Case) -> None:
    """Non-interference: worlds that differ in hidden cards alone look alike from the seat."""
    compared = 0
    for seed in range(GAMES):
        deck = any_deck(case.ruleset, case.options, random.Random(seed))
        for seat in range(1, case.seats + 1):
            for one, other in twins_unseen(case, deck, Seat(seat), random.Random(seed)):
                compared += 1
                assert all_that_is_seen(case, one, Seat(seat)) == all_that_is_seen(
                    case, other, Seat(seat)
                )
                assert case.ruleset.encode(one) != case.ruleset.encode(other)
    assert compared > 50


def all_that_is_seen(case: Case, state: Any, seat: Seat) -> Any:
    """Its view, the bystander's, its legal moves, and how its every move would be refused."""
    ruleset = case.ruleset
    view = ruleset.view(state, seat)
    refusals = []
    if ruleset.to_act(state) == seat:
        for value in case.moves_it_could_try(state):
            try:
                ruleset.apply(state, ruleset.settle(state, ruleset.read_move(value)))
            except RuleViolation as violation:
                refusals.append((violation.rule, str(violation)))
            else:
                refusals.append(("accepted", ""))
    return view, ruleset.view(state, None), refusals


def test_a_leak_that_is_planted_is_caught(case: Case) -> None:
    """A view that shows the stock, and one that counts another's court cards, fail the test."""

    def peeking(state: Any, seat: Seat | None) -> Any:
        view = case.ruleset.view(state, seat)
        return replace(view, table={**view.table, "next": case.ruleset.encode(state)["stock"]})

    def counting(state: Any, seat: Seat | None) -> Any:
        view = case.ruleset.view(state, seat)
        hands: Any = case.ruleset.encode(state)["hands"]
        return replace(view, table={**view.table, "hint": sum(c[0] in "AKQ" for c in hands[-1])})

    for leak in (peeking, counting):
        leaky = replace(case, ruleset=replace(case.ruleset, view=leak))
        with pytest.raises(AssertionError):
            test_a_seat_sees_the_same_whatever_the_cards_that_it_can_not_see(leaky)


def test_every_language_has_every_rule(case: Case) -> None:
    texts = case.ruleset.texts
    assert "en" in texts
    for language, rules in texts.items():
        assert list(rules) == list(texts["en"]), language
        assert all(text.strip() for text in rules.values())


def test_a_ruleset_is_found_by_its_name_and_version() -> None:
    for (name, version), ruleset in rulesets().items():
        assert find(name, version) is ruleset
    for name, ruleset in current().items():
        assert find(name) is ruleset
        assert (ruleset.name, ruleset.version) in rulesets()
    with pytest.raises(UnknownRuleset):
        find("snap")
    with pytest.raises(UnknownRuleset):
        find("jokers-go-boom", "0")


def test_every_ruleset_has_cases() -> None:
    assert {case.ruleset.name for case in cases()} == set(current())
