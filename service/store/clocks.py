"""What the clock asks of the tables: turns that are overdue, and when the service was down."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from sqlalchemy import func, select, text

from service.store.database import Database, connection
from service.store.tables import games, outages

BEAT = """
WITH moment AS (SELECT coalesce(CAST(:now AS timestamptz), clock_timestamp()) AS now),
old AS (SELECT at FROM heartbeats WHERE id = 1),
beat AS (
    INSERT INTO heartbeats (id, at) SELECT 1, now FROM moment
    ON CONFLICT (id) DO UPDATE SET at = excluded.at
        WHERE heartbeats.at = (SELECT at FROM old)
    RETURNING id
)
INSERT INTO outages (began_at, ended_at)
SELECT old.at, moment.now FROM old, beat, moment WHERE old.at < moment.now - CAST(:gap AS interval)
ON CONFLICT DO NOTHING
RETURNING began_at
"""
"""Of several workers that find the same gap one writes it down: whose beat follows the old one."""


def beat(database: Database, gap: timedelta, now: datetime | None = None) -> bool:
    """Note that a worker is alive; whether none was for longer than the gap.

    By the database's clock, which all workers share, unless a time is given.
    """
    parameters = {"now": now, "gap": gap}
    with connection(database) as open_connection:
        return open_connection.execute(text(BEAT), parameters).first() is not None


def database_now(database: Database) -> datetime:
    """What the database's clock says, which all machines share."""
    with connection(database) as open_connection:
        now: datetime = open_connection.execute(select(func.clock_timestamp())).scalar_one()
        return now


def seconds_down(database: Database, since: datetime, until: datetime) -> float:
    """How long of that time no worker was alive."""
    overlap = func.least(outages.c.ended_at, until) - func.greatest(outages.c.began_at, since)
    query = select(func.coalesce(func.sum(func.extract("epoch", overlap)), 0)).where(
        outages.c.ended_at > since, outages.c.began_at < until
    )
    with connection(database) as open_connection:
        return float(open_connection.scalar(query) or 0)


def overdue_games(database: Database, now: datetime, limit: int) -> Sequence[str]:
    """Games whose turn should be over, in no order: several workers begin at different ones."""
    query = (
        select(games.c.id).where(games.c.deadline_at <= now).order_by(func.random()).limit(limit)
    )
    with connection(database) as open_connection:
        return open_connection.execute(query).scalars().all()


def stale_open_games(database: Database, created_before: datetime, limit: int) -> Sequence[str]:
    """Games that wait for players since before then."""
    query = (
        select(games.c.id)
        .where(games.c.status == "open", games.c.created_at < created_before)
        .limit(limit)
    )
    with connection(database) as open_connection:
        return open_connection.execute(query).scalars().all()
