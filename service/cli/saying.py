"""What a command can't do, said in a line; and the database that it works on."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import click

from service.settings import BadSettings, Settings, read_settings
from service.store.database import StoreUnavailable
from service.store.embedded import NoPostgres, any_postgres
from service.store.key_file import NoSigningKeys
from service.store.published import NotPublished


@contextmanager
def said_in_a_line() -> Iterator[None]:
    """What keeps a command from its work, without a traceback."""
    try:
        yield
    except (NoPostgres, NoSigningKeys, NotPublished) as error:
        raise click.ClickException(str(error)) from error
    except StoreUnavailable as error:
        message = "the database does not answer: look at DATABASE_URL"
        raise click.ClickException(message) from error


def the_settings() -> Settings:
    """The settings that the environment gives."""
    try:
        return read_settings(os.environ)
    except BadSettings as error:
        raise click.ClickException(str(error)) from error


@contextmanager
def with_database(settings: Settings) -> Iterator[Settings]:
    """The settings with the database that they name, or with the embedded one of their home."""
    if settings.database_url is not None:
        yield settings
        return
    with any_postgres(settings.home, settings.postgres_bin) as urls:
        yield replace(settings, database_url=urls.service, owner_database_url=urls.owner)
