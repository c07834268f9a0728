"""Make a migration from the difference between the tables in the code and the migrations so far."""

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from alembic import command
from sqlalchemy import NullPool, create_engine

from service.store.database import psycopg_url
from service.store.embedded import embedded_postgres
from service.store.schema import head_revision, migrate, migration_config


def make(message: str) -> None:
    """Write the next revision; it is a draft, to be read and mended."""
    with TemporaryDirectory(prefix="fairdeal-migration-") as folder:
        Path(folder).chmod(0o755)
        with embedded_postgres(Path(folder)) as urls:
            migrate(urls.owner)
            engine = create_engine(psycopg_url(urls.owner), poolclass=NullPool)
            with engine.connect() as connection:
                config = migration_config(connection)
                number = f"{int(head_revision()) + 1:04d}"
                command.revision(config, message=message, autogenerate=True, rev_id=number)


if __name__ == "__main__":
    if len(sys.argv) != 2 or not sys.argv[1]:  # noqa: PLR2004  the script and its argument
        sys.exit('say what it does: make migration NAME="add a column"')
    make(sys.argv[1])
