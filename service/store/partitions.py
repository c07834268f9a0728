"""The log in parts by month, for who keeps so many games that taking some away must be cheap.

A game's id begins with the time at which it was opened, so a range of ids is a
span of time: a game lies in one part, whole, and what asks for a game looks
into one part. A part whose games were all removed is dropped, and its disk
space is free at once.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any

import psycopg
from psycopg import sql
from ulid import ULID

from service.store.schema import MIGRATION_LOCK

PARTITIONED = ("events", "idempotency_keys")
"""The tables that grow with every move."""

GUARDED = "events"
"""The one of them that refuses to be rewritten."""

TIME_LETTERS = 10
"""A ULID begins with so many letters of time."""

LOCK_TIMEOUT = "4s"
Connection = psycopg.Connection[tuple[Any, ...]]


@dataclass(frozen=True, slots=True)
class Part:
    """A month of a table."""

    table: str
    month: date

    @property
    def name(self) -> str:
        """The part's own name as a table."""
        return f"{self.table}_{self.month:%Y_%m}"


def bound(month: date) -> str:
    """The least id of a game that was opened in that month or later."""
    began = datetime(month.year, month.month, 1, tzinfo=UTC)
    return str(ULID.from_datetime(began)).lower()[:TIME_LETTERS]


def month_after(month: date, count: int = 1) -> date:
    """The first day of the month so many months later."""
    months = month.year * 12 + month.month - 1 + count
    return date(months // 12, months % 12 + 1, 1)


def partition(url: str, today: date, ahead: int) -> Sequence[str]:
    """Part the tables by month, if they are not yet, and make the parts of the months to come.

    What was written before stays where it is, as the first part. As the owner
    of the tables, while the service serves: each table is locked for a moment.
    Gives the names of the parts that were made.
    """
    made: list[str] = []
    with _alone(url) as connection:
        for table in PARTITIONED:
            if not _is_partitioned(connection, table):
                made += _begin(connection, table, month_after(today, 1))
            made += [
                part.name
                for count in range(1, ahead + 1)
                if _add(connection, part := Part(table, month_after(today, count)))
            ]
    return made


def drop_empty(url: str, today: date) -> Sequence[str]:
    """Drop the parts of past months in which nothing is left; gives their names."""
    dropped: list[str] = []
    with _alone(url) as connection:
        for table in PARTITIONED:
            dropped += [
                name
                for name in _past_parts(connection, table, today)
                if _drop_if_empty(connection, table, name)
            ]
    return dropped


@contextmanager
def _alone(url: str) -> Iterator[Connection]:
    """A connection while nobody else changes the schema; a lock is not waited for long."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("SELECT pg_advisory_lock(%s)", [MIGRATION_LOCK])
        connection.execute(f"SET lock_timeout = '{LOCK_TIMEOUT}'")
        yield connection


def _is_partitioned(connection: Connection, table: str) -> bool:
    query = "SELECT relkind = 'p' FROM pg_class WHERE oid = %s::regclass"
    return connection.execute(query, [table]).fetchone() == (True,)


def _parts(connection: Connection, table: str) -> Sequence[str]:
    query = "SELECT inhrelid::regclass::text FROM pg_inherits WHERE inhparent = %s::regclass"
    return sorted(name for (name,) in connection.execute(query, [table]))


def _past_parts(connection: Connection, table: str, today: date) -> Sequence[str]:
    """The parts in which no new game is put; the first is one of them once this one has its own."""
    parts, present = _parts(connection, table), Part(table, today).name
    first = f"{table}_first"
    dated = [name for name in parts if name not in (first, f"{table}_rest") and name < present]
    return [*dated, first] if present in parts and first in parts else dated


def _begin(connection: Connection, table: str, until: date) -> Sequence[str]:
    """Make what there is the first part of a table that has parts; nothing is copied.

    That all of it belongs there is checked beforehand, while the service serves.
    """
    limit = f"ck_{table}_first"
    drop = _query("ALTER TABLE {table} DROP CONSTRAINT IF EXISTS {limit}", table=table, limit=limit)
    connection.execute(drop)
    connection.execute(
        _query(
            "ALTER TABLE {table} ADD CONSTRAINT {limit} CHECK (game_id < {until}) NOT VALID",
            table=table,
            limit=limit,
            until=sql.Literal(bound(until)),
        )
    )
    try:
        connection.execute(
            _query("ALTER TABLE {table} VALIDATE CONSTRAINT {limit}", table=table, limit=limit)
        )
        return _become_first(connection, table, limit, until)
    except psycopg.Error:
        connection.execute(drop)  # or it would refuse the games of the next month
        raise


def _become_first(connection: Connection, table: str, limit: str, until: date) -> Sequence[str]:
    """The table as a part of a table of its name, all at once."""
    first = f"{table}_first"
    key = _key(connection, table)
    with connection.transaction():
        connection.execute(
            _query(
                "ALTER TABLE {table} RENAME TO {first};"
                "ALTER TABLE {first} RENAME CONSTRAINT {old_key} TO {first_key};"
                "CREATE TABLE {table} (LIKE {first} INCLUDING DEFAULTS INCLUDING COMMENTS)"
                " PARTITION BY RANGE (game_id);"
                "ALTER TABLE {table} ADD CONSTRAINT {old_key} PRIMARY KEY ({key})",
                table=table,
                first=first,
                old_key=f"pk_{table}",
                first_key=f"pk_{first}",
                key=sql.SQL(", ").join(map(sql.Identifier, key)),
            )
        )
        _copy_grants(connection, first, table)
        if table == GUARDED:
            _guard(connection, first, table)
        connection.execute(
            _query(
                "ALTER TABLE {table} ATTACH PARTITION {first}"
                " FOR VALUES FROM (MINVALUE) TO ({until});"
                "ALTER TABLE {first} DROP CONSTRAINT {limit};"
                "CREATE TABLE {rest} PARTITION OF {table} DEFAULT",
                table=table,
                first=first,
                limit=limit,
                rest=f"{table}_rest",
                until=sql.Literal(bound(until)),
            )
        )
        if table == GUARDED:
            _refuse_truncating(connection, f"{table}_rest")
    return [first, f"{table}_rest"]


def _guard(connection: Connection, first: str, table: str) -> None:
    """The triggers of the log, on the whole of it: its parts get those that are of rows."""
    connection.execute(
        _query(
            "DROP TRIGGER refuse_rewriting ON {first};"
            "CREATE TRIGGER refuse_rewriting BEFORE UPDATE OR DELETE ON {table}"
            " FOR EACH ROW EXECUTE FUNCTION refuse_rewriting();"
            "ALTER INDEX ix_events_milestones RENAME TO ix_events_first_milestones;"
            "CREATE INDEX ix_events_milestones ON {table} (game_id, seq) WHERE type <> 'move'",
            first=first,
            table=table,
        )
    )
    _refuse_truncating(connection, table)


def _refuse_truncating(connection: Connection, name: str) -> None:
    connection.execute(
        _query(
            "CREATE TRIGGER refuse_truncating BEFORE TRUNCATE ON {name}"
            " FOR EACH STATEMENT EXECUTE FUNCTION refuse_rewriting()",
            name=name,
        )
    )


def _add(connection: Connection, part: Part) -> bool:
    """Make the part of a month; False if its months are in another part already."""
    query = "SELECT to_regclass(%s) IS NOT NULL"
    if connection.execute(query, [part.name]).fetchone() == (True,):
        return False
    try:
        with connection.transaction():
            connection.execute(
                _query(
                    "CREATE TABLE {name} PARTITION OF {table}"
                    " FOR VALUES FROM ({since}) TO ({until})",
                    name=part.name,
                    table=part.table,
                    since=sql.Literal(bound(part.month)),
                    until=sql.Literal(bound(month_after(part.month))),
                )
            )
            if part.table == GUARDED:
                _refuse_truncating(connection, part.name)
    except psycopg.errors.InvalidObjectDefinition:  # it would overlap another part
        return False
    return True


def _drop_if_empty(connection: Connection, table: str, name: str) -> bool:
    """Drop the part; the whole is locked first, as whoever reads it does."""
    query = _query("SELECT NOT EXISTS (SELECT FROM {name})", name=name)
    if connection.execute(query).fetchone() != (True,):
        return False
    with connection.transaction():
        connection.execute(_query("LOCK TABLE {table} IN ACCESS EXCLUSIVE MODE", table=table))
        if connection.execute(query).fetchone() != (True,):
            return False
        connection.execute(_query("DROP TABLE {name}", name=name))
        return True


def _key(connection: Connection, table: str) -> Sequence[str]:
    """The columns of the primary key, in order."""
    query = (
        "SELECT att.attname FROM pg_index ind "
        "CROSS JOIN unnest(ind.indkey) WITH ORDINALITY AS part (number, place) "
        "JOIN pg_attribute att ON att.attrelid = ind.indrelid AND att.attnum = part.number "
        "WHERE ind.indisprimary AND ind.indrelid = %s::regclass ORDER BY part.place"
    )
    return [name for (name,) in connection.execute(query, [table])]


def _copy_grants(connection: Connection, source: str, table: str) -> None:
    query = (
        "SELECT grantee, privilege_type FROM information_schema.role_table_grants "
        "WHERE table_schema = 'public' AND table_name = %s AND grantee <> current_user"
    )
    for grantee, privilege in connection.execute(query, [source]).fetchall():
        connection.execute(
            _query(
                f"GRANT {privilege} ON {{table}} TO {{grantee}}",
                table=table,
                grantee=grantee,
            )
        )


def _query(text: str, **names: str | sql.Composable) -> sql.Composed:
    """The statements with their names put in."""
    placed = {
        name: sql.Identifier(value) if isinstance(value, str) else value
        for name, value in names.items()
    }
    return sql.SQL(text).format(**placed)
