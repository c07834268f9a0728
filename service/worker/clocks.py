"""The clock's round: overdue turns are played, stale games closed, and the worker says it lives."""

from datetime import datetime, timedelta

import structlog

from service.play.clocks import OPEN_FOR, close_stale, run_out
from service.play.services import Services
from service.store.clocks import beat, overdue_games, stale_open_games
from service.worker.each import each

GAMES_A_ROUND = 200
GAP = timedelta(seconds=5)
"""No beat for longer than this is an outage."""


def note_alive(services: Services, now: datetime | None = None) -> None:
    """Say that a worker lives; an outage that just ended is noted."""
    if beat(services.database, GAP, now):
        structlog.get_logger().warning("outage_noted")


def tick(services: Services) -> int:
    """Play every turn whose time is up; in how many games something was written."""
    overdue = overdue_games(services.database, services.now(), GAMES_A_ROUND)
    return each(services, overdue, run_out, "clock_stopped")


def close_games(services: Services) -> int:
    """Close the games that nobody joined; how many were."""
    created_before = services.now() - OPEN_FOR
    stale = stale_open_games(services.database, created_before, GAMES_A_ROUND)
    return each(services, stale, close_stale, "clock_stopped")
