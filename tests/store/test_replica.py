"""A real streaming replica answers reads, and nobody is shown less than they have seen."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import psycopg
import pytest
from conftest import fresh_key, services_at
from faults.test_standby import copied, wait_until_in_step
from flask.testing import FlaskClient

from service.app import create_app
from service.play.services import Services
from service.store.embedded import Urls, embedded_postgres
from service.store.replica import REST_SECONDS, Replica
from service.store.schema import migrate


class Pair:
    """A primary with its replica, whose replay the test stops and lets go on."""

    def __init__(self, primary: Urls, standby: Urls) -> None:
        self.primary, self.standby = primary, standby
        self.time = 0.0
        found = services_at(standby.service).database
        self.services: Services = replace(
            services_at(primary.service), replica=Replica(found, lambda: self.time)
        )

    def control(self, statement: str) -> Any:
        with psycopg.connect(self.standby.superuser, autocommit=True) as superuser:
            return superuser.execute(statement).fetchone()

    def hold(self) -> None:
        """Let the replica catch up, then let it fall behind."""
        with psycopg.connect(self.primary.superuser, autocommit=True) as superuser:
            (newest,) = superuser.execute("SELECT pg_current_wal_lsn()").fetchone() or ("",)
        while self.control(f"SELECT pg_last_wal_replay_lsn() >= '{newest}'") != (True,):
            pass
        self.control("SELECT pg_wal_replay_pause()")

    def go_on(self) -> None:
        self.control("SELECT pg_wal_replay_resume()")


@pytest.fixture(scope="module")
def pair() -> Iterator[Pair]:
    with TemporaryDirectory(prefix="fairdeal-pair-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        folder.chmod(0o755)
        with embedded_postgres(folder / "a") as primary:
            migrate(primary.owner)
            copied(primary, folder / "b")
            with (
                embedded_postgres(folder / "b") as standby,
                psycopg.connect(primary.superuser, autocommit=True) as superuser,
            ):
                wait_until_in_step(superuser, "async")
                made = Pair(primary, standby)
                yield made
                for used in (made.services.database, made.services.replica.database):
                    used.engine.dispose()


class Reader:
    """A player over a process of their own, which remembers nothing of the others'."""

    def __init__(self, pair: Pair, description: Any) -> None:
        self.pair = pair
        self.writer = self._client(pair.services, description)
        made = self.writer.post("/players", json={"name": "Ilze"}).get_json()
        self.headers = {"Authorization": f"Bearer {made['key']['token']}"}
        opening = {"ruleset": "crazy-rummy", "seats": 3, "sandbox": {"secret": "ab" * 32}}
        answer = self.writer.post("/games", json=opening, headers=self.headers | fresh_key())
        self.game = answer.get_json()["view"]["game"]
        for _ in range(2):
            path = f"/games/{self.game}/seats"
            self.writer.post(path, json={}, headers=self.headers | fresh_key())
        self.description = description

    def _client(self, services: Services, description: Any) -> FlaskClient:
        app = create_app(services)
        app.test_client_class = description.checking_client()
        return app.test_client()

    def moves(self) -> int:
        view = self.writer.get(f"/games/{self.game}", headers=self.headers).get_json()
        body = {"move": view["legal_moves"][0], "expected_version": view["version"]}
        path = f"/games/{self.game}/moves"
        answer = self.writer.post(path, json=body, headers=self.headers)
        assert answer.status_code == 201
        version: int = self.writer.get(f"/games/{self.game}", headers=self.headers).get_json()[
            "version"
        ]
        return version

    def sees(
        self, query: str = "", path: str = "", headers: Any = None, *, is_stranger: bool = False
    ) -> Any:
        """What a process without memories answers."""
        fresh = services_at(self.pair.primary.service)
        services = replace(fresh, replica=self.pair.services.replica)
        client = self._client(services, self.description)
        own = {} if is_stranger else self.headers
        found = client.get(f"/games/{self.game}{path}{query}", headers={**own, **(headers or {})})
        fresh.database.engine.dispose()
        return found


@pytest.fixture
def reader(pair: Pair, description: Any) -> Iterator[Reader]:
    made = Reader(pair, description)
    made.moves()
    pair.hold()
    yield made
    pair.go_on()


def test_who_names_a_version_is_answered_by_a_replica_that_has_it(reader: Reader) -> None:
    old = reader.sees().get_json()["version"]
    new = reader.moves()
    assert new > old
    assert reader.sees(f"?at_least={old}").get_json()["version"] == old
    assert reader.sees(f"?at={old}").get_json()["version"] == old
    page = reader.sees(f"?after={old - 1}", "/events").get_json()
    assert (page["version"], page["more"]) == (old, False)
    assert reader.sees(f"?from=1&to={old}", "/replay").get_json()["version"] == old


def test_who_has_seen_more_than_the_replica_has_is_answered_by_the_primary(reader: Reader) -> None:
    old = reader.sees().get_json()["version"]
    new = reader.moves()
    assert reader.sees(f"?at_least={new}").get_json()["version"] == new
    assert reader.sees(f"?at={new}").get_json()["at"] == new
    assert reader.sees(f"?after={new}", "/events").get_json()["version"] == new
    tag = reader.sees().headers["ETag"]
    assert reader.sees(headers={"If-None-Match": tag}).status_code == 304
    older = tag.replace(f"v{new}.", f"v{old}.")
    assert reader.sees(headers={"If-None-Match": older}).get_json()["version"] == old


def test_who_names_no_version_is_answered_by_the_primary(reader: Reader) -> None:
    new = reader.moves()
    assert reader.sees().get_json()["version"] == new
    assert reader.sees("", "/events").get_json()["version"] == new
    assert reader.sees("?after=0", "/events").get_json()["version"] == new
    assert reader.sees("", "/replay").get_json()["version"] == new


def test_a_version_that_nobody_has_is_not_found(reader: Reader) -> None:
    answer = reader.sees("?at_least=900")
    assert (answer.status_code, answer.get_json()["code"]) == (404, "version_not_found")


def test_the_process_that_wrote_never_shows_less_than_it_wrote(reader: Reader) -> None:
    old = reader.sees().get_json()["version"]
    new = reader.moves()
    path = f"/games/{reader.game}?at_least={old}"
    assert reader.writer.get(path, headers=reader.headers).get_json()["version"] == new


def test_a_stranger_sees_by_a_replica_what_a_stranger_may_see(reader: Reader) -> None:
    old = reader.sees().get_json()["version"]
    reader.moves()
    stranger = reader.sees(f"?at_least={old}", is_stranger=True).get_json()
    assert stranger["version"] == old
    assert not any("hand" in seat for seat in stranger["seats"])
    assert stranger["legal_moves"] == []


def test_a_replica_that_is_away_is_left_alone_for_a_while(pair: Pair) -> None:
    gone = services_at("postgresql://fairdeal_service@127.0.0.1:9/nothing").database
    replica = Replica(gone, lambda: pair.time)
    services = replace(pair.services, replica=replica)
    client = create_app(services).test_client()
    made = client.post("/players", json={"name": "Ilze"}).get_json()
    headers = {"Authorization": f"Bearer {made['key']['token']}"}
    opening = {"ruleset": "crazy-rummy", "seats": 3}
    game = client.post("/games", json=opening, headers=headers).get_json()["view"]["game"]
    assert client.get(f"/games/{game}?at_least=1", headers=headers).status_code == 200
    assert not replica.has(game, 1)
    pair.time += REST_SECONDS + 1
    assert client.get(f"/games/{game}?at_least=1", headers=headers).status_code == 200
    gone.engine.dispose()
