"""The release before works on this one's schema: it serves while the next is brought in."""

import os
import subprocess
import sys
import tarfile
from collections.abc import Callable
from io import BytesIO
from pathlib import Path

import psycopg
import pytest
from conftest import services_at

from service.store.database import is_ready
from service.store.embedded import Urls
from service.store.schema import head_revision, migrate

ROOT = Path(__file__).parents[2]

PLAY = """
import os
import service
from service.app import create_app, make_services
from service.settings import read_settings

assert service.__file__.startswith(os.getcwd()), service.__file__
client = create_app(make_services(read_settings(os.environ))).test_client()
made = client.post("/players", json={"name": "Ilze"}).get_json()
headers = {"Authorization": f"Bearer {made['key']['token']}"}
opening = {"ruleset": "jokers-go-boom", "seats": 3, "options": {"rounds": 1},
           "sandbox": {"secret": "ab" * 32}}
game = client.post("/games", json=opening, headers=headers).get_json()["view"]["game"]
for _ in range(2):
    client.post(f"/games/{game}/seats", json={}, headers=headers)
while (view := client.get(f"/games/{game}", headers=headers).get_json())["status"] == "active":
    body = {"move": view["legal_moves"][0], "expected_version": view["version"]}
    answer = client.post(f"/games/{game}/moves", json=body, headers=headers)
    assert answer.status_code == 201, answer.get_json()
assert view["status"] == "finished"
export = client.get(f"/games/{game}/export", headers=headers)
assert export.status_code == 200
print("played", view["version"])
"""


def git(*arguments: str) -> bytes:
    found = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, check=False)
    if found.returncode:
        pytest.skip("the history is not at hand")
    return found.stdout


def code_before(revision: str, folder: Path) -> None:
    """The code as it was before that migration came."""
    (migration,) = (ROOT / "migrations" / "versions").glob(f"{revision}_*.py")
    path = migration.relative_to(ROOT)
    log = git("log", "--diff-filter=A", "--format=%H", "-1", "--", str(path)).decode().strip()
    if not log:
        pytest.skip("the migration is not committed yet")
    archive = git("archive", "--format=tar", f"{log}^", "service", "migrations", "requirements")
    with tarfile.open(fileobj=BytesIO(archive)) as tar:
        tar.extractall(folder, filter="data")


def test_the_code_before_the_newest_migration_plays_a_game_on_its_schema(
    another_database: Callable[[], Urls], tmp_path: Path
) -> None:
    code_before(head_revision(), tmp_path)
    urls = another_database()
    migrate(urls.owner)
    environment = {
        **os.environ,
        "PYTHONPATH": str(tmp_path),
        "DATABASE_URL": urls.service,
        "FAIRDEAL_HOME": str(tmp_path / "home"),
        "FAIRDEAL_RATE_LIMITS": "off",
    }
    (tmp_path / "home").mkdir()
    played = subprocess.run(
        [sys.executable, "-c", PLAY],
        env=environment,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert played.returncode == 0, played.stderr
    assert "played" in played.stdout


def test_a_release_is_ready_on_the_schema_of_the_next(another_database: Callable[[], Urls]) -> None:
    urls = another_database()
    migrate(urls.owner)
    database = services_at(urls.service).database
    assert head_revision().isdecimal()
    with psycopg.connect(urls.owner, autocommit=True) as owner:
        for offset, is_enough in ((0, True), (1, True), (-1, False)):
            number = f"{int(head_revision()) + offset:04}"
            owner.execute("UPDATE alembic_version SET version_num = %s", [number])
            assert is_ready(database, head_revision()) is is_enough
    database.engine.dispose()
