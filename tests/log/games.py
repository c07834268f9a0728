"""Whole games by the log alone, for tests."""

import random
from collections.abc import Sequence
from typing import Any

from service.cards import Seat
from service.fairness import SealedDealer
from service.log import steps
from service.log.events import Actor
from service.log.game import Game, Occupant, Secret
from service.log.steps import Frame, Opening
from service.rules.registry import find

AT = "2026-12-01T10:15:30.123Z"
ID = "01j00000000000000000000000"
SECRET = Secret(bytes(range(32)), SealedDealer.of)
CREATOR = Actor(kind="player", id="01j00000000000000000000001")


def whole_game(
    seed: int = 1, seats: int = 3, ruleset: str = "jokers-go-boom", **options: Any
) -> list[Frame]:
    """Every frame of a game of random legal moves."""
    chance = random.Random(seed)
    frames = opened(seats, ruleset, **options)
    while frames[-1].after.to_act is not None:
        frames += turn(frames[-1].after, chance)
    return frames


def opened(seats: int = 3, ruleset: str = "jokers-go-boom", **options: Any) -> list[Frame]:
    """The frames of a game up to its first turn."""
    rules = find(ruleset)
    opening = Opening(
        ruleset=rules, options=rules.options(**options), seats=seats, visibility="public"
    )
    frames = [steps.write(steps.create(ID, opening, SECRET, CREATOR, AT), None, AT)]
    for number in range(1, seats + 1):
        occupant = Occupant(kind="human", player=f"player{number}", contribution=f"c{number}")
        add(frames, steps.take_seat(frames[-1].after, Seat(number), occupant, CREATOR))
    add(frames, steps.start(frames[-1].after))
    frames += steps.consequences(frames[-1].after, AT)
    return frames


def turn(game: Game, chance: random.Random) -> Sequence[Frame]:
    """One random legal move, and what follows of itself."""
    assert game.round is not None
    move = chance.choice(game.ruleset.legal_moves(game.round.state))
    frame = steps.write(steps.play(game, move, CREATOR), game, AT)
    return [frame, *steps.consequences(frame.after, AT)]


def add(frames: list[Frame], step: steps.Step) -> None:
    frames.append(steps.write(step, frames[-1].after, AT))
