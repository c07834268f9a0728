"""Time runs out: the clock plays for who is away, and games that nobody joins are closed."""

import math
from collections.abc import Sequence
from datetime import datetime, timedelta

from service.log import steps
from service.log.game import Game, Status
from service.log.steps import Frame
from service.play.bot_turns import play_bots
from service.play.committing import commit
from service.play.pen import Pen
from service.play.services import Services
from service.store.clocks import database_now, seconds_down
from service.store.deadlines import deadline_of

MOVES_A_TURN_AT_MOST = 10
SKEW_AT_MOST = timedelta(seconds=5)
OPEN_FOR = timedelta(days=7)
"""How long a game waits for its players."""


def is_clock_right(services: Services) -> bool:
    """Whether this machine tells about the time that the database tells.

    A worker whose clock is ahead would play for everybody at once; a web
    process would stop the clocks of the games that it writes into.
    """
    return abs(services.now() - database_now(services.database)) < SKEW_AT_MOST


def run_out(services: Services, game: str) -> bool:
    """Play the turn whose time is up, if it is; whether anything was written.

    Any number may try at once: what is written is written at one version.
    """
    committed = commit(services, game, lambda now: _overdue(services, now))
    if committed.frames:
        play_bots(services, committed.game)
    return bool(committed.frames)


def close_stale(services: Services, game: str) -> bool:
    """Void an open game that waited too long; whether it was."""
    return bool(commit(services, game, lambda now: _stale(services, now)).frames)


def _overdue(services: Services, game: Game) -> Sequence[Frame]:
    now, deadline = services.now(), deadline_of(game)
    if deadline is None or now < deadline:
        return ()
    pen = Pen(services, game)
    owed = _seconds_owed(services, game, now)
    if owed > 0:
        pen.write(steps.extend_clock(game, owed))
        return pen.frames
    seat = game.to_act
    for _ in range(MOVES_A_TURN_AT_MOST):
        if pen.game.to_act != seat:
            break
        pen.write(steps.absent_turn(pen.game))
    pen.follow()
    return pen.frames


def _seconds_owed(services: Services, game: Game, now: datetime) -> int:
    """How long of the turn the service was down, and did not make up for yet."""
    began = datetime.fromisoformat(game.turn_at)
    return math.ceil(seconds_down(services.database, began, now)) - game.extended


def _stale(services: Services, game: Game) -> Sequence[Frame]:
    opened = datetime.fromisoformat(game.setup.created_at)
    if game.status is not Status.OPEN or services.now() - opened < OPEN_FOR:
        return ()
    pen = Pen(services, game)
    pen.write(steps.void(game))
    pen.follow()
    return pen.frames
