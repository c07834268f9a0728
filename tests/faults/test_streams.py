"""Streams over a real gunicorn: cut, crowded, ended; nothing is missed, nobody kept waiting."""

import json
import random
import signal
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from threading import Thread
from typing import Any, Self

import httpx
import psycopg
from faults.caller import HTTP
from faults.servers import gunicorn, wait_for_end

from service.api.sources import STREAMS_EACH
from service.store.embedded import Urls

CUTS = 100
SECONDS_AT_MOST = 60
NDJSON = "application/x-ndjson"
EVENT_STREAM = "text/event-stream"


class Table:
    """A game of three people over HTTP, played move by move."""

    def __init__(self, port: int, rounds: int = 3) -> None:
        self.url = f"http://127.0.0.1:{port}"
        self.client = httpx.Client(verify=False, base_url=self.url, timeout=20)
        self.keys = []
        self.players = []
        for name in ("Ilze", "Anna", "Zane"):
            made = self.client.post("/players", json={"name": name}).json()
            self.keys.append({"Authorization": f"Bearer {made['key']['token']}"})
            self.players.append(made)
        opening = {"ruleset": "jokers-go-boom", "seats": 3, "options": {"rounds": rounds}}
        made = self.client.post("/games", json=opening, headers=self.keys[0]).json()
        self.game = made["view"]["game"]
        self.chance = random.Random(11)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.client.close()

    def start(self) -> None:
        for key in self.keys[1:]:
            self.client.post(f"/games/{self.game}/seats", json={}, headers=key)

    def view(self, seat: int = 1) -> Any:
        return self.client.get(f"/games/{self.game}", headers=self.keys[seat - 1]).json()

    def move(self) -> bool:
        """One random legal move; whether the game goes on."""
        to_act = self.view()["to_act"]
        if to_act is None:
            return False
        view = self.view(to_act)
        body = {
            "move": self.chance.choice(view["legal_moves"]),
            "expected_version": view["version"],
        }
        path = f"/games/{self.game}/moves"
        moved = self.client.post(path, json=body, headers=self.keys[to_act - 1])
        assert moved.status_code == 201, moved.text
        return moved.json()["view"]["status"] == "active"

    def play(self, pause: float = 0.0) -> None:
        while self.move():
            time.sleep(pause)

    def exported(self) -> list[str]:
        text = self.client.get(f"/games/{self.game}/export").text
        return text.splitlines()[1:-1]


def public(line: str) -> str:
    """The line without what is private in it: the very bytes of the log."""
    event = json.loads(line)
    private = event.pop("private", None)
    if private is None:
        return line
    inner = json.dumps(private, separators=(",", ":"), sort_keys=True)
    return line.replace(f'"private":{inner},', "")


class Reader:
    """Reads the game's events by one representation, and is cut off at random."""

    def __init__(self, table: Table, media: str, chance: random.Random, *, seat: int = 2) -> None:
        self.table, self.media, self.chance = table, media, chance
        self.headers = {**table.keys[seat - 1], "Accept": media}
        self.lines: list[str] = []
        self.cuts = 0
        self.is_over = False
        self.kind = ""

    @property
    def after(self) -> int:
        return json.loads(self.lines[-1])["seq"] if self.lines else 0

    def run(self) -> None:
        deadline = time.monotonic() + SECONDS_AT_MOST
        with httpx.Client(verify=False, base_url=self.table.url, timeout=20) as client:
            while not self.is_over:
                assert time.monotonic() < deadline
                left = self.chance.randint(1, 4) if self.cuts < CUTS else 10**6
                self.cuts += 1
                try:
                    self._read(client, left)
                except httpx.TransportError:
                    continue

    def _read(self, client: httpx.Client, left: int) -> None:
        path = f"/games/{self.table.game}/events"
        if self.media == "application/json":
            page = client.get(
                path, params={"after": self.after, "wait": 2, "limit": left}, headers=self.headers
            )
            self.lines += _items(page.text)
            over = client.get(f"/games/{self.table.game}").json()
            self.is_over = over["result"] is not None and self.after == over["version"]
            return
        headers = {**self.headers, "Last-Event-ID": str(self.after)} if self.after else self.headers
        params = {} if self.after else {"after": 0}
        with client.stream("GET", path, headers=headers, params=params) as answer:
            if answer.status_code == 204:
                self.is_over = True
                return
            for line in answer.iter_lines():
                self._take(line)
                if self.is_over:
                    return
                left -= 1
                if left == 0:
                    return

    def _take(self, line: str) -> None:
        if self.media == NDJSON and line:
            self.lines.append(line)
        if line.startswith("event: "):
            self.kind = line.removeprefix("event: ")
        if line.startswith("data: {") and self.kind not in ("end", "presence"):
            self.lines.append(line.removeprefix("data: "))
        if line == "event: end":
            self.is_over = True


def _items(text: str) -> list[str]:
    """The texts of a page's events, as they stand there."""
    inner = text[text.index("[") + 1 :]
    items, rest = [], inner
    decoder = json.JSONDecoder()
    while rest.startswith("{"):
        _, end = decoder.raw_decode(rest)
        items.append(rest[:end])
        rest = rest[end:].removeprefix(",")
    return items


def test_whoever_is_cut_off_a_hundred_times_misses_nothing(own: Urls) -> None:
    with gunicorn(own.service, workers=2) as (port, _), Table(port, rounds=4) as table:
        readers = [
            Reader(table, media, random.Random(seed))
            for seed, media in enumerate(("application/json", NDJSON, EVENT_STREAM))
        ]
        with ThreadPoolExecutor(len(readers)) as pool:
            runs = [pool.submit(reader.run) for reader in readers]
            table.start()
            table.play(pause=0.005)
            for run in runs:
                run.result(SECONDS_AT_MOST)
        exported = table.exported()
        for reader in readers:
            assert [public(line) for line in reader.lines] == exported, reader.media
            assert any("private" in json.loads(line) for line in reader.lines)
        assert all(reader.cuts > 20 for reader in readers)


def open_stream(
    stack: ExitStack, table: Table, headers: Any, after: int = 0, **query: str
) -> Iterator[str]:
    client = stack.enter_context(httpx.Client(verify=False, base_url=table.url, timeout=20))
    answer = stack.enter_context(
        client.stream(
            "GET",
            f"/games/{table.game}/events",
            headers={"Accept": NDJSON, **headers},
            params={"after": after, **query},
        )
    )
    assert answer.status_code == 200, answer.read()
    return answer.iter_lines()


def test_streams_take_no_thread_from_moves_and_hear_of_moves_in_other_processes(own: Urls) -> None:
    """Two processes of eight threads each, and more streams than both have threads."""
    with gunicorn(own.service, workers=2) as (port, _), Table(port) as table, ExitStack() as stack:
        table.start()
        version = table.view()["version"]
        streams = [
            open_stream(stack, table, table.keys[seat], after=version)
            for seat in range(3)
            for _ in range(8)
        ]
        began = time.monotonic()
        for _ in range(5):
            table.move()
        assert time.monotonic() - began < 10
        for stream in streams:
            seqs = [json.loads(next(stream))["seq"] for _ in range(5)]
            assert seqs == list(range(version + 1, version + 6))


def test_a_key_holds_so_many_streams_and_a_revoked_one_none(own: Urls) -> None:
    with gunicorn(own.service, workers=1) as (port, _), Table(port) as table, ExitStack() as stack:
        streams = [open_stream(stack, table, table.keys[1]) for _ in range(STREAMS_EACH)]
        path = f"/games/{table.game}/events"
        refused = table.client.get(path, headers={**table.keys[1], "Accept": NDJSON})
        assert refused.status_code == 429
        assert refused.headers["Retry-After"] == "1"
        assert refused.json()["code"] == "too_many_streams"
        open_stream(stack, table, table.keys[2])
        key = table.players[1]["key"]["id"]
        gone = table.client.delete(f"/players/me/keys/{key}", headers=table.keys[1])
        assert gone.status_code == 204
        table.client.post(f"/games/{table.game}/seats", json={}, headers=table.keys[2])
        for stream in streams:
            seqs = [json.loads(line)["seq"] for line in stream if line]
            assert seqs == [1, 2]


def test_a_ticket_opens_one_stream_once(own: Urls) -> None:
    with gunicorn(own.service, workers=2) as (port, _), Table(port) as table, ExitStack() as stack:
        table.start()
        path = f"/games/{table.game}/stream-tickets"
        ticket = table.client.post(path, json={}, headers=table.keys[0]).json()["ticket"]
        lines = open_stream(stack, table, {}, ticket=ticket)
        dealt = next(line for line in lines if '"round_started"' in line)
        assert list(json.loads(dealt)["private"]) == ["1"]
        again = table.client.get(f"/games/{table.game}/events", params={"ticket": ticket})
        assert again.status_code == 401


def test_a_server_that_is_told_to_stop_waits_for_no_stream(own: Urls) -> None:
    with (
        gunicorn(own.service, workers=2) as (port, process),
        Table(port) as table,
        ExitStack() as stack,
    ):
        streams = [open_stream(stack, table, table.keys[seat]) for seat in range(3)]
        for stream in streams:
            assert json.loads(next(stream))["seq"] == 1
        ended = []

        def read(stream: Iterator[str]) -> None:
            try:
                ended.append(sum(1 for line in stream if line))
            except httpx.TransportError:
                ended.append(0)

        readers = [Thread(target=read, args=(stream,)) for stream in streams]
        for reader in readers:
            reader.start()
        path = f"/games/{table.game}/events?after={table.view()['version']}&wait=30"
        polled: list[Any] = []

        def poll(key: Any) -> None:
            polled.append(HTTP.get(table.url + path, headers=key, timeout=20).json()["items"])

        polls = [Thread(target=poll, args=(key,)) for key in table.keys]
        for one in polls:
            one.start()
        time.sleep(1)
        began = time.monotonic()
        process.send_signal(signal.SIGTERM)
        assert wait_for_end([process.pid], 10) == []
        for one in polls:
            one.join(5)
        assert polled == [[], [], []]
        assert time.monotonic() - began < 8
        for reader in readers:
            reader.join(5)
        assert ended == [1, 1, 1]


def test_a_lost_listener_and_a_lost_notification_cost_time_and_no_event(own: Urls) -> None:
    with gunicorn(own.service, workers=2) as (port, _), Table(port) as table, ExitStack() as stack:
        table.start()
        version = table.view()["version"]
        streams = [
            open_stream(stack, table, table.keys[seat], after=version)
            for seat in range(3)
            for _ in range(2)
        ]
        with psycopg.connect(own.superuser, autocommit=True) as superuser:
            ended = superuser.execute(
                "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity "
                "WHERE pid <> pg_backend_pid() AND query ~* '^(listen|select pg_notify)'"
            ).fetchone()
        assert ended is not None
        assert ended[0] > 0
        for _ in range(4):
            table.move()
        for stream in streams:
            seqs = [json.loads(line)["seq"] for line in (next(stream) for _ in range(4)) if line]
            assert seqs == list(range(version + 1, version + 5))
