"""Retention: what is past its age is exported, verified and removed, and nothing else is."""

import hashlib
import json
import random
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest
from api.test_games import code, opened
from cli.test_proof_commands import run
from click.testing import Result
from conftest import Person, fresh_key, register, services_at
from flask.testing import FlaskClient
from play.test_checkpointing import rewrite
from play_through import play_on
from psycopg import sql

from service.app import create_app
from service.play import retaining
from service.play.checkpointing import Checkpointer
from service.play.services import Services, utc_now
from service.proof.verify import verify
from service.store.embedded import Urls
from service.store.key_file import KeyFile
from service.store.schema import migrate


class Place:
    """A service over a database of its own, with three people, and its home."""

    def __init__(self, urls: Urls, home: Path, description: Any) -> None:
        self.urls, self.home = urls, home
        keyring = KeyFile.at(home / "signing-keys.json")
        self.services: Services = services_at(urls.service, keyring=keyring)
        app = create_app(self.services)
        app.test_client_class = description.checking_client()
        self.client: FlaskClient = app.test_client()
        self.people: list[Person] = [register(self.client, name) for name in "ABC"]

    def table(self, **body: Any) -> str:
        game: str = opened(self.people[0], seats=3, options={"rounds": 1}, **body)["game"]
        for person in self.people[1:]:
            answer = person.post(f"/games/{game}/seats")
            assert answer.status_code == 201 or body.get("visibility") == "private"
        return game

    def played(self) -> str:
        game = self.table()
        play_on(self.services, self.people, game, random.Random(2))
        return game

    def checkpoint(self) -> None:
        Checkpointer(self.services, self.home / "checkpoints").run()

    def age(self, *games: str) -> None:
        for game in games:
            rewrite(
                self.urls,
                "UPDATE games SET moved_at = moved_at - interval '400 days' WHERE id = %s",
                game,
            )

    def run(self, *arguments: object) -> Result:
        return run(
            *arguments,
            FAIRDEAL_HOME=str(self.home),
            DATABASE_URL=self.urls.service,
            OWNER_DATABASE_URL=self.urls.owner,
        )


@pytest.fixture
def place(
    another_database: Callable[[], Urls], tmp_path: Path, description: Any
) -> Iterator[Place]:
    urls = another_database()
    migrate(urls.owner)
    made = Place(urls, tmp_path, description)
    yield made
    made.services.database.engine.dispose()


def rows_of(place: Place, game: str) -> dict[str, int]:
    """How many rows of the game each table has."""
    counts = {}
    with psycopg.connect(place.urls.owner, autocommit=True) as connection:
        tables = connection.execute(
            "SELECT table_name FROM information_schema.columns "
            "WHERE table_schema = 'public' AND column_name = 'game_id'"
        ).fetchall()
        for (table,) in tables:
            query = sql.SQL("SELECT count(*) FROM {} WHERE game_id = %s")
            row = connection.execute(query.format(sql.Identifier(table)), (game,)).fetchone()
            counts[table] = row[0] if row else 0
    return {table: count for table, count in counts.items() if count}


def test_old_games_leave_and_their_exports_verify(place: Place, tmp_path: Path) -> None:
    old, young, running = place.played(), place.played(), place.table()
    disputed = place.played()
    asked = {"reason": "rules", "statement": "That was no move."}
    assert place.people[0].post(f"/games/{disputed}/disputes", asked).status_code == 201
    place.checkpoint()
    place.age(old, running, disputed)
    folder = tmp_path / "kept"
    dry = place.run("retain", "--days", "365", "--to", folder, "--dry-run")
    assert dry.exit_code == 0, dry.output
    assert "1 game would be removed" in dry.output
    assert not folder.exists()
    text = place.client.get(f"/games/{old}/export").text
    ran = place.run("retain", "--days", "365", "--to", folder)
    assert ran.exit_code == 0, ran.output
    assert f"{old}: " in ran.output
    file = folder / f"{old}.jsonl"
    assert [path.name for path in folder.iterdir()] == [file.name]
    assert file.read_text() == text
    kept = place.home / "checkpoints" / "latest.txt"
    keys = tmp_path / "keys.json"
    keys.write_text(place.client.get("/keys").text)
    verified = place.run("verify", file, "--checkpoint", kept, "--keys", keys)
    assert verified.exit_code == 0, verified.output
    left = rows_of(place, old)
    assert left.pop("retained_games") == 1
    assert left.pop("tree_leaves") >= 1
    assert set(left) <= {"notices"}
    answer = place.client.get(f"/games/{old}")
    assert code(answer) == (410, "game_removed")
    said = answer.get_json()
    assert said["export_sha256"] == hashlib.sha256(file.read_bytes()).hexdigest()
    assert said["head"] == json.loads(text.splitlines()[-2])["hash"]
    for game in (young, running, disputed):
        assert place.client.get(f"/games/{game}").status_code == 200
    assert place.run("verify", "--all").exit_code == 0
    audited = place.run("audit")
    assert audited.exit_code == 0, audited.output
    again = place.run("retain", "--days", "365", "--to", folder)
    assert "0 games removed" in again.output
    with psycopg.connect(place.urls.owner) as connection:
        line = connection.execute("SELECT body FROM audit ORDER BY seq DESC LIMIT 1").fetchone()
    assert line is not None
    assert json.loads(line[0])["action"] == "retention"


def test_what_does_not_verify_stays(place: Place, tmp_path: Path) -> None:
    game = place.played()
    place.checkpoint()
    place.age(game)
    broken = (
        "UPDATE events SET body = replace(body, '\"points\":', '\"point\":') WHERE game_id = %s"
    )
    rewrite(place.urls, broken, game)
    ran = place.run("retain", "--days", "365", "--to", tmp_path / "kept")
    assert ran.exit_code == 1
    assert f"{game}: kept" in ran.output
    assert rows_of(place, game)["events"] > 5
    assert list((tmp_path / "kept").iterdir()) == []


def test_a_private_game_that_was_removed_is_not_found_by_strangers(
    place: Place, tmp_path: Path
) -> None:
    ilze = place.people[0]
    bots = [{"seat": 2}, {"seat": 3}]
    game = opened(ilze, bots=bots, visibility="private", options={"rounds": 1})["game"]
    ilze.put(f"/games/{game}/seats/1/contribution", {"contribution": "x"})
    play_on(place.services, [ilze], game, random.Random(5))
    place.checkpoint()
    place.age(game)
    assert place.run("retain", "--days", "365", "--to", tmp_path / "kept").exit_code == 0
    assert code(ilze.get(f"/games/{game}")) == (410, "game_removed")
    assert code(place.people[1].get(f"/games/{game}")) == (404, "game_not_found")
    for path in ("", "/export", "/events", "/replay", "/fairness"):
        assert code(place.client.get(f"/games/{game}{path}")) == (404, "game_not_found")


def test_the_log_lets_nothing_go_that_was_not_retained(place: Place) -> None:
    game = place.played()
    with psycopg.connect(place.urls.owner, autocommit=True) as connection:
        for query in (
            "DELETE FROM events WHERE game_id = %s",
            "DELETE FROM games WHERE id = %s",
            "DELETE FROM game_secrets WHERE game_id = %s",
        ):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute(query.encode(), (game,))
    with psycopg.connect(place.urls.service, autocommit=True) as connection:
        for query in ("DELETE FROM retained_games", "INSERT INTO retained_games DEFAULT VALUES"):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute(query.encode())


def test_a_folder_that_can_not_be_written_to_is_said_to_be(place: Place, tmp_path: Path) -> None:
    game = place.played()
    place.checkpoint()
    place.age(game)
    (tmp_path / "file").write_text("")
    ran = place.run("retain", "--days", "365", "--to", tmp_path / "file" / "kept")
    assert ran.exit_code == 1
    assert "can't be written" in ran.output
    assert place.client.get(f"/games/{game}").status_code == 200


def test_a_game_that_is_disputed_meanwhile_stays(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    game = place.played()
    place.checkpoint()
    place.age(game)

    def late(*arguments: Any) -> Any:
        asked = {"reason": "rules", "statement": "That was no move."}
        place.people[0].post(f"/games/{game}/disputes", asked, headers=fresh_key())
        return verify(*arguments)

    monkeypatch.setattr(retaining, "verify", late)
    owner = services_at(place.urls.owner, keyring=place.services.database.keyring)
    folder = tmp_path / "kept"
    folder.mkdir()
    before = utc_now() - timedelta(days=365)
    (outcome,) = retaining.retain(owner, before, folder, is_dry=False)
    owner.database.engine.dispose()
    assert outcome.fault == "it has changed meanwhile"
    assert place.client.get(f"/games/{game}").status_code == 200
    assert (folder / f"{game}.jsonl").stat().st_mode & 0o777 == 0o600


def test_the_services_own_role_removes_nothing(place: Place, tmp_path: Path) -> None:
    game = place.played()
    place.checkpoint()
    place.age(game)
    environment = {"FAIRDEAL_HOME": str(place.home), "DATABASE_URL": place.urls.service}
    ran = run("retain", "--days", "365", "--to", tmp_path / "kept", **environment)
    assert ran.exit_code == 1
    assert "OWNER_DATABASE_URL" in ran.output
    assert not list((tmp_path / "kept").iterdir())
