"""Looks at hands of running games, and the requests for another admin's approval of one."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime

from sqlalchemy import func, insert, select, update

from service.canonical import JsonMap
from service.store.audit import note
from service.store.database import Database, connection, drop_old, transaction
from service.store.tables import ENDED, games, hidden_read_requests, hidden_reads


@dataclass(frozen=True, slots=True, kw_only=True)
class HiddenRead:
    """Which hands of a running game an admin looked at, at which version."""

    id: str
    game_id: str
    admin_id: str
    version: int
    seats: Sequence[int]
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """A hidden read that an admin asks another one to approve of; None where it has none."""

    id: str
    game_id: str
    admin_id: str
    admin_name: str
    version: int
    seats: Sequence[int]
    reason: str
    dispute_id: str | None
    asked_at: datetime
    approved_by: str | None = None
    approved_at: datetime | None = None


def add_hidden_read(database: Database, read: HiddenRead, facts: JsonMap) -> None:
    """Write that hands are looked at, with its line in the trail, before they are."""
    with transaction(database) as open_connection:
        note(open_connection, facts)
        open_connection.execute(insert(hidden_reads).values(asdict(read)))


def undisclosed_reads(database: Database, game: str) -> Sequence[HiddenRead]:
    """Hidden reads of the game that its players were not told of."""
    query = select(*(hidden_reads.c[name] for name in HiddenRead.__slots__)).where(
        hidden_reads.c.game_id == game, ~hidden_reads.c.disclosed
    )
    with connection(database) as open_connection:
        rows = open_connection.execute(query.order_by(hidden_reads.c.id)).mappings()
        return [HiddenRead(**row) for row in rows]


def games_to_disclose(database: Database, limit: int) -> Sequence[str]:
    """Ended games with hidden reads that their players were not told of."""
    query = (
        select(hidden_reads.c.game_id)
        .join(games, games.c.id == hidden_reads.c.game_id)
        .where(~hidden_reads.c.disclosed, games.c.status.in_(ENDED))
        .distinct()
        .order_by(hidden_reads.c.game_id)
        .limit(limit)
    )
    with connection(database) as open_connection:
        return list(open_connection.execute(query).scalars())


def note_disclosed(database: Database, reads: Sequence[str]) -> None:
    """The players were told of these."""
    note_told = update(hidden_reads).where(hidden_reads.c.id.in_(reads)).values(disclosed=True)
    with connection(database) as open_connection:
        open_connection.execute(note_told)


def add_look(database: Database, look: Look, facts: JsonMap) -> None:
    """Write a request, with its line in the trail."""
    with transaction(database) as open_connection:
        note(open_connection, facts)
        open_connection.execute(insert(hidden_read_requests).values(asdict(look)))


def find_look(database: Database, look: str) -> Look | None:
    """The request of that id."""
    query = select(hidden_read_requests).where(hidden_read_requests.c.id == look)
    with connection(database) as open_connection:
        row = open_connection.execute(query).mappings().one_or_none()
    return Look(**row) if row else None


def list_looks(database: Database, before: str | None, limit: int) -> Sequence[Look]:
    """Requests, the newest first."""
    query = select(hidden_read_requests).order_by(hidden_read_requests.c.id.desc()).limit(limit)
    if before is not None:
        query = query.where(hidden_read_requests.c.id < before)
    with connection(database) as open_connection:
        return [Look(**row) for row in open_connection.execute(query).mappings()]


def approve(
    database: Database, look: str, admin: str, now: datetime, facts: JsonMap
) -> Look | None:
    """The request, approved by the first who did so, with a line in the trail."""
    columns = hidden_read_requests.c
    change = (
        update(hidden_read_requests)
        .where(columns.id == look)
        .values(
            approved_by=func.coalesce(columns.approved_by, admin),
            approved_at=func.coalesce(columns.approved_at, now),
        )
        .returning(hidden_read_requests)
    )
    with transaction(database) as open_connection:
        note(open_connection, facts)
        row = open_connection.execute(change).mappings().one_or_none()
    return Look(**row) if row else None


def drop_old_looks(database: Database, before: datetime) -> None:
    """Take away what was asked before that; the trail has it for ever."""
    drop_old(database, hidden_read_requests.c.asked_at, before)
