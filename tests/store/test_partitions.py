"""The log in parts by month: made during play, guarded as the whole, dropped if empty."""

import random
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime, timedelta
from typing import Any

import psycopg
import pytest
from api.test_games import opened
from chains import first_break
from cli.test_proof_commands import run
from conftest import Person, fresh_key, register, services_at
from play_through import play_on
from ulid import ULID

from service.app import create_app
from service.log import steps
from service.log.events import Actor
from service.store.appends import KeyBound, RequestKey, append, append_statement
from service.store.embedded import Urls
from service.store.partitions import bound, drop_empty, month_after, partition
from service.store.reads import read_events
from service.store.schema import migrate

NAMES = ("events", "idempotency_keys")


class Place:
    def __init__(self, urls: Urls, description: Any) -> None:
        self.urls = urls
        self.services = services_at(urls.service)
        app = create_app(self.services)
        app.test_client_class = description.checking_client()
        self.client = app.test_client()
        self.people: list[Person] = [register(self.client, name) for name in "ABC"]

    def begun(self) -> str:
        game: str = opened(self.people[0], seats=3, options={"rounds": 1})["game"]
        for person in self.people[1:]:
            assert person.post(f"/games/{game}/seats").status_code == 201
        return game

    def plays(self, game: str) -> None:
        play_on(self.services, self.people, game, random.Random(2))
        assert first_break(read_events(self.services.database, game, 0)) is None

    def owner(self) -> psycopg.Connection:
        return psycopg.connect(self.urls.owner, autocommit=True)


@pytest.fixture
def place(another_database: Callable[[], Urls], description: Any) -> Iterator[Place]:
    urls = another_database()
    migrate(urls.owner)
    made = Place(urls, description)
    yield made
    made.services.database.engine.dispose()


@pytest.mark.parametrize("month", [date(2026, 1, 1), date(2026, 12, 1), date(2031, 2, 1)])
def test_ids_of_a_month_lie_between_its_bounds(month: date) -> None:
    since, until = bound(month), bound(month_after(month))
    began = datetime(month.year, month.month, 1, tzinfo=UTC)
    after = month_after(month)
    ended = datetime(after.year, after.month, 1, tzinfo=UTC) - timedelta(milliseconds=1)
    for moment in (began, began + timedelta(days=13), ended):
        assert since <= str(ULID.from_datetime(moment)).lower() < until
    assert str(ULID.from_datetime(began - timedelta(milliseconds=1))).lower() < since


def test_months_follow_each_other() -> None:
    assert month_after(date(2026, 11, 30)) == date(2026, 12, 1)
    assert month_after(date(2026, 12, 1)) == date(2027, 1, 1)
    assert month_after(date(2026, 11, 30), 14) == date(2028, 1, 1)


def test_a_game_goes_on_while_its_log_is_parted(place: Place) -> None:
    """What is prepared in the open connections finds the new table by itself."""
    before, finished = place.begun(), place.begun()
    place.plays(finished)
    today = datetime.now(UTC).date()
    made = partition(place.urls.owner, today, 2)
    assert made == [
        name
        for table in NAMES
        for name in (
            f"{table}_first",
            f"{table}_rest",
            f"{table}_{month_after(today):%Y_%m}",
            f"{table}_{month_after(today, 2):%Y_%m}",
        )
    ]
    place.plays(before)
    place.plays(place.begun())
    assert partition(place.urls.owner, today, 2) == []
    assert partition(place.urls.owner, month_after(today), 2) == [
        f"{table}_{month_after(today, 3):%Y_%m}" for table in NAMES
    ]


def test_a_retry_is_answered_and_a_key_is_bound_once_in_a_parted_log(place: Place) -> None:
    partition(place.urls.owner, datetime.now(UTC).date(), 1)
    game, key = place.begun(), fresh_key()
    view = place.people[0].view(game)
    player = next(p for p in place.people if p.view(game)["legal_moves"])
    body = {"move": player.view(game)["legal_moves"][0], "expected_version": view["version"]}
    first = player.post(f"/games/{game}/moves", body, headers=key)
    again = player.post(f"/games/{game}/moves", body, headers=key)
    assert (first.status_code, again.status_code) == (201, 201)
    assert again.headers["Idempotent-Replayed"] == "true"
    other = player.post(f"/games/{game}/moves", {**body, "expected_version": 1}, headers=key)
    assert other.status_code == 422


def changes(part: str) -> list[str]:
    return [f"DELETE FROM {part}", f"UPDATE {part} SET body = ''"]  # noqa: S608  its own names


def test_the_parts_refuse_what_the_log_refuses(place: Place) -> None:
    place.plays(place.begun())
    today = datetime.now(UTC).date()
    partition(place.urls.owner, today, 1)
    parts = ("events", "events_first", "events_rest", f"events_{month_after(today):%Y_%m}")
    with place.owner() as owner:
        for part in parts:
            with pytest.raises(psycopg.errors.InsufficientPrivilege, match="only ever added to"):
                owner.execute(f"TRUNCATE {part}")
        for part in parts[:2]:
            for change in changes(part):
                with pytest.raises(
                    psycopg.errors.InsufficientPrivilege, match="only ever added to"
                ):
                    owner.execute(change)
    with psycopg.connect(place.urls.service, autocommit=True) as service:
        for part in parts:
            for change in changes(part):
                with pytest.raises(psycopg.errors.InsufficientPrivilege):
                    service.execute(change)


def test_an_append_looks_into_one_part(place: Place) -> None:
    today = datetime.now(UTC).date()
    partition(place.urls.owner, today, 3)
    with place.owner() as owner:
        query = "EXPLAIN SELECT body FROM events WHERE game_id = %s AND seq > 3"
        plan = owner.execute(query, [bound(month_after(today, 2)) + "0" * 16]).fetchall()
    told = "\n".join(line for (line,) in plan)
    assert f"events_{month_after(today, 2):%Y_%m}" in told
    assert told.count("events_") == 2, told
    assert append_statement(1).count("game_id") >= 2


def test_parts_whose_games_are_gone_are_dropped_and_no_others(place: Place) -> None:
    today = datetime.now(UTC).date()
    later = month_after(today, 3)
    place.plays(place.begun())
    partition(place.urls.owner, today, 2)
    assert drop_empty(place.urls.owner, later) == [
        f"{table}_{month_after(today, count):%Y_%m}" for table in NAMES for count in (1, 2)
    ]
    assert drop_empty(place.urls.owner, later) == []
    with psycopg.connect(place.urls.superuser, autocommit=True) as superuser:
        superuser.execute("SET session_replication_role = replica")
        superuser.execute("DELETE FROM events_first")
        superuser.execute("DELETE FROM idempotency_keys_first")
    assert drop_empty(place.urls.owner, later) == [], "this month has no part of its own yet"
    partition(place.urls.owner, month_after(later, -1), 2)
    assert drop_empty(place.urls.owner, later) == [f"{table}_first" for table in NAMES]
    place.plays(place.begun())


def test_the_command_parts_and_says_so(place: Place) -> None:
    settings = {"DATABASE_URL": place.urls.service, "OWNER_DATABASE_URL": place.urls.owner}
    first = run("partition", "--ahead", "1", **settings)
    assert first.exit_code == 0, first.output
    assert "events_first: made" in first.output
    again = run("partition", "--ahead", "1", "--drop-empty", **settings)
    assert again.output.splitlines() == ["0 parts made, 0 dropped"]


def test_a_key_that_is_bound_is_found_in_whichever_part(place: Place) -> None:
    partition(place.urls.owner, datetime.now(UTC).date(), 1)
    game = place.begun()
    player = next(p for p in place.people if p.view(game)["legal_moves"])
    body = {"move": player.view(game)["legal_moves"][0]}
    assert (
        player.post(f"/games/{game}/moves", body, headers={"Idempotency-Key": "k"}).status_code
        == 201
    )
    now = place.services.games.get(game)
    assert now is not None
    move = now.ruleset.absent_move(now.round.state)
    frame = steps.write(steps.play(now, move, Actor(kind="clock")), now, now.at)
    with pytest.raises(KeyBound):
        append(
            place.services.database,
            [frame],
            RequestKey(player=player.id, route="makeMoves", key="k", fingerprint=b""),
        )
    assert append(place.services.database, [frame]) is not None
