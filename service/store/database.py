"""The connection to Postgres, and what goes wrong with it."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeAlias, TypeVar

import psycopg
from psycopg.abc import PQGen
from psycopg.pq import ConnStatus, TransactionStatus
from psycopg.rows import Row
from sqlalchemy import (
    Column,
    Connection,
    Engine,
    ExceptionContext,
    PoolProxiedConnection,
    create_engine,
    delete,
    event,
    make_url,
    select,
    text,
    tuple_,
)
from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from service.proof.keys import Keyring
from service.store.secret_box import SecretBox

STATEMENT_TIMEOUT_MS = 5_000
LOCK_TIMEOUT_MS = 2_000
SESSION = (
    f"-c statement_timeout={STATEMENT_TIMEOUT_MS} -c lock_timeout={LOCK_TIMEOUT_MS} "
    f"-c idle_in_transaction_session_timeout={STATEMENT_TIMEOUT_MS}"
)
POOL_WAIT_SECONDS = 5
DROPPED_AT_ONCE = 2_000
CONNECT_SECONDS = 5
ANSWER_SECONDS = 15.0
"""How long an answer is waited for: three times what a statement may take."""

KEEPALIVE: Mapping[str, Any] = {
    "connect_timeout": CONNECT_SECONDS,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
}


class StoreUnavailable(Exception):
    """Postgres did not answer, or not in time: whether the write was done is unknown.

    A retry with the same idempotency key is safe.
    """


_AWAY = (OperationalError, InterfaceError, PoolTimeout)
"""What SQLAlchemy says when Postgres is not there, or not in time."""

_RAW_AWAY = (
    psycopg.OperationalError,
    psycopg.InterfaceError,
    psycopg.errors.ReadOnlySqlTransaction,
)
"""The same of the driver. A server that takes no writes is a standby that is not promoted yet."""

Result = TypeVar("Result")
POLL_SECONDS = 0.1
ACTIVE = TransactionStatus.ACTIVE

RawConnection: TypeAlias = "psycopg.Connection[tuple[Any, ...]]"


class PatientConnection(psycopg.Connection[Row]):
    """A connection that waits for an answer, and not for ever.

    A server that is gone without a word, or a proxy that holds the line and
    says nothing, would keep a thread until the process ends.
    """

    def wait(
        self, gen: PQGen[Result], interval: float = POLL_SECONDS, timeout: float | None = None
    ) -> Result:
        """Wait as psycopg does; raises OperationalError for an answer that is overdue."""
        if timeout is not None:  # somebody waits for notifications
            return super().wait(gen, interval, timeout)
        try:
            return super().wait(gen, interval, ANSWER_SECONDS)
        except psycopg.OperationalError:
            if self.pgconn.status == ConnStatus.OK and self.pgconn.transaction_status == ACTIVE:
                self.pgconn.finish()  # the answer may still come, to somebody else's question
            raise


@dataclass(frozen=True, slots=True)
class Database:
    """Where the service keeps all that it knows.

    `box` seals what is secret on its way in, `keyring` signs what is acknowledged.
    """

    engine: Engine
    box: SecretBox
    keyring: Keyring


def connect(
    url: str, box: SecretBox, keyring: Keyring, pool_size: int, *, is_pooled: bool = False
) -> Database:
    """The database at the URL, with at most that many connections.

    Each statement is a transaction of its own unless one is opened: an append
    is a single statement, and so a single round trip. `is_pooled` says that
    the URL leads through a pooler that gives a connection away with every
    transaction: nothing is left in a session then, no prepared statement and
    no setting, and the timeouts are those of the role.
    """
    engine = create_engine(
        psycopg_url(url),
        isolation_level="AUTOCOMMIT",
        pool_size=pool_size,
        max_overflow=0,
        pool_timeout=POOL_WAIT_SECONDS,
        pool_use_lifo=True,
        pool_reset_on_return=None,  # every statement has committed itself
        hide_parameters=True,  # they hold secrets, and errors are logged
        connect_args={
            **KEEPALIVE,
            "application_name": "fairdeal",
            **({"prepare_threshold": None} if is_pooled else {"options": SESSION}),
        },
    )
    event.listen(engine, "do_connect", _connect)
    event.listen(engine, "handle_error", _note_demotion)
    return Database(engine, box, keyring)


def _connect(
    _dialect: object, _record: object, arguments: Sequence[Any], options: Mapping[str, Any]
) -> "PatientConnection[tuple[Any, ...]]":
    return PatientConnection.connect(*arguments, **options)


def _note_demotion(context: ExceptionContext) -> None:
    """A connection to a server that takes no writes is of no use: the next may lead elsewhere."""
    if isinstance(context.original_exception, psycopg.errors.ReadOnlySqlTransaction):
        context.is_disconnect = True


def psycopg_url(url: str) -> str:
    """The URL as SQLAlchemy wants it, whichever of Postgres' spellings it came in."""
    parsed = make_url(url.replace("postgres://", "postgresql://", 1))
    return parsed.set(drivername="postgresql+psycopg").render_as_string(hide_password=False)


@contextmanager
def _away_is_unavailable() -> Iterator[None]:
    try:
        yield
    except _AWAY as error:
        raise StoreUnavailable from error
    except DBAPIError as error:
        if isinstance(error.orig, _RAW_AWAY):
            raise StoreUnavailable from error
        raise


@contextmanager
def connection(database: Database) -> Iterator[Connection]:
    """A connection from the pool; raises StoreUnavailable."""
    with _away_is_unavailable(), database.engine.connect() as open_connection:
        yield open_connection


@contextmanager
def raw_connection(database: Database) -> Iterator[RawConnection]:
    """The driver's own connection, for the statements of every move; raises StoreUnavailable.

    It comes from the same pool and commits each statement by itself; it only
    skips what SQLAlchemy does around a statement.
    """
    try:
        pooled = database.engine.raw_connection()
    except (*_AWAY, psycopg.Error) as error:
        raise StoreUnavailable from error
    try:
        yield _driver(pooled)
    except _RAW_AWAY as error:
        pooled.invalidate(error)
        raise StoreUnavailable from error
    finally:
        pooled.close()


def _driver(pooled: PoolProxiedConnection) -> RawConnection:
    raw = pooled.driver_connection
    if not isinstance(raw, psycopg.Connection):
        message = "the pool holds connections of another driver"
        raise TypeError(message)
    if not raw.autocommit:
        raw.autocommit = True
    return raw


@contextmanager
def transaction(database: Database) -> Iterator[Connection]:
    """A transaction of several statements; raises StoreUnavailable."""
    several = database.engine.execution_options(isolation_level="READ COMMITTED")
    with _away_is_unavailable(), several.begin() as open_connection:
        yield open_connection


def drop_old(database: Database, at: Column[datetime], before: datetime) -> None:
    """Take away rows of the column's table that are older than that, some of them at a time."""
    key = tuple(at.table.primary_key)
    old = select(*key).where(at < before).limit(DROPPED_AT_ONCE)
    with connection(database) as open_connection:
        open_connection.execute(delete(at.table).where(tuple_(*key).in_(old)))


def is_ready(database: Database, revision: str) -> bool:
    """Whether the schema is at that revision or a later one; raises StoreUnavailable.

    A release works on the schema of the one after it: it goes on serving while
    the next is brought in. Revisions are numbers.
    """
    with connection(database) as open_connection:
        query = text("SELECT version_num FROM alembic_version")
        found = open_connection.execute(query).scalars().all()
        return len(found) == 1 and int(found[0]) >= int(revision)
