"""An answer that never comes is not waited for without end."""

import time
from collections.abc import Callable
from typing import Any

import psycopg
import pytest
from conftest import services_at
from faults.lines import Mode, line_to
from sqlalchemy import make_url, text

from service.store import database
from service.store.database import (
    Database,
    StoreUnavailable,
    connection,
    raw_connection,
    transaction,
)
from service.store.embedded import Urls
from service.store.reads import count_games
from service.store.schema import migrate
from service.store.wakeups import Wakeups


def ask(found: Database, opened: Callable[..., Any], question: str = "SELECT 1") -> None:
    statement: Any = question if opened is raw_connection else text(question)
    with opened(found) as open_connection:
        open_connection.execute(statement)


@pytest.mark.parametrize("opened", [raw_connection, connection, transaction])
def test_a_line_that_fell_silent_is_given_up_and_the_next_one_is_good(
    urls: Urls, monkeypatch: pytest.MonkeyPatch, opened: Callable[..., Any]
) -> None:
    monkeypatch.setattr(database, "ANSWER_SECONDS", 0.5)
    with line_to(urls.service) as (line, url):
        found = services_at(url).database
        known = count_games(found)
        line.mode = Mode.SILENT
        began = time.monotonic()
        with pytest.raises(StoreUnavailable):
            ask(found, opened)
        assert time.monotonic() - began < 5
        line.mode = Mode.PASS
        assert count_games(found) >= known
        found.engine.dispose()


def test_who_hears_of_moves_hears_again_after_a_silence(
    urls: Urls, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "ANSWER_SECONDS", 0.5)
    heard: list[str] = []
    with line_to(urls.service) as (line, url):
        wakeups = Wakeups(url, lambda: {"a": 1}, lambda game, _version: heard.append(game))
        wakeups.start()
        time.sleep(0.5)
        line.mode = Mode.SILENT
        time.sleep(2.5)
        line.mode = Mode.PASS
        deadline = time.monotonic() + 10
        while "moved" not in heard:
            assert time.monotonic() < deadline
            wakeups.moved("moved", 1)
            time.sleep(0.1)


@pytest.mark.parametrize("opened", [raw_connection, connection, transaction])
def test_a_server_that_takes_no_writes_is_away(
    another_database: Callable[[], Urls], opened: Callable[..., Any]
) -> None:
    """A standby that is not promoted yet says so of every write, and is asked anew."""
    own = another_database()
    migrate(own.owner)
    name = make_url(own.owner).database
    change = "ALTER DATABASE {} SET default_transaction_read_only = {}"
    found = services_at(own.service).database
    with psycopg.connect(own.superuser, autocommit=True) as superuser:
        superuser.execute(change.format(name, "on"))
        with pytest.raises(StoreUnavailable):
            ask(found, opened, "DELETE FROM stream_tickets")
        superuser.execute("SET default_transaction_read_only = off")
        superuser.execute(change.format(name, "off"))
        ask(found, opened, "DELETE FROM stream_tickets")
    found.engine.dispose()
