"""Playing games in tests: by the rules alone, and over HTTP."""

import random
from collections.abc import Callable, Iterator, Sequence
from datetime import timedelta
from typing import Any

from service.cards import Card, Seat
from service.play.services import Services
from service.rules.ruleset import AnyRuleset, Round
from service.worker.bots import sweep

TURNS_AT_MOST = 5_000


def any_deck(ruleset: AnyRuleset, options: Any, chance: random.Random) -> tuple[Card, ...]:
    pack = ruleset.pack(options)
    return tuple(chance.sample(pack, len(pack)))


def round_states(
    ruleset: AnyRuleset,
    options: Any,
    seats: int,
    chance: random.Random,
    choose: Callable[[Any, Sequence[Any]], Any] | None = None,
) -> Iterator[tuple[Any, Any, Any]]:
    """A round of random legal moves: each state, the move made in it or None, its outcome."""
    deck = any_deck(ruleset, options, chance)
    state = ruleset.deal(options, Round(1, Seat(chance.randint(1, seats)), seats), deck)
    for _ in range(TURNS_AT_MOST):
        if ruleset.to_act(state) is None:
            yield state, None, None
            return
        moves = ruleset.legal_moves(state)
        move = choose(state, moves) if choose else chance.choice(moves)
        after, outcome = ruleset.apply(state, ruleset.settle(state, move))
        yield state, move, outcome
        state = after
    raise AssertionError("the round does not end")


def play_on(services: Services, people: Sequence[Any], game: str, chance: random.Random) -> Any:
    """Play the game to its end with random legal moves of the people in it; the last view."""
    for _ in range(TURNS_AT_MOST):
        view = people[0].view(game)
        if view["status"] != "active":
            return view
        mover = next((p for p in people if p.id == _player_to_act(view)), None)
        if mover is None:
            sweep(services, timedelta(0))
            continue
        own = mover.view(game)
        answer = mover.move(game, chance.choice(own["legal_moves"]))
        assert answer.status_code == 201, answer.text
    raise AssertionError("the game does not end")


def _player_to_act(view: Any) -> str | None:
    seat = view["to_act"]
    return view["seats"][seat - 1]["player"].get("id") if seat else None
