"""How often a request asks Postgres: counted, so that it stays as it is said."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
import pytest
from api.test_games import opened
from conftest import Person, fresh_key

from service.play.services import Services
from service.store.appends import RawConnection

MOVE, COLD_MOVE, VIEW, COLD_VIEW = 1, 2, 1, 2


@contextmanager
def counted(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Every statement that is sent, by whatever way."""
    sent: list[str] = []
    execute = psycopg.Cursor.execute

    def noting(cursor: Any, query: Any, *arguments: Any, **options: Any) -> Any:
        sent.append(str(query))
        return execute(cursor, query, *arguments, **options)

    with monkeypatch.context() as patched:
        patched.setattr(psycopg.Cursor, "execute", noting)
        yield sent


@pytest.fixture
def table(someone: Callable[..., Person]) -> tuple[str, list[Person]]:
    people = [someone(name) for name in ("Ilze", "Anna", "Zane")]
    game = opened(people[0])["game"]
    for person in people[1:]:
        assert person.post(f"/games/{game}/seats").status_code == 201
    for person in people:
        person.view(game)  # names and keys are remembered from here
    return game, people


def a_move(game: str, people: list[Person]) -> tuple[Person, dict[str, Any]]:
    person = next(one for one in people if one.view(game)["legal_moves"])
    view = person.view(game)
    return person, {"move": view["legal_moves"][0], "expected_version": view["version"]}


@pytest.mark.parametrize(("is_cold", "trips"), [(False, MOVE), (True, COLD_MOVE)])
def test_a_move_is_one_append_and_one_read_at_most(
    table: tuple[str, list[Person]],
    services: Services,
    monkeypatch: pytest.MonkeyPatch,
    is_cold: bool,  # noqa: FBT001
    trips: int,
) -> None:
    game, people = table
    person, body = a_move(game, people)
    if is_cold:
        services.games.drop(game)
    with counted(monkeypatch) as sent:
        answer = person.post(f"/games/{game}/moves", body, headers=fresh_key())
    assert answer.status_code == 201
    assert len(sent) == trips, sent
    assert "UPDATE games" in sent[-1]


@pytest.mark.parametrize(("is_cold", "trips"), [(False, VIEW), (True, COLD_VIEW)])
def test_a_view_is_one_read_and_two_where_the_game_is_not_remembered(
    table: tuple[str, list[Person]],
    services: Services,
    monkeypatch: pytest.MonkeyPatch,
    is_cold: bool,  # noqa: FBT001
    trips: int,
) -> None:
    game, people = table
    if is_cold:
        services.games.drop(game)
    with counted(monkeypatch) as sent:
        assert people[0].get(f"/games/{game}").status_code == 200
    assert len(sent) == trips, sent


def test_every_statement_is_counted(services: Services, monkeypatch: pytest.MonkeyPatch) -> None:
    with counted(monkeypatch) as sent, services.database.engine.connect() as connection:
        connection.exec_driver_sql("SELECT 1")
        raw: RawConnection = connection.connection.driver_connection  # type: ignore[assignment]
        raw.execute("SELECT 2")
    assert [text for text in sent if text.startswith("SELECT")] == ["SELECT 1", "SELECT 2"]
