"""Bots left over: games in which a bot is to act and no request is playing on for it.

Any number of workers may run: a turn is an append that only one of them can make.
"""

import time
from datetime import timedelta
from itertools import takewhile

from service.play.bot_turns import play_bots
from service.play.games import catch_up
from service.play.services import Services
from service.store.lists import games_waiting_for_bots
from service.worker.each import each

QUIET_FOR = timedelta(milliseconds=200)
"""A game in which something happened just now is still in the hands of a request."""

GAMES_A_SWEEP = 200
SWEEP_SECONDS = 1.0
"""How long a sweep takes at most: others wait for the worker, too."""


def sweep(services: Services, quiet_for: timedelta = QUIET_FOR) -> int:
    """Let the bots move in every game that waits for one; in how many games they did."""
    quiet_since = services.now() - quiet_for
    waiting = games_waiting_for_bots(services.database, quiet_since, GAMES_A_SWEEP)
    until = time.monotonic() + SWEEP_SECONDS
    in_time = takewhile(lambda _: time.monotonic() < until, waiting)
    return each(services, in_time, _play_on, "bots_stopped")


def _play_on(services: Services, game: str) -> bool:
    """Whether the bots moved."""
    current, _ = catch_up(services, game)
    return play_bots(services, current).version > current.version
