"""(e) Streams: how late an event is at a client, what a stream weighs, and what streams cost moves."""

import asyncio
import json
import logging
import random
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import structlog

from bench.machine import database, gunicorn, services_over
from service.api.streams import STREAMS_EACH
from service.app import create_app

STREAMS = (1, 100, 1_000)
MOVES = 60
WORKERS = 4
ROUNDS = 3


def main() -> None:
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING))
    print(
        "| streams | event to client, ms (p50, p99) | kB a stream | moves/s with, without | ratio |"
    )
    print("|---|---|---|---|---|")
    with database() as urls, gunicorn("service.app:wsgi()", urls.service, WORKERS) as port:
        app = create_app(services_over(urls.service)).test_client()
        for count in STREAMS:
            asyncio.run(_measured(port, app, count))


async def _measured(port: int, app: Any, count: int) -> None:
    """Moves in a game that nobody follows and in one that many follow, in turn."""
    keys = [_player(app) for _ in range(3 + count // STREAMS_EACH)]
    followed, alone = _opened(app, keys[:3]), _opened(app, keys[:3])
    weight = _resident(port)
    sent: dict[int, float] = {}
    delays: list[float] = []
    opened, left = asyncio.Event(), count

    def is_open() -> None:
        nonlocal left
        left -= 1
        if not left:
            opened.set()

    tasks = [
        asyncio.create_task(_follow(port, followed, keys[n // STREAMS_EACH], is_open, sent, delays))
        for n in range(count)
    ]
    await opened.wait()
    await asyncio.sleep(0.5)
    each = (_resident(port) - weight) / count / 1024
    ratios = []
    rates: list[tuple[float, float]] = []
    chance = random.Random(1)
    for _ in range(ROUNDS):
        with_streams = await _moves(port, app, followed, keys, chance, sent)
        without = await _moves(port, app, alone, keys, chance, {})
        rates.append((with_streams, without))
        ratios.append(with_streams / without)
    await asyncio.sleep(1)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    late = sorted(delays)
    p50, p99 = late[len(late) // 2] * 1000, late[int(len(late) * 0.99)] * 1000
    one, two = (statistics.median(rate) for rate in zip(*rates, strict=True))
    print(
        f"| {count} | {p50:.1f}, {p99:.1f} | {each:.0f} | {one:.0f}, {two:.0f} | "
        f"**{statistics.median(ratios):.2f}** |",
        flush=True,
    )
    assert len(delays) >= count * MOVES


async def _follow(
    port: int,
    game: str,
    key: str,
    is_open: Callable[[], None],
    sent: dict[int, float],
    delays: list[float],
) -> None:
    """Read the events and note how long after the move was sent each came."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    head = (
        f"GET /games/{game}/events?after=5 HTTP/1.1\r\nHost: b\r\nAccept: application/x-ndjson\r\n"
    )
    writer.write(f"{head}Authorization: Bearer {key}\r\n\r\n".encode())
    answer = await reader.readuntil(b"\r\n\r\n")
    assert b" 200 " in answer, answer
    is_open()
    while line := await reader.readline():
        if line.startswith(b"{"):
            seq = int(line.rsplit(b'"seq":', 1)[1].split(b",")[0])
            if seq in sent:
                delays.append(time.perf_counter() - sent[seq])


async def _moves(
    port: int, app: Any, game: str, keys: list[str], chance: random.Random, sent: dict[int, float]
) -> float:
    """So many moves over one connection, each prepared before it is timed; moves a second."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    spent = 0.0
    for _ in range(MOVES):
        view = app.get(f"/games/{game}").get_json()
        key = keys[view["to_act"] - 1]
        headers = {"Authorization": f"Bearer {key}"}
        legal = app.get(f"/games/{game}", headers=headers).get_json()["legal_moves"]
        body = json.dumps({"move": chance.choice(legal), "expected_version": view["version"]})
        request = (
            f"POST /games/{game}/moves HTTP/1.1\r\nHost: b\r\nContent-Type: application/json\r\n"
            f"Authorization: Bearer {key}\r\nContent-Length: {len(body)}\r\n\r\n{body}"
        ).encode()
        began = time.perf_counter()
        sent[view["version"] + 1] = began
        writer.write(request)
        head = await reader.readuntil(b"\r\n\r\n")
        length = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])
        await reader.readexactly(length)
        spent += time.perf_counter() - began
        assert head.startswith(b"HTTP/1.1 201"), head
        await asyncio.sleep(0.01)
    writer.close()
    await writer.wait_closed()
    return MOVES / spent


def _player(app: Any) -> str:
    return str(app.post("/players", json={"name": "P"}).get_json()["key"]["token"])


def _opened(app: Any, keys: list[str]) -> str:
    headers = [{"Authorization": f"Bearer {key}"} for key in keys]
    opening = {"ruleset": "jokers-go-boom", "seats": 3, "options": {"rounds": 20}}
    game = app.post("/games", json=opening, headers=headers[0]).get_json()["view"]["game"]
    for one in headers[1:]:
        app.post(f"/games/{game}/seats", json={}, headers=one)
    return str(game)


def _resident(port: int) -> float:
    """The resident bytes of the processes that listen on the port."""
    total = 0.0
    for status in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if f"127.0.0.1:{port}" not in status.read_text():
                continue
            rows = (status.parent / "status").read_text().splitlines()
        except OSError:
            continue
        total += sum(float(row.split()[1]) * 1024 for row in rows if row.startswith("VmRSS"))
    return total


if __name__ == "__main__":
    main()
