"""Nothing that was acknowledged is lost, nothing is done twice, whatever dies meanwhile.

Each client writes what was acknowledged into its ledger, and retries with the
same key whatever it got no answer to.
"""

import json
import os
import select
import signal
import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import psycopg
import pytest
from chains import first_break
from faults.servers import descendants, fairdeal_serve, free_port, gunicorn, wait_until_ready
from psycopg import sql

from service.canonical import canonical_text
from service.log.events import parse_event
from service.play.services import Services
from service.store.embedded import Urls, any_postgres
from service.store.reads import read_events

PATIENCE = 60
PLAY_SECONDS = 10


@dataclass
class Client:
    """A person who plays a game of their own against bots, and gives up on nothing."""

    base: str
    headers: dict[str, str] = field(default_factory=dict)
    game: str = ""
    ledger: dict[int, str] = field(default_factory=dict)
    keys: list[str] = field(default_factory=list)
    replayed: int = 0
    failed: int = 0

    def begin(self) -> None:
        made = self.call("POST", "/players", {"name": "Ilze"}).json()
        self.headers = {"Authorization": f"Bearer {made['key']['token']}"}
        bots = [{"seat": 2, "level": "random"}, {"seat": 3, "level": "random"}]
        opening = {"ruleset": "jokers-go-boom", "seats": 3, "bots": bots, "options": {"rounds": 20}}
        self.game = self.call("POST", "/games", opening, uuid4().hex).json()["view"]["game"]
        self.call("PUT", f"/games/{self.game}/seats/1/contribution", {"contribution": ""})

    def play(self, moves: int) -> None:
        deadline = time.monotonic() + PLAY_SECONDS
        while len(self.keys) < moves and time.monotonic() < deadline:
            view = self.call("GET", f"/games/{self.game}").json()
            if view["status"] != "active":
                return
            if not view["legal_moves"]:
                time.sleep(0.02)
                continue
            self.move(view["legal_moves"][0])

    def move(self, move: Any) -> None:
        key = uuid4().hex
        answer = self.call("POST", f"/games/{self.game}/moves", {"move": move}, key)
        assert answer.status_code == 201, answer.text
        self.keys.append(key)
        self.replayed += "Idempotent-Replayed" in answer.headers
        for event in answer.json()["events"]:
            self.ledger[event["seq"]] = event["hash"]

    def call(self, method: str, path: str, body: Any = None, key: str = "") -> httpx.Response:
        """Send until there is an answer, with the same key."""
        headers = {**self.headers, **({"Idempotency-Key": key} if key else {})}
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                answer = httpx.request(
                    method, self.base + path, json=body, headers=headers, timeout=10
                )
            except httpx.TransportError:
                self.failed += 1
            else:
                if answer.status_code not in (500, 502, 503):
                    return answer
                assert answer.status_code == 503, answer.text
                self.failed += 1
            assert time.monotonic() < deadline, "no answer"
            time.sleep(0.05)


def check(client: Client, lines: list[str]) -> None:
    """The ledger stands in the log, once each, and the chain holds."""
    events = [parse_event(line) for line in lines]
    assert first_break(events) is None
    hashes = {event.seq: event.hash for event in events}
    assert {seq: hashes.get(seq) for seq in client.ledger} == client.ledger
    own = [e for e in events if e.type == "move" and e.data["seat"] == 1]
    assert len(own) == len(client.keys)


def test_workers_that_are_killed_lose_and_double_nothing(urls: Urls, services: Services) -> None:
    with gunicorn(urls.service) as (port, process):
        clients = [Client(f"http://127.0.0.1:{port}") for _ in range(4)]
        for client in clients:
            client.begin()
        stop, killed = threading.Event(), []

        def kill() -> None:
            while not stop.wait(2.5 if killed else 0.5):
                workers = descendants(process.pid)
                if workers:
                    os.kill(workers[0], signal.SIGKILL)
                    killed.append(workers[0])

        killer = threading.Thread(target=kill)
        killer.start()
        with ThreadPoolExecutor(len(clients)) as pool:
            list(pool.map(lambda client: client.play(1_000), clients))
        stop.set()
        killer.join()
    for client in clients:
        check(client, [e.line for e in read_events(services.database, client.game, 0)])
    assert len(killed) > 1


def test_a_postgres_that_is_killed_loses_and_doubles_nothing(own_home: Path) -> None:
    play_while_it_crashes(own_home, "on")


def test_the_ledgers_tell_of_losses_where_a_commit_does_not_wait_for_the_disk(
    own_home: Path,
) -> None:
    """The control: what the test above would find, if there were anything to find."""
    with pytest.raises(AssertionError):
        play_while_it_crashes(own_home, "off")


def play_while_it_crashes(home: Path, synchronous_commit: str) -> None:
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
        with ThreadPoolExecutor(len(clients) + 1) as pool:
            played = [pool.submit(client.play, 40) for client in clients]
            pool.submit(crash_backends, home, 4).result()
            for future in played:
                future.result()
        for client in clients:
            lines, after = [], 0
            while True:
                page = client.call("GET", f"/games/{client.game}/events?after={after}&limit=200")
                lines += own_lines(page.text)
                after = page.json()["next_after"]
                if not page.json()["more"]:
                    break
            check(client, lines)


def own_lines(text: str) -> list[str]:
    """The events of a page without their private part, as they were chained."""
    items = json.loads(text)["items"]
    return [canonical_text({k: v for k, v in item.items() if k != "private"}) for item in items]


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
            if not view["legal_moves"]:
                break
            body, key = {"move": view["legal_moves"][0]}, uuid4().hex
            headers = {**client.headers, "Idempotency-Key": key}
            with pytest.raises(httpx.TransportError):
                httpx.post(
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
