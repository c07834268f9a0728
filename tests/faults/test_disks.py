"""The disk is slow, refuses a flush, or is full, while games are played."""

import os
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest
from faults.ledgers import Client, Note, Reckoning, lines_of, play_together, reckon
from faults.servers import gunicorn

from service.store.embedded import Urls, embedded_postgres
from service.store.schema import migrate

SHIM = Path(__file__).with_name("shim.c")
SLOW_MS = 20

pytestmark = pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler here")


@pytest.fixture(scope="module")
def shim(home: Path) -> Path:
    library = home / "shim.so"
    command = ["cc", "-shared", "-fPIC", "-O2", "-Wall", "-Werror"]
    subprocess.run([*command, "-o", library, SHIM, "-ldl"], check=True)
    library.chmod(0o755)
    return library


class Disk:
    """The disk of one server, and what is wrong with it."""

    def __init__(self, folder: Path, shim: Path) -> None:
        self.home, self.faults, self.shim = folder / "home", folder / "faults", shim
        self.faults.mkdir()
        self.faults.chmod(0o777)

    def be(self, fault: str, value: str = "") -> None:
        (self.faults / fault).write_text(value)

    def be_well(self, fault: str) -> None:
        (self.faults / fault).unlink(missing_ok=True)

    def is_well(self, fault: str) -> bool:
        return not (self.faults / fault).exists()

    @contextmanager
    def server(self) -> Iterator[Urls]:
        """The server on that disk; it stands again if it was broken off."""
        before = dict(os.environ)
        os.environ.update(LD_PRELOAD=str(self.shim), FAULT_FOLDER=str(self.faults))
        try:
            running = embedded_postgres(self.home)
            urls = running.__enter__()
        finally:
            os.environ.clear()
            os.environ.update(before)
        try:
            yield urls
        finally:
            running.__exit__(None, None, None)


@pytest.fixture
def disk(own_home: Path, shim: Path) -> Disk:
    return Disk(own_home, shim)


def played(url: str, meanwhile: Callable[[], None]) -> Reckoning:
    with gunicorn(url) as (port, _):
        clients = [Client(f"http://127.0.0.1:{port}") for _ in range(3)]
        for client in clients:
            client.begin()
        play_together(clients, meanwhile)
        return reckon(clients, lines_of)


@pytest.mark.long
def test_a_slow_disk_makes_moves_slow_and_shared_flushes_rare(disk: Disk, note: Note) -> None:
    with disk.server() as urls:
        migrate(urls.owner)
        disk.be("slow", str(SLOW_MS))
        found = played(urls.service, lambda: time.sleep(3))
        disk.be_well("slow")
    assert found.is_clean
    assert found.failed == 0
    note(f"every flush takes {SLOW_MS} ms longer", found)


def test_a_flush_that_fails_ends_the_server_and_not_the_truth(disk: Disk, note: Note) -> None:
    """Postgres stops at once where a flush failed: what it does not know to be safe it redoes."""

    def trouble() -> None:
        for _ in range(2):
            time.sleep(1.5)
            disk.be("broken")
        deadline = time.monotonic() + 5
        while not disk.is_well("broken"):
            assert time.monotonic() < deadline, "nothing was flushed"
            time.sleep(0.05)

    with disk.server() as urls:
        migrate(urls.owner)
        found = played(urls.service, trouble)
    assert found.is_clean
    assert found.failed > 0
    note("a flush fails, twice", found)


def test_a_full_disk_stops_the_game_and_loses_nothing(disk: Disk, note: Note) -> None:
    """The server ends, and begins again when there is room: what an admin would do."""
    first = disk.server()
    urls = first.__enter__()
    migrate(urls.owner)
    again: list[object] = []

    def trouble() -> None:
        time.sleep(1.5)
        disk.be("full")
        deadline = time.monotonic() + 10
        while is_answering(urls):
            assert time.monotonic() < deadline, "the server writes on"
            time.sleep(0.1)
        time.sleep(1)
        disk.be_well("full")
        first.__exit__(None, None, None)
        second = disk.server()
        second.__enter__()
        again.append(second)

    found = played(urls.service, trouble)
    for server in again:
        server.__exit__(None, None, None)
    assert found.is_clean
    assert found.failed > 0
    note("the disk is full for a while", found)


def is_answering(urls: Urls) -> bool:
    """Whether the server can still write."""
    try:
        with psycopg.connect(urls.owner, autocommit=True, connect_timeout=2) as owner:
            owner.execute("UPDATE heartbeats SET at = at")
            owner.execute("SELECT pg_current_xact_id()")
    except psycopg.OperationalError:
        return False
    return True
