"""(c) The rules alone, beside OpenSpiel's crazy_eights and RLCard's uno, on the same core, in turn.

Peers play other rules, so this is an order of magnitude, no contest.
"""

import random
import statistics
import time
from collections.abc import Callable
from typing import Any

from service.cards import Seat
from service.rules.registry import current
from service.rules.ruleset import AnyRuleset, Round

SECONDS = 1.0
ROUNDS = 5


def main() -> None:
    print("| engine | random playouts, moves/s | replay, moves/s |")
    print("|---|---|---|")
    engines: dict[str, tuple[Callable[[], float], Callable[[], float]]] = {}
    for name, ruleset in current().items():
        engines[f"Fairdeal {name}"] = (_playouts(ruleset), _replays(ruleset))
    engines["OpenSpiel crazy_eights, from Python"] = _open_spiel()
    engines["RLCard uno, the game alone"] = (_rlcard(), lambda: float("nan"))
    rates: dict[str, list[list[float]]] = {name: [[], []] for name in engines}
    for _ in range(ROUNDS):
        for name, (playouts, replays) in engines.items():
            rates[name][0].append(playouts())
            rates[name][1].append(replays())
    for name, (playing, replaying) in rates.items():
        told = (
            f"{statistics.median(one):,.0f}".replace("nan", "–") for one in (playing, replaying)
        )
        print(f"| {name} | {' | '.join(told)} |")


def _playouts(ruleset: AnyRuleset) -> Callable[[], float]:
    return lambda: _rate(lambda chance: len(_game(ruleset, chance)[1]))


def _replays(ruleset: AnyRuleset) -> Callable[[], float]:
    games = [_game(ruleset, random.Random(seed)) for seed in range(50)]

    def again(chance: random.Random) -> int:
        state, moves = chance.choice(games)
        for move in moves:
            state, _ = ruleset.apply(state, move)
        return len(moves)

    return lambda: _rate(again)


def _game(ruleset: AnyRuleset, chance: random.Random) -> tuple[Any, list[Any]]:
    options = ruleset.complete(ruleset.options(), ruleset.seats[-1])
    pack = ruleset.pack(options)
    first = ruleset.deal(
        options, Round(1, Seat(1), ruleset.seats[-1]), chance.sample(pack, len(pack))
    )
    state, moves = first, []
    while ruleset.to_act(state) is not None:
        moves.append(ruleset.settle(state, chance.choice(ruleset.legal_moves(state))))
        state, _ = ruleset.apply(state, moves[-1])
    return first, moves


def _open_spiel() -> tuple[Callable[[], float], Callable[[], float]]:
    import pyspiel  # type: ignore[import-not-found]

    game = pyspiel.load_game("crazy_eights(players=4)")

    def play(chance: random.Random) -> int:
        return len(_spiel_actions(game, chance))

    histories = [_spiel_actions(game, random.Random(seed)) for seed in range(50)]

    def again(chance: random.Random) -> int:
        actions = chance.choice(histories)
        state = game.new_initial_state()
        for action in actions:
            state.apply_action(action)
        return len(actions)

    return (lambda: _rate(play)), (lambda: _rate(again))


def _rlcard() -> Callable[[], float]:
    from rlcard.games.uno import Game  # type: ignore[import-not-found]

    def play(chance: random.Random) -> int:
        game, moves = Game(num_players=4), 0
        game.init_game()
        while not game.is_over():
            game.step(chance.choice(game.get_legal_actions()))
            moves += 1
        return moves

    return lambda: _rate(play)


def _spiel_actions(game: Any, chance: random.Random) -> list[int]:
    state, actions = game.new_initial_state(), []
    while not state.is_terminal():
        if state.is_chance_node():
            action = chance.choice(state.chance_outcomes())[0]
        else:
            action = chance.choice(state.legal_actions())
        state.apply_action(action)
        actions.append(action)
    return actions


def _rate(play: Callable[[random.Random], int]) -> float:
    """Moves a second, over about a second."""
    chance, moves, began = random.Random(1), 0, time.perf_counter()
    while time.perf_counter() - began < SECONDS:
        moves += play(chance)
    return moves / (time.perf_counter() - began)


if __name__ == "__main__":
    main()
