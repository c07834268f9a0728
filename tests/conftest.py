"""What the tests stand on: a real Postgres, the whole application, and the description of it."""

import io
import json
import os
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from uuid import uuid4

import psycopg
import pytest
import structlog
from described import Description
from flask import Flask
from flask.testing import FlaskClient
from psycopg import sql
from signing import KEYRING

from service.app import create_app, describe_api
from service.play.services import Services
from service.store.database import connect
from service.store.embedded import DATABASE_NAME, Urls, embedded_postgres
from service.store.schema import migrate
from service.store.secret_box import SecretBox

VECTORS = Path(__file__).parent / "vectors"

if "PYTEST_XDIST_WORKER" in os.environ:  # the servers that tests start are not measured
    os.environ.pop("COVERAGE_PROCESS_CONFIG", None)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What starts and kills servers runs in a few rows, one after the other, beside the rest."""
    for item in items:
        parts = set(item.path.parts)
        if "pages" in parts:
            item.add_marker(pytest.mark.xdist_group("browsers"))
        elif item.path.name in ("test_disks.py", "test_lines.py", "test_standby.py"):
            item.add_marker(pytest.mark.xdist_group("storms"))
        elif {"faults", "clients"} & parts:
            item.add_marker(pytest.mark.xdist_group("servers"))


HEADING = """| what happens | moves | answers missed | got by a retry | lost | doubled |
|---|---|---|---|---|---|"""


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """The table of docs/reliability.md, by what the tests of faults noted."""
    passed = terminalreporter.stats.get("passed", [])
    rows = [value for test in passed for name, value in test.user_properties if name == "row"]
    if rows:
        terminalreporter.section("faults")
        terminalreporter.write_line("\n".join([HEADING, *rows]))


@pytest.fixture
def note(record_property: Callable[[str, object], None]) -> Callable[[str, Any], None]:
    """Puts a row into the table of faults."""
    return lambda what, reckoning: record_property("row", reckoning.row(what))


@pytest.fixture(scope="session")
def home() -> Iterator[Path]:
    with TemporaryDirectory(prefix="fairdeal-test-") as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


@pytest.fixture
def own_home() -> Iterator[Path]:
    """A folder for a service of the test's own, with a short path."""
    with TemporaryDirectory(prefix="fairdeal-own-", ignore_cleanup_errors=True) as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


@pytest.fixture(scope="session")
def urls(home: Path) -> Iterator[Urls]:
    """A server of the tests' own, at the newest revision."""
    binaries = os.environ.get("FAIRDEAL_POSTGRES_BIN")
    with embedded_postgres(home, Path(binaries) if binaries else None) as running:
        migrate(running.owner)
        yield running


@pytest.fixture
def owner(urls: Urls) -> Iterator[psycopg.Connection]:
    """A connection as the owner of the tables."""
    with psycopg.connect(urls.owner, autocommit=True) as connection:
        yield connection


@pytest.fixture
def another_database(urls: Urls) -> Iterator[Callable[[], Urls]]:
    """Makes databases of their own, as the first was when it was migrated."""
    made: list[str] = []

    def make() -> Urls:
        name = f"other_{uuid4().hex[:12]}"
        with psycopg.connect(urls.superuser, autocommit=True) as superuser:
            superuser.execute(
                sql.SQL("CREATE DATABASE {} OWNER fairdeal_owner").format(sql.Identifier(name))
            )
        made.append(name)

        def renamed(url: str) -> str:
            return url.replace(f"/{DATABASE_NAME}?", f"/{name}?").replace("/postgres?", f"/{name}?")

        return Urls(renamed(urls.owner), renamed(urls.service), renamed(urls.superuser))

    yield make
    with psycopg.connect(urls.superuser, autocommit=True) as superuser:
        for name in made:
            superuser.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


@pytest.fixture
def own(another_database: Callable[[], Urls]) -> Urls:
    """A database of the test's own, at the newest revision."""
    urls = another_database()
    migrate(urls.owner)
    return urls


def services_at(url: str, keyring: Any = KEYRING, **others: Any) -> Services:
    database = connect(url, SecretBox(), keyring, pool_size=20)
    return Services(database=database, **{"chance": random.Random(5), **others})


@pytest.fixture(scope="session")
def shared_services(urls: Urls) -> Iterator[Services]:
    made = services_at(urls.service)
    yield made
    made.database.engine.dispose()


@pytest.fixture
def services(shared_services: Services) -> Iterator[Services]:
    """The services over one database for all tests: each makes players and games of its own.

    Whoever follows something leaves it again.
    """
    yield shared_services
    assert shared_services.feed.followed() == {}


@pytest.fixture(scope="session")
def description() -> Description:
    return Description(describe_api())


@pytest.fixture(scope="session")
def shared_app(shared_services: Services) -> Flask:
    return create_app(shared_services)


@pytest.fixture
def app(shared_app: Flask) -> Flask:
    return shared_app


@pytest.fixture
def client(app: Flask, description: Description) -> FlaskClient:
    """A client that holds every answer against `openapi.yaml`."""
    app.test_client_class = description.checking_client()
    return app.test_client()


@dataclass(frozen=True)
class Person:
    """A player with a key, and a client to call with."""

    id: str
    headers: dict[str, str]
    client: FlaskClient

    def get(self, path: str, **options: Any) -> Any:
        return self._call("GET", path, options)

    def post(self, path: str, body: Any = None, **options: Any) -> Any:
        return self._call("POST", path, {"json": {} if body is None else body, **options})

    def put(self, path: str, body: Any, **options: Any) -> Any:
        return self._call("PUT", path, {"json": body, **options})

    def delete(self, path: str, **options: Any) -> Any:
        return self._call("DELETE", path, options)

    def move(self, game: str, move: Any, **body: Any) -> Any:
        return self.post(f"/games/{game}/moves", {"move": move, **body}, headers=fresh_key())

    def view(self, game: str) -> Any:
        return self.get(f"/games/{game}").get_json()

    def _call(self, method: str, path: str, options: dict[str, Any]) -> Any:
        headers = {**self.headers, **options.pop("headers", {})}
        return self.client.open(path, method=method, headers=headers, **options)


def fresh_key() -> dict[str, str]:
    return {"Idempotency-Key": uuid4().hex}


def register(client: FlaskClient, name: str = "Ilze", kind: str = "human") -> Person:
    answer = client.post("/players", json={"name": name, "kind": kind}).get_json()
    token = answer["key"]["token"]
    return Person(answer["player"]["id"], {"Authorization": f"Bearer {token}"}, client)


@pytest.fixture
def someone(client: FlaskClient) -> Callable[..., Person]:
    """Registers players."""

    def make(name: str = "Ilze", kind: str = "human") -> Person:
        return register(client, name, kind)

    return make


@pytest.fixture
def ilze(someone: Callable[..., Person]) -> Person:
    return someone("Ilze")


@pytest.fixture
def log_lines() -> Iterator[io.StringIO]:
    """What the service logs while the test runs."""
    lines = io.StringIO()
    before = structlog.get_config()
    structlog.configure(
        processors=[structlog.processors.JSONRenderer()],
        logger_factory=structlog.WriteLoggerFactory(file=lines),
        cache_logger_on_first_use=False,
    )
    yield lines
    structlog.configure(**before)


@pytest.fixture(autouse=True, scope="session")
def _quiet_log() -> None:
    """The tests' own log goes nowhere, unless a test asks for it."""
    structlog.configure(
        processors=[structlog.processors.JSONRenderer(serializer=json.dumps)],
        logger_factory=structlog.WriteLoggerFactory(file=io.StringIO()),
        cache_logger_on_first_use=False,
    )
