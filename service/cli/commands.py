"""The commands that run the service."""

import signal
import sys
from pathlib import Path

import click

from service.app import configure_logs, describe_api, make_services, wake_each_other
from service.cli.saying import said_in_a_line, the_settings
from service.cli.serving import serve, serve_web
from service.play.checkpointing import Checkpointer
from service.store.schema import migrate
from service.worker.loop import Worker
from service.worker.stop import Stop


@click.command("serve")
def serve_command() -> None:
    """Start everything: Postgres unless DATABASE_URL names one, migrations, the service."""
    with said_in_a_line():
        sys.exit(serve(the_settings()))


@click.command("web")
def web_command() -> None:
    """Start the web processes alone, over a database that is migrated; any number may run."""
    settings = the_settings()
    if settings.database_url is None:
        message = "set DATABASE_URL; `fairdeal serve` starts web processes by itself"
        raise click.ClickException(message)
    with said_in_a_line():
        sys.exit(serve_web(settings))


@click.command("migrate")
def migrate_command() -> None:
    """Bring the database at DATABASE_URL to this release's schema."""
    settings = the_settings()
    url = settings.owner_database_url or settings.database_url
    if url is None:
        message = "set DATABASE_URL; `fairdeal serve` migrates its embedded Postgres by itself"
        raise click.ClickException(message)
    with said_in_a_line():
        migrate(url)


@click.command("worker")
def worker_command() -> None:
    """Play on for bots and by the clock, tell players, sign checkpoints. Any number may run."""
    settings = the_settings()
    if settings.database_url is None:
        message = "set DATABASE_URL; `fairdeal serve` runs a worker by itself"
        raise click.ClickException(message)
    configure_logs()
    stop = Stop()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, stop.set)
    with said_in_a_line():
        services = make_services(settings)
    checkpointer = Checkpointer(services, settings.checkpoint_folder)
    worker = Worker(services, checkpointer, settings.checkpoint_seconds)
    wake_each_other(services, settings, worker.rung.set)
    worker.run(stop)


@click.command("openapi")
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
