"""The keys that sign: listed, and changed."""

import json

import click

from service.cli.saying import said_in_a_line, the_settings
from service.store.key_file import KeyFile


@click.group("keys")
def keys_group() -> None:
    """The keys that sign receipts and checkpoints."""


@keys_group.command("list")
def list_command() -> None:
    """Print the public keys as `fairdeal verify --keys` takes them."""
    with said_in_a_line():
        keys = KeyFile(the_settings().key_file).public_keys()
    click.echo(json.dumps({"keys": [key.to_json() for key in keys]}, indent=2))


@keys_group.command("rotate")
def rotate_command() -> None:
    """Sign with a new key from now on. Running processes take it up by themselves."""
    with said_in_a_line():
        fresh = KeyFile(the_settings().key_file).rotate()
    click.echo(f"{fresh.id} signs since {fresh.valid_from}; what older keys signed stays good")
