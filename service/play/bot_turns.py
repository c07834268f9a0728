"""The turns of the service's bots: each an append of its own."""

from collections.abc import Sequence
from datetime import timedelta

from service.bots import choose
from service.log import steps
from service.log.events import Actor
from service.log.game import Game
from service.log.steps import Frame
from service.play.committing import commit
from service.play.pen import Pen
from service.play.refusals import Busy
from service.play.services import Services
from service.store.database import StoreUnavailable

BOTS_TIME = timedelta(seconds=1)
"""How long a request plays on for bots; the worker goes on from there."""


def play_bots(services: Services, game: Game) -> Game:
    """Let bots move until a person is to act, a round has ended, or their time is up.

    What the caller wrote stands, whatever becomes of the bots: the worker goes on.
    """
    until = services.now() + BOTS_TIME
    while is_bot_to_act(game) and services.now() < until:
        try:
            committed = commit(services, game.id, lambda now: _bot_turn(services, now))
        except (StoreUnavailable, Busy):
            break
        game = committed.game
        if not committed.frames or len(committed.frames) > 1:
            break
    return game


def is_bot_to_act(game: Game) -> bool:
    """Whether the next move is a bot's."""
    occupant = game.occupant_to_act
    return occupant is not None and occupant.level is not None


def _bot_turn(services: Services, game: Game) -> Sequence[Frame]:
    """One move of the bot that is to act, chosen from what its seat sees; nothing if none is."""
    seat, occupant = game.to_act, game.occupant_to_act
    if seat is None or occupant is None or occupant.level is None or game.round is None:
        return ()
    view = game.ruleset.view(game.round.state, seat)
    move = choose(occupant.level, game.ruleset, game.options, view, services.chance)
    pen = Pen(services, game)
    pen.write(steps.play(game, move, Actor(kind="bot", id=occupant.level)))
    pen.follow()
    return pen.frames
