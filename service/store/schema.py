"""The schema and its revisions: migrations run as the owner of the tables, one run at a time."""

from functools import cache
from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, NullPool, create_engine, text
from sqlalchemy.exc import OperationalError

import migrations
from service.store.database import StoreUnavailable, psycopg_url

MIGRATION_LOCK = 0x46414952
"""The advisory lock that lets one run of migrations in at a time."""


@cache
def head_revision() -> str:
    """The revision that this release of the service needs."""
    head = ScriptDirectory.from_config(migration_config()).get_current_head()
    if head is None:
        message = "there are no migrations"
        raise LookupError(message)
    return head


def migrate(url: str) -> None:
    """Bring the database at the URL to the newest revision; raises StoreUnavailable."""
    engine = create_engine(psycopg_url(url), poolclass=NullPool)
    try:
        opened = engine.connect()
    except OperationalError as error:
        raise StoreUnavailable from error
    with opened as connection:
        connection.execute(text("SELECT pg_advisory_lock(:lock)"), {"lock": MIGRATION_LOCK})
        connection.execute(text("SET lock_timeout = '4s'"))
        connection.execute(text("SET statement_timeout = '30s'"))
        connection.commit()
        command.upgrade(migration_config(connection), "head")
    engine.dispose()


def migration_config(connection: Connection | None = None) -> Config:
    """Alembic's configuration, with the connection that it is to run over."""
    config = Config()
    config.set_main_option("script_location", str(Path(migrations.__file__).parent))
    config.attributes["connection"] = connection
    return config
