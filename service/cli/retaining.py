"""`fairdeal retain`: games past their age leave the database, and their exports stay."""

import sys
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import click

from service.app import make_services
from service.cli.plain import counted, plain
from service.cli.saying import said_in_a_line, the_settings, with_database
from service.play.retaining import NotTheOwner, Outcomes, retain


@click.command("retain")
@click.option(
    "--days",
    type=click.IntRange(min=1),
    required=True,
    help="Games that ended longer ago are removed.",
)
@click.option(
    "--to",
    "folder",
    type=click.Path(file_okay=False, path_type=Path),
    required=True,
    help="The folder that their exports are written to.",
)
@click.option("--dry-run", "is_dry", is_flag=True, help="Verify, and say what would be removed.")
def retain_command(days: int, folder: Path, *, is_dry: bool) -> None:
    """Export, verify and remove games past their age, as the owner of the tables.

    Heads and checkpoints stay. A game that can't be verified stays too, and is
    reported; the exit status is 1 then.
    """
    removed = kept = 0
    try:
        for outcome in _retained(timedelta(days=days), folder, is_dry=is_dry):
            if outcome.fault is None:
                removed += 1
                click.echo(f"{outcome.game}: {counted(outcome.events, 'event')}")
            else:
                kept += 1
                click.echo(plain(f"{outcome.game}: kept, {outcome.fault}"), err=True)
    except NotTheOwner as error:
        message = "only the owner of the tables removes games: set OWNER_DATABASE_URL"
        raise click.ClickException(message) from error
    except OSError as error:
        message = f"the exports can't be written: {error}"
        raise click.ClickException(message) from error
    done = "would be removed" if is_dry else "removed"
    click.echo(f"{counted(removed, 'game')} {done}, {kept} kept for a fault")
    sys.exit(1 if kept else 0)


def _retained(age: timedelta, folder: Path, *, is_dry: bool) -> Iterator[Outcomes]:
    if not is_dry:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    with said_in_a_line(), with_database(the_settings()) as settings:
        services = make_services(settings.as_owner())
        try:
            yield from retain(services, services.now() - age, folder, is_dry=is_dry)
        finally:
            services.database.engine.dispose()
