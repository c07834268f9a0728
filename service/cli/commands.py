"""What the command line can do."""

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from service.app import configure_logs, describe_api, make_services
from service.cli.serving import serve
from service.settings import BadSettings, Settings, read_settings
from service.store.database import StoreUnavailable
from service.store.embedded import NoPostgres
from service.store.schema import migrate
from service.worker.loop import run_worker
from service.worker.stop import Stop


@click.group()
def main() -> None:
    """Card games over HTTP, with a log that nobody can quietly rewrite."""


@main.command("serve")
def serve_command() -> None:
    """Start everything: Postgres unless DATABASE_URL names one, migrations, the service."""
    with _said_in_a_line():
        sys.exit(serve(_settings()))


@main.command("migrate")
def migrate_command() -> None:
    """Bring the database at DATABASE_URL to this release's schema."""
    settings = _settings()
    url = settings.owner_database_url or settings.database_url
    if url is None:
        message = "set DATABASE_URL; `fairdeal serve` migrates its embedded Postgres by itself"
        raise click.ClickException(message)
    with _said_in_a_line():
        migrate(url)


@main.command("worker")
def worker_command() -> None:
    """Play on for bots whose turn no request is playing. Any number may run."""
    settings = _settings()
    if settings.database_url is None:
        message = "set DATABASE_URL; `fairdeal serve` runs a worker by itself"
        raise click.ClickException(message)
    configure_logs()
    stop = Stop()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, stop.set)
    run_worker(make_services(settings), stop)


@main.command("openapi")
@click.option("--check", is_flag=True, help="Fail if the file is not what would be written.")
@click.argument("file", type=click.Path(path_type=Path), default=Path("openapi.yaml"))
def openapi_command(file: Path, *, check: bool) -> None:
    """Write the description of the API to FILE."""
    text = describe_api()
    if not check:
        file.write_text(text, encoding="utf-8")
    elif not file.exists() or file.read_text(encoding="utf-8") != text:
        message = (
            f"{file} is not what the code describes: run `make openapi` and look at the change"
        )
        raise click.ClickException(message)


@contextmanager
def _said_in_a_line() -> Iterator[None]:
    """What keeps the service from starting, without a traceback."""
    try:
        yield
    except NoPostgres as error:
        raise click.ClickException(str(error)) from error
    except StoreUnavailable as error:
        message = "the database does not answer: look at DATABASE_URL"
        raise click.ClickException(message) from error


def _settings() -> Settings:
    try:
        return read_settings(os.environ)
    except BadSettings as error:
        raise click.ClickException(str(error)) from error
