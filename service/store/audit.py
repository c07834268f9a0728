"""The trail of what admins did, in its table: one line after the other, never two at once."""

from collections.abc import Iterator, Sequence

from sqlalchemy import Connection, insert, select, text

from service.canonical import JsonMap
from service.log.events import GENESIS
from service.proof.trail import Entry, entry
from service.store.database import Database, connection, transaction
from service.store.tables import audit

AUDIT_LOCK = 0x46414155
"""The advisory lock that lets one writer in at a time."""

LINES_AT_ONCE = 500


def note(open_connection: Connection, facts: JsonMap) -> Entry:
    """Add a line within a transaction; what the line is about is done in it, or not at all."""
    lock = text("SELECT pg_advisory_xact_lock(:lock)")
    open_connection.execute(lock, {"lock": AUDIT_LOCK})
    last = select(audit.c.seq, audit.c.hash).order_by(audit.c.seq.desc()).limit(1)
    row = open_connection.execute(last).one_or_none()
    seq, prev = (row.seq + 1, row.hash) if row else (1, GENESIS)
    made = entry(seq, prev, facts)
    open_connection.execute(insert(audit).values(seq=seq, body=made.line, hash=made.hash))
    return made


def add_line(database: Database, facts: JsonMap) -> Entry:
    """Add a line by itself; raises StoreUnavailable."""
    with transaction(database) as open_connection:
        return note(open_connection, facts)


def read_trail(database: Database, before: int | None, limit: int) -> Sequence[str]:
    """The newest lines first, from before that number."""
    query = select(audit.c.body).order_by(audit.c.seq.desc()).limit(limit)
    if before is not None:
        query = query.where(audit.c.seq < before)
    with connection(database) as open_connection:
        return list(open_connection.execute(query).scalars())


def whole_trail(database: Database) -> Iterator[str]:
    """Every line, the oldest first."""
    after = 0
    while True:
        query = (
            select(audit.c.seq, audit.c.body)
            .where(audit.c.seq > after)
            .order_by(audit.c.seq)
            .limit(LINES_AT_ONCE)
        )
        with connection(database) as open_connection:
            rows = open_connection.execute(query).all()
        if not rows:
            return
        for row in rows:
            yield row.body
        after = rows[-1].seq
