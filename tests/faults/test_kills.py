"""A game with a clock, a bot and a follower goes on and ends, whichever process is killed."""

import json
import os
import random
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest
from faults.caller import HTTP
from faults.ledgers import Client
from faults.servers import descendants, fairdeal_serve, free_port, wait_until_ready
from faults.test_ledger import crash_backends, title
from faults.test_streams import public
from receiver import Receiver, receiver

from service.play.webhooks import LEASE
from service.proof.keys import read_keys
from service.proof.outside import Evidence
from service.proof.verdicts import Outcome
from service.proof.verify import verify

GAME_SECONDS = 120


class Follower(threading.Thread):
    """Reads the game's events by streams, and begins again wherever one breaks off."""

    def __init__(self, client: Client) -> None:
        super().__init__(daemon=True)
        self.client = client
        self.lines: list[str] = []

    def run(self) -> None:
        while not (self.lines and '"secret_revealed"' in self.lines[-1]):
            try:
                self._read()
            except httpx.TransportError:
                time.sleep(0.1)

    def _read(self) -> None:
        headers = {**self.client.headers, "Accept": "application/x-ndjson"}
        url = f"{self.client.base}/games/{self.client.game}/events"
        after = json.loads(self.lines[-1])["seq"] if self.lines else 0
        with HTTP.stream("GET", url, headers=headers, params={"after": after}, timeout=20) as got:
            if got.status_code != 200:
                time.sleep(0.1)
                return
            self.lines += [line for line in got.iter_lines() if line]


def play_until_the_end(client: Client) -> None:
    chance, deadline = random.Random(3), time.monotonic() + GAME_SECONDS
    while time.monotonic() < deadline:
        view = client.call("GET", f"/games/{client.game}").json()
        if view["status"] == "finished":
            return
        if not view["legal_moves"]:
            time.sleep(0.1)
            continue
        body = {"move": chance.choice(view["legal_moves"]), "expected_version": view["version"]}
        path = f"/games/{client.game}/moves"
        answer = client.call("POST", path, body, uuid4().hex)
        if answer.status_code == 201:
            client.ledger |= {e["seq"]: e["hash"] for e in answer.json()["events"]}
    raise AssertionError("the game did not end")


@pytest.fixture
def told() -> Iterator[Receiver]:
    with receiver() as found:
        yield found


def test_a_game_goes_on_whatever_is_killed(own_home: Path, told: Receiver) -> None:
    port = free_port()
    settings = {"FAIRDEAL_CHECKPOINT_SECONDS": "1", "FAIRDEAL_WORKERS": "2"}
    settings["FAIRDEAL_RATE_LIMITS"] = "off"
    settings["FAIRDEAL_WEBHOOK_ADDRESSES"] = "any"
    with fairdeal_serve(own_home, port, **settings) as first:
        wait_until_ready(port)
        client, absent = (Client(f"http://127.0.0.1:{port}") for _ in range(2))
        open_game(client, absent, told.url)
        follower = Follower(client)
        follower.start()
        playing = threading.Thread(target=play_until_the_end, args=(client,))
        playing.start()
        time.sleep(1)
        web = [pid for pid in descendants(first.pid) if "gunicorn" in title(pid)]
        os.kill(web[-1], signal.SIGKILL)
        time.sleep(2)
        crash_backends(own_home, 2)
        time.sleep(2)
        worker = next(pid for pid in descendants(first.pid) if "\0worker\0" in title(pid))
        os.kill(worker, signal.SIGKILL)
        assert first.wait() == 1
    with fairdeal_serve(own_home, port, **settings) as second:
        wait_until_ready(port)
        time.sleep(3)
        postmaster = int((own_home / "postgres" / "postmaster.pid").read_text().split()[0])
        os.kill(postmaster, signal.SIGKILL)
        os.kill(second.pid, signal.SIGKILL)
        second.wait()
        with fairdeal_serve(own_home, port, **settings):
            wait_until_ready(port)
            playing.join(GAME_SECONDS)
            assert not playing.is_alive()
            follower.join(20)
            check_the_game(client, follower)
            check_what_was_told(client, told)


def check_what_was_told(client: Client, told: Receiver) -> None:
    """Every notice is written once, and delivered at least once, in order."""
    deadline = time.monotonic() + LEASE.total_seconds() + 30
    notices: list[Any] = []
    bodies: list[Any] = []
    while not (notices and notices[-1]["type"] == "game.ended" and len(bodies) == len(notices)):
        assert time.monotonic() < deadline, (notices, bodies)
        time.sleep(0.2)
        notices = client.call("GET", "/players/me/events?limit=200").json()["items"]
        by_id = {headers["webhook-id"]: json.loads(body) for _, headers, body in told.requests}
        bodies = list(by_id.values())
    assert [body["data"] for body in bodies] == [notice["data"] for notice in notices]
    seqs = [notice["data"]["seq"] for notice in notices]
    assert seqs == sorted(seqs)
    kinds = [notice["type"] for notice in notices]
    assert kinds.count("game.started") == kinds.count("game.ended") == 1
    assert len({(notice["type"], notice["data"]["seq"]) for notice in notices}) == len(notices)


def open_game(client: Client, absent: Client, hook: str) -> None:
    """A table of one who plays, one who never does, and a bot; a turn has five seconds."""
    for one in (client, absent):
        made = one.call("POST", "/players", {"name": "Ilze"}).json()
        one.headers = {"Authorization": f"Bearer {made['key']['token']}"}
    client.call("POST", "/webhooks", {"url": hook}, uuid4().hex)
    opening: dict[str, Any] = {
        "ruleset": "jokers-go-boom",
        "seats": 3,
        "bots": [{"seat": 3}],
        "options": {"rounds": 2},
        "turn_seconds": 5,
    }
    made = client.call("POST", "/games", opening, uuid4().hex).json()
    client.game = made["view"]["game"]
    absent.call("POST", f"/games/{client.game}/seats", {}, uuid4().hex)


def check_the_game(client: Client, follower: Follower) -> None:
    text = client.call("GET", f"/games/{client.game}/export").text
    keys = read_keys(client.call("GET", "/keys").json())
    assert verify(text, Evidence(keys=keys)).outcome is Outcome.VERIFIED
    events = [json.loads(line) for line in text.splitlines()[1:-1]]
    hashes = {event["seq"]: event["hash"] for event in events}
    assert {seq: hashes.get(seq) for seq in client.ledger} == client.ledger
    assert client.failed > 0
    assert [public(line) for line in follower.lines] == text.splitlines()[1:-1]
    kinds = {event["type"] for event in events}
    assert kinds >= {"seat_replaced", "game_ended"}
    assert any(e["actor"] == {"kind": "clock"} and e["type"] == "move" for e in events)
