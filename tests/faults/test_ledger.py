"""Nothing that was acknowledged is lost, nothing is done twice, whatever dies meanwhile.

Each client writes what was acknowledged into its ledger, and retries with the
same key whatever it got no answer to.
"""

import os
import select
import signal
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

import httpx
import psycopg
import pytest
from faults.caller import HTTP
from faults.ledgers import Client, Note, Reckoning, check, lines_of, play_together, reckon
from faults.servers import descendants, fairdeal_serve, free_port, gunicorn, wait_until_ready
from psycopg import sql

from service.play.services import Services
from service.store.embedded import Urls, any_postgres
from service.store.reads import read_events


def test_workers_that_are_killed_lose_and_double_nothing(
    urls: Urls, services: Services, note: Note
) -> None:
    with gunicorn(urls.service) as (port, process):
        clients = [Client(f"http://127.0.0.1:{port}") for _ in range(4)]
        for client in clients:
            client.begin()
        killed: list[int] = []

        def kill() -> None:
            for _ in range(4):
                time.sleep(1.5)
                killed.extend(descendants(process.pid)[:1])
                os.kill(killed[-1], signal.SIGKILL)

        play_together(clients, kill)
    found = reckon(
        clients, lambda client: [e.line for e in read_events(services.database, client.game, 0)]
    )
    assert found.is_clean
    assert len(killed) == 4
    note("web processes are killed", found)


def test_a_postgres_that_is_killed_loses_and_doubles_nothing(own_home: Path, note: Note) -> None:
    found = play_while_it_crashes(own_home, "on")
    assert found.is_clean
    note("backends of Postgres are killed", found)


def test_the_ledgers_tell_of_losses_where_a_commit_does_not_wait_for_the_disk(
    own_home: Path,
) -> None:
    """The control: what the test above would find, if there were anything to find."""
    assert play_while_it_crashes(own_home, "off").lost > 0


def play_while_it_crashes(home: Path, synchronous_commit: str) -> Reckoning:
    """Play while backends of the server are killed, then hold each ledger against its log."""
    port = free_port()
    with fairdeal_serve(home, port):
        wait_until_ready(port)
        change = sql.SQL("ALTER ROLE fairdeal_service SET synchronous_commit = {}")
        with (
            any_postgres(home) as urls,
            psycopg.connect(urls.superuser, autocommit=True) as superuser,
        ):
            superuser.execute(change.format(synchronous_commit))
        clients = [Client(f"http://127.0.0.1:{port}") for _ in range(3)]
        crash_backends(home, 1)  # the connections that there were knew nothing of the change
        for client in clients:
            client.begin()
        play_together(clients, lambda: crash_backends(home, 4))
        return reckon(clients, lines_of)


def crash_backends(home: Path, times: int) -> None:
    """Kill one backend of the server: the whole server goes through recovery."""
    postmaster = int((home / "postgres" / "postmaster.pid").read_text().splitlines()[0])
    for _ in range(times):
        time.sleep(0.7)
        backends = [pid for pid in descendants(postmaster) if "fairdeal_service" in title(pid)]
        if backends:
            os.kill(backends[0], signal.SIGKILL)


def title(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text()
    except OSError:
        return ""


def pass_on(near: socket.socket, far: socket.socket) -> None:
    """Pass on what comes, until there is an answer."""
    while True:
        ready, _, _ = select.select([near, far], [], [], 20)
        assert ready, "nothing came"
        if far in ready:
            assert far.recv(65_536).startswith(b"HTTP/1.1 201")
            return
        far.sendall(near.recv(65_536))


@contextmanager
def deaf_proxy(port: int) -> Iterator[int]:
    """Passes requests on, waits for the answer, and cuts the line instead of giving it back."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(0.2)
        stop = threading.Event()

        def serve() -> None:
            while not stop.is_set():
                try:
                    near, _ = listener.accept()
                except TimeoutError:
                    continue
                with near, socket.create_connection(("127.0.0.1", port)) as far:
                    pass_on(near, far)

        thread = threading.Thread(target=serve)
        thread.start()
        yield int(listener.getsockname()[1])
        stop.set()
        thread.join()


def test_an_answer_that_is_lost_after_the_commit_is_got_by_the_retry(
    urls: Urls, services: Services
) -> None:
    with gunicorn(urls.service) as (port, _), deaf_proxy(port) as cut:
        client = Client(f"http://127.0.0.1:{port}")
        client.begin()
        for _ in range(5):
            view = client.call("GET", f"/games/{client.game}").json()
            body, key = {"move": view["legal_moves"][0]}, uuid4().hex
            headers = {**client.headers, "Idempotency-Key": key}
            with pytest.raises(httpx.TransportError):
                HTTP.post(
                    f"http://127.0.0.1:{cut}/games/{client.game}/moves", json=body, headers=headers
                )
            again = client.call("POST", f"/games/{client.game}/moves", body, key)
            assert again.status_code == 201
            assert again.headers["Idempotent-Replayed"] == "true"
            assert again.json()["version"] == view["version"] + len(again.json()["events"])
            client.keys.append(key)
            client.ledger |= {e["seq"]: e["hash"] for e in again.json()["events"]}
    assert client.keys
    check(client, [e.line for e in read_events(services.database, client.game, 0)])
