"""The primary dies under load, and the standby takes its place."""

import os
import signal
import subprocess
import time
from contextlib import ExitStack
from pathlib import Path

import psycopg
import pytest
from faults.ledgers import Client, Note, Reckoning, lines_of, play_together, reckon
from faults.lines import Line, line_to, socket_of
from faults.servers import descendants, gunicorn

from service.store.embedded import Urls, embedded_postgres, find_binaries
from service.store.schema import migrate

STANDBY_SECONDS = 20
EVENTS_MISSED = 20


@pytest.fixture
def folder(own_home: Path) -> Path:
    return own_home


def copied(primary: Urls, home: Path) -> None:
    """A base backup of the primary in another home, set up to follow it."""
    home.mkdir(mode=0o755)
    data = home / "postgres"
    command = [find_binaries() / "pg_basebackup", "--pgdata", data, "--dbname", primary.superuser]
    command += ["--write-recovery-conf", "--checkpoint", "fast", "--wal-method", "stream"]
    subprocess.run(command, check=True, capture_output=True)
    owner = socket_of(primary.superuser).parent.stat()
    for path in (data, *data.rglob("*")):
        os.chown(path, owner.st_uid, owner.st_gid, follow_symlinks=False)


def wait_until_in_step(superuser: psycopg.Connection, state: str) -> None:
    deadline = time.monotonic() + STANDBY_SECONDS
    query = "SELECT count(*) FROM pg_stat_replication WHERE state = 'streaming' AND sync_state = %s"
    while superuser.execute(query, [state]).fetchone() != (1,):
        assert time.monotonic() < deadline, "no standby in step"
        time.sleep(0.05)


def postmaster(home: Path) -> int:
    return int((home / "postgres" / "postmaster.pid").read_text().splitlines()[0])


def kill_all(home: Path) -> None:
    """End the server and all its processes at once, as a machine ends that loses its power."""
    first = postmaster(home)
    pids = [first, *descendants(first)]
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    for pid in pids:
        os.kill(pid, signal.SIGKILL)


def promote(standby: Urls) -> None:
    """Make it the primary, as soon as it answers."""
    deadline = time.monotonic() + STANDBY_SECONDS
    while True:
        try:
            with psycopg.connect(standby.superuser, autocommit=True) as superuser:
                assert superuser.execute("SELECT pg_promote(true, 20)").fetchone() == (True,)
                return
        except psycopg.OperationalError:
            assert time.monotonic() < deadline, "the standby does not answer"
            time.sleep(0.1)


def written(urls: Urls) -> int:
    """How many events that server has."""
    with psycopg.connect(urls.owner) as owner:
        row = owner.execute("SELECT count(*) FROM events").fetchone()
        assert row is not None
        return int(row[0])


def fail_over(folder: Path, primary: Urls, standby: Urls, line: Line, *, is_in_step: bool) -> None:
    """Kill the primary and promote the standby, which may not have heard of the last moves."""
    time.sleep(1.5)
    with psycopg.connect(standby.superuser, autocommit=True) as superuser:
        receivers = [pid for (pid,) in superuser.execute("SELECT pid FROM pg_stat_wal_receiver")]
    assert len(receivers) == 1
    if not is_in_step:
        for pid in receivers:
            os.kill(pid, signal.SIGSTOP)
        known = written(standby)
        deadline = time.monotonic() + STANDBY_SECONDS
        while written(primary) < known + EVENTS_MISSED:
            assert time.monotonic() < deadline, "nobody plays"
            time.sleep(0.05)
    kill_all(folder / "a")
    line.target = socket_of(standby.superuser)
    line.cut_all()
    if not is_in_step:
        for pid in receivers:
            os.kill(pid, signal.SIGKILL)
    promote(standby)


def play_through_a_failover(folder: Path, *, is_in_step: bool) -> Reckoning:
    with ExitStack() as stack:
        primary = stack.enter_context(embedded_postgres(folder / "a"))
        migrate(primary.owner)
        copied(primary, folder / "b")
        standby = stack.enter_context(embedded_postgres(folder / "b"))
        with psycopg.connect(primary.superuser, autocommit=True) as superuser:
            if is_in_step:
                superuser.execute("ALTER SYSTEM SET synchronous_standby_names = 'ANY 1 (*)'")
                superuser.execute("SELECT pg_reload_conf()")
            wait_until_in_step(superuser, "quorum" if is_in_step else "async")
        line, url = stack.enter_context(line_to(primary.service))
        port, _ = stack.enter_context(gunicorn(url))
        clients = [Client(f"http://127.0.0.1:{port}") for _ in range(3)]
        for client in clients:
            client.begin()
        play_together(
            clients, lambda: fail_over(folder, primary, standby, line, is_in_step=is_in_step)
        )
        return reckon(clients, lines_of)


def test_a_standby_that_is_in_step_takes_over_and_nothing_is_lost(folder: Path, note: Note) -> None:
    found = play_through_a_failover(folder, is_in_step=True)
    assert found.is_clean
    assert found.failed > 0
    note("the primary dies, its synchronous standby is promoted", found)


@pytest.mark.long
def test_the_ledgers_tell_of_losses_where_the_standby_was_behind(folder: Path) -> None:
    """The control: what a standby that nobody waits for has not heard of is gone."""
    found = play_through_a_failover(folder, is_in_step=False)
    assert found.lost > 0
