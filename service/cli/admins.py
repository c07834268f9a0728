"""`fairdeal admin`: keys of admins, as the owner of the tables; and the trail of what they did."""

import secrets
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click
from sqlalchemy import Engine

from service.cli.saying import said_in_a_line, the_settings, with_database
from service.play.admins import ADMIN_SCOPES
from service.play.services import new_ulid, timestamp, utc_now
from service.play.tokens import ADMIN_PREFIX, digest, make_token
from service.proof.trail import first_break
from service.store import admins as store
from service.store.admins import AdminKey

PREFIX = "admin."


@click.group("admin")
def admin_group() -> None:
    """Keys of admins, and the trail of what they did."""


@admin_group.command("add")
@click.argument("name")
@click.option(
    "--scope",
    "scopes",
    multiple=True,
    type=click.Choice([scope.removeprefix(PREFIX) for scope in ADMIN_SCOPES]),
    help="What the key may do; only `read` unless given. May be given several times.",
)
@click.option("--player", "players", multiple=True, help="An account of the same person.")
def add_command(name: str, scopes: tuple[str, ...], players: tuple[str, ...]) -> None:
    """Make a key for NAME, and show its token, this once."""
    token = make_token(secrets.token_bytes(32), ADMIN_PREFIX)
    key = AdminKey(
        id=new_ulid(),
        name=name,
        scopes=[PREFIX + scope for scope in scopes or ("read",)],
        players=list(players),
        created_at=utc_now(),
    )
    with _engine() as engine:
        store.add_admin_key(engine, key, digest(token))
    click.echo(f"{key.id} {token}")


@admin_group.command("list")
def list_command() -> None:
    """List the keys."""
    with _engine() as engine:
        for key in store.list_admin_keys(engine):
            state = "live" if key.revoked_at is None else f"revoked {timestamp(key.revoked_at)}"
            scopes = ",".join(scope.removeprefix(PREFIX) for scope in key.scopes)
            click.echo(f"{key.id}  {key.name}  {scopes}  {state}")


@admin_group.command("revoke")
@click.argument("key")
def revoke_command(key: str) -> None:
    """End the KEY of that id, for good."""
    with _engine() as engine:
        if not store.revoke_admin_key(engine, key, utc_now()):
            message = f"there is no key {key}"
            raise click.ClickException(message)


@admin_group.command("trail")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
def trail_command(file: Path) -> None:
    """Check a trail that was taken away: whether a line was changed, dropped or moved."""
    lines = file.read_text(encoding="utf-8").splitlines()
    found = first_break(lines)
    if found is not None:
        click.echo(f"line {found.seq}: {found.reason}")
        sys.exit(1)
    click.echo(f"{len(lines)} lines follow from each other")


@contextmanager
def _engine() -> Iterator[Engine]:
    """A way to the tables as their owner: that of the settings, or of the embedded server."""
    with said_in_a_line(), with_database(the_settings()) as settings:
        engine = store.owner_engine(settings.owner_database_url or settings.database_url or "")
        try:
            yield engine
        finally:
            engine.dispose()
