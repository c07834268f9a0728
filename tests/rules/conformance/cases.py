"""The cases of the conformance suite: each ruleset with its seats and its options.

A ruleset brings a module `conformance` in its folder of tests, with a list
CASES; nothing here names a game.
"""

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from service.cards import Card, Seat, card_text
from service.rules.ruleset import AnyRuleset, Round
from service.rules.violation import RuleViolation

SWAPS_TRIED = 30


@dataclass(frozen=True)
class Case:
    """A ruleset under some options.

    other_moves(state): moves to try in it, legal and not, as JSON.
    is_equivalent(state, move, listed): whether an unlisted move may be
        accepted, because the rules name it as an equal of one that is listed.
    all_cards(state): where every card is.
    moves_it_could_try(state): moves that the seat to act could think of by what it sees.
    moves_anybody_could_try(): some moves to send over HTTP, legal and not.
    may_be_accepted(view, move): whether a seat that is shown the view might get the move accepted.
    """

    ruleset: AnyRuleset
    seats: int
    options: Any
    other_moves: Callable[[Any], Sequence[Any]]
    is_equivalent: Callable[[Any, Any, set[str]], bool]
    all_cards: Callable[[Any], Sequence[Card]]
    moves_it_could_try: Callable[[Any], Sequence[Any]]
    moves_anybody_could_try: Callable[[], Sequence[Any]]
    may_be_accepted: Callable[[Any, Any], bool]

    def __str__(self) -> str:
        return f"{self.ruleset.name}-{self.seats}-{self.options}"


def cases() -> list[Case]:
    """The cases of every ruleset that has any."""
    folders = sorted(Path(__file__).parent.parent.glob("*/conformance_cases.py"))
    return [case for folder in folders for case in _load(folder)]


def _load(path: Path) -> list[Case]:
    module = import_module(f"rules.{path.parent.name}.conformance_cases")
    found: list[Case] = module.CASES
    return found


def twins_unseen(
    case: Case, deck: Sequence[Card], seat: Seat, chance: random.Random
) -> Iterator[tuple[Any, Any]]:
    """Pairs of states that differ in cards that the seat can't have seen, and in nothing else.

    The same moves are played from two decks. The second has some of the cards
    swapped that are hidden from the seat at the end of those moves: a world
    that is possible for all that the seat knows, if every move in it is legal
    and shows the same.
    """
    for one, other, moves in twins_unseen_with_moves(case, deck, seat, chance):
        yield _after(case, one, moves), _after(case, other, moves)


def twins_unseen_with_moves(
    case: Case, deck: Sequence[Card], seat: Seat, chance: random.Random
) -> Iterator[tuple[Sequence[Card], Sequence[Card], list[Any]]]:
    """The same as decks, with the moves that are played from them."""
    for length in (0, 1, 3, 6, 10, 16, 24):
        moves = _moves_from(case, deck, length, chance)
        state = _after(case, deck, moves)
        if state is None:
            return
        hidden = _hidden_places(case, deck, state, seat)
        for _ in range(SWAPS_TRIED):
            other = _shuffled_at(deck, chance.sample(hidden, min(len(hidden), 6)), chance)
            twin = _after(case, other, moves)
            if (
                twin is not None
                and twin != state
                and _shows_the_same(case, deck, other, moves, seat)
            ):
                yield deck, other, moves
                break


def _deal(case: Case, deck: Sequence[Card]) -> Any:
    return case.ruleset.deal(case.options, Round(1, Seat(1), case.seats), deck)


def _moves_from(case: Case, deck: Sequence[Card], length: int, chance: random.Random) -> list[Any]:
    state, moves = _deal(case, deck), []
    while len(moves) < length and case.ruleset.to_act(state) is not None:
        move = chance.choice(case.ruleset.legal_moves(state))
        state, _ = case.ruleset.apply(state, case.ruleset.settle(state, move))
        moves.append(move)
    return moves


def _after(case: Case, deck: Sequence[Card], moves: Sequence[Any]) -> Any:
    """The state after the moves; None if they are not all legal, or the round is over."""
    state = _deal(case, deck)
    for move in moves:
        if case.ruleset.to_act(state) is None:
            return None
        try:
            state, _ = case.ruleset.apply(state, case.ruleset.settle(state, move))
        except RuleViolation:
            return None
    return None if case.ruleset.to_act(state) is None else state


def _shows_the_same(
    case: Case, deck: Sequence[Card], other: Sequence[Card], moves: Sequence[Any], seat: Seat
) -> bool:
    """Whether everything that the seat was told on the way is the same in both worlds."""
    return _told(case, deck, moves, seat) == _told(case, other, moves, seat)


def _told(case: Case, deck: Sequence[Card], moves: Sequence[Any], seat: Seat) -> list[Any]:
    ruleset, state = case.ruleset, _deal(case, deck)
    told: list[Any] = [ruleset.facts(state), ruleset.view(state, seat).hand]
    for move in moves:
        after, outcome = ruleset.apply(state, ruleset.settle(state, move))
        told += [outcome, ruleset.learned(state, after, seat)]
        state = after
    return told


def _hidden_places(case: Case, deck: Sequence[Card], state: Any, seat: Seat) -> list[int]:
    """The places in the deck whose cards are in the stock or in another hand."""
    encoded = case.ruleset.encode(state)
    others = [hand for index, hand in enumerate(encoded["hands"], 1) if index != seat]  # type: ignore[arg-type]
    hidden = {card for hand in [*others, encoded["stock"]] for card in hand}  # type: ignore[union-attr]
    return [place for place, card in enumerate(deck) if card_text(card) in hidden]


def _shuffled_at(deck: Sequence[Card], places: Sequence[int], chance: random.Random) -> list[Card]:
    cards, moved = list(deck), [deck[place] for place in places]
    chance.shuffle(moved)
    for place, card in zip(places, moved, strict=True):
        cards[place] = card
    return cards
