from collections.abc import Callable
from pathlib import Path
from typing import Any

import psycopg
import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import NullPool, create_engine

from service.store.database import psycopg_url
from service.store.embedded import Urls
from service.store.schema import head_revision, migrate, migration_config
from service.store.tables import metadata


def test_there_is_one_line_of_migrations() -> None:
    script = ScriptDirectory.from_config(migration_config())
    assert script.get_heads() == [head_revision()]
    for revision in script.walk_revisions():
        assert Path(revision.path).name.startswith(f"{revision.revision}_")


def test_the_migrations_make_the_tables_that_the_queries_know(
    another_database: Callable[[], Urls],
) -> None:
    urls = another_database()
    migrate(urls.owner)
    engine = create_engine(psycopg_url(urls.owner), poolclass=NullPool)
    with engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_server_default": True})
        assert compare_metadata(context, metadata) == []


def test_the_migrations_go_down_and_up_again(another_database: Callable[[], Urls]) -> None:
    urls = another_database()
    migrate(urls.owner)
    engine = create_engine(psycopg_url(urls.owner), poolclass=NullPool)
    with engine.connect() as connection:
        command.downgrade(migration_config(connection), "base")
    with psycopg.connect(urls.owner) as owner:
        left: Any = owner.execute(
            "SELECT array_agg(tablename) FROM pg_tables WHERE schemaname = 'public'"
        ).fetchone()
    assert left[0] == ["alembic_version"]
    migrate(urls.owner)
    migrate(urls.owner)


def test_a_schema_of_one_role_works_with_its_triggers_alone(urls: Urls) -> None:
    """A DATABASE_URL whose one role owns everything: the triggers still refuse."""
    with (
        psycopg.connect(urls.superuser.replace("/postgres?", "/fairdeal?")) as superuser,
        pytest.raises(psycopg.errors.InsufficientPrivilege, match="only ever added to"),
    ):
        superuser.execute("TRUNCATE events")
