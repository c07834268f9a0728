"""Disputes, what is said of them, and rulings, in their tables."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from psycopg.errors import UniqueViolation
from sqlalchemy import Connection, func, insert, select, update
from sqlalchemy.exc import IntegrityError

from service.canonical import JsonMap, dump_json
from service.store.database import Database, connection, transaction
from service.store.tables import dispute_messages, disputes, rulings

OPEN = ("open", "under_review")


class DisputeStands(Exception):
    """The seat has an open dispute already; nothing was written."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DisputeRow:
    """A dispute; `version` changes whenever it does. None where it has none."""

    id: str
    game_id: str
    seat: int
    player_id: str
    parties: Sequence[str]
    reason: str
    seqs: Sequence[int]
    statement: str
    status: str
    version: int
    opened_at: datetime
    assignee: str | None = None
    appealed_at: datetime | None = None
    closed_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """What somebody said of a dispute, to the parties or to admins alone."""

    id: str
    dispute_id: str
    author_kind: str
    author_id: str
    visibility: str
    body: str
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class RulingRow:
    """What was decided; `remedies` is JSON, `seq` that of its event."""

    id: str
    dispute_id: str
    game_id: str
    admin_id: str
    outcome: str
    remedies: str
    public_reason: str
    private_note: str
    seq: int
    at: datetime


def add_dispute(database: Database, dispute: DisputeRow) -> None:
    """Write a dispute; raises DisputeStands."""
    try:
        with transaction(database) as open_connection:
            open_connection.execute(insert(disputes).values(asdict(dispute)))
    except IntegrityError as error:
        if isinstance(error.orig, UniqueViolation):
            raise DisputeStands from error
        raise


def close_stale(database: Database, game: str, seat: int, but: str, now: datetime) -> None:
    """Close what the table says is open of the seat, and the log does not."""
    stale = update(disputes).where(
        disputes.c.game_id == game,
        disputes.c.seat == seat,
        disputes.c.status.in_(OPEN),
        disputes.c.id != but,
    )
    with connection(database) as open_connection:
        open_connection.execute(stale.values(status="withdrawn", closed_at=now))


def find_dispute(database: Database, dispute: str) -> DisputeRow | None:
    """The dispute of that id."""
    query = select(disputes).where(disputes.c.id == dispute)
    with connection(database) as open_connection:
        row = open_connection.execute(query).mappings().one_or_none()
    return DisputeRow(**row) if row else None


def list_disputes(
    database: Database,
    party: str | None,
    status: str | None,
    before: str | None,
    limit: int,
) -> Sequence[DisputeRow]:
    """Disputes, the newest first: of one party, or of everybody."""
    query = select(disputes).order_by(disputes.c.id.desc()).limit(limit)
    if party is not None:
        query = query.where(disputes.c.parties.contains([party]))
    if status is not None:
        query = query.where(disputes.c.status == status)
    if before is not None:
        query = query.where(disputes.c.id < before)
    with connection(database) as open_connection:
        return [DisputeRow(**row) for row in open_connection.execute(query).mappings()]


def change_dispute(
    database: Database, dispute: DisputeRow, changes: Mapping[str, Any]
) -> DisputeRow | None:
    """The dispute with these columns changed; None if it has changed meanwhile."""
    with connection(database) as open_connection:
        return changed(open_connection, dispute, changes)


def changed(
    open_connection: Connection, dispute: DisputeRow, changes: Mapping[str, Any]
) -> DisputeRow | None:
    """The same within a transaction."""
    change = (
        update(disputes)
        .where(disputes.c.id == dispute.id, disputes.c.version == dispute.version)
        .values(**changes, version=disputes.c.version + 1)
        .returning(disputes)
    )
    row = open_connection.execute(change).mappings().one_or_none()
    return DisputeRow(**row) if row else None


def reopen(
    database: Database, dispute: DisputeRow, changes: Mapping[str, Any], words: Message
) -> DisputeRow | None:
    """The dispute, open again with these words; None if it has changed meanwhile."""
    with transaction(database) as open_connection:
        again = changed(open_connection, dispute, changes)
        if again is not None:
            open_connection.execute(insert(dispute_messages).values(asdict(words)))
    return again


def count_disputes(database: Database, game: str, seat: int) -> int:
    """How many disputes the seat ever filed in the game."""
    query = select(func.count()).where(disputes.c.game_id == game, disputes.c.seat == seat)
    with connection(database) as open_connection:
        return open_connection.execute(query).scalar_one()


def add_message(database: Database, message: Message) -> None:
    """Write a message."""
    with connection(database) as open_connection:
        open_connection.execute(insert(dispute_messages).values(asdict(message)))


def messages_of(database: Database, dispute: str, *, for_admins: bool) -> Sequence[Message]:
    """What was said of the dispute, the oldest first."""
    query = select(dispute_messages).where(dispute_messages.c.dispute_id == dispute)
    if not for_admins:
        query = query.where(dispute_messages.c.visibility == "parties")
    with connection(database) as open_connection:
        rows = open_connection.execute(query.order_by(dispute_messages.c.id)).mappings()
        return [Message(**row) for row in rows]


def add_ruling(database: Database, ruling: RulingRow) -> None:
    """Write a ruling."""
    with connection(database) as open_connection:
        open_connection.execute(insert(rulings).values(asdict(ruling)))


def rulings_of(database: Database, dispute: str) -> Sequence[RulingRow]:
    """The rulings on the dispute, the oldest first."""
    query = select(rulings).where(rulings.c.dispute_id == dispute).order_by(rulings.c.id)
    with connection(database) as open_connection:
        return [RulingRow(**row) for row in open_connection.execute(query).mappings()]


def remedies_text(remedies: Sequence[JsonMap]) -> str:
    """The remedies as they are kept."""
    return dump_json({"remedies": list(remedies)})
