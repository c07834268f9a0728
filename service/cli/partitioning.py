"""`fairdeal partition`: the log in parts by month."""

import click

from service.cli.plain import counted
from service.cli.saying import said_in_a_line, the_settings, with_database
from service.play.services import utc_now
from service.store.partitions import drop_empty, partition


@click.command("partition")
@click.option(
    "--ahead",
    type=click.IntRange(1, 24),
    default=3,
    show_default=True,
    help="For how many months to come parts are made.",
)
@click.option("--drop-empty", "is_dropping", is_flag=True, help="Drop past parts that are empty.")
def partition_command(ahead: int, *, is_dropping: bool) -> None:
    """Part the log by month, and make the parts of the months to come; run it every month.

    While the service serves, as the owner of the tables. A part whose games
    `fairdeal retain` has all removed can be dropped.
    """
    today = utc_now().date()
    with said_in_a_line(), with_database(the_settings()) as settings:
        url = settings.owner_database_url or str(settings.database_url)
        made = partition(url, today, ahead)
        dropped = drop_empty(url, today) if is_dropping else ()
    for name in made:
        click.echo(f"{name}: made")
    for name in dropped:
        click.echo(f"{name}: dropped")
    click.echo(f"{counted(len(made), 'part')} made, {len(dropped)} dropped")
