"""(e) Streams: how late an event is at a client, what a stream weighs, and what streams cost moves.

Whoever follows does so in a process of its own: what reading costs it is not
the service's, but for the cores that they share.
"""

import asyncio
import json
import logging
import os
import selectors
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import structlog

from bench.machine import database, gunicorn, services_over
from bench.moves import service_requests
from service.api.sources import STREAMS_EACH
from service.app import create_app

STREAMS = tuple(map(int, os.environ.get("STREAMS", "1 100 1000").split()))
GAMES = 8
MOVES = 150
CALM_MOVES = 30
CALM_SECONDS = 0.02
WORKERS = 4
ROUNDS = int(os.environ.get("ROUNDS", "3"))
CONNECTED = b"\r\n\r\n"

Plan = list[list[bytes]]
"""The prepared moves of each game."""


def main() -> None:
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING))
    print(
        "| streams | event to client, ms (p50, p99) | kB a stream | moves/s with, without | ratio |"
    )
    print("|---|---|---|---|---|")
    application = os.environ.get("APPLICATION", "service.app:wsgi()")
    with database() as urls, gunicorn(application, urls.service, WORKERS) as port:
        app = create_app(services_over(urls.service)).test_client()
        asyncio.run(_play(port, service_requests(urls, "jokers-go-boom", GAMES, 30), 0, {}))
        for count in STREAMS:
            rates, ratios, delays, weights = [], [], [], []
            for _ in range(ROUNDS):
                plan = service_requests(urls, "jokers-go-boom", GAMES, MOVES + CALM_MOVES)
                other = service_requests(urls, "jokers-go-boom", GAMES, MOVES + CALM_MOVES)
                late, weight, followed = _followed(port, app, plan, count)
                alone = _alone(port, other)
                delays += late
                weights.append(weight)
                rates.append((followed, alone))
                ratios.append(followed / alone)
            delays.sort()
            p50, p99 = (delays[int(len(delays) * part)] * 1000 for part in (0.5, 0.99))
            one, two = (statistics.median(rate) for rate in zip(*rates, strict=True))
            print(
                f"| {count} | {p50:.1f}, {p99:.1f} | {max(weights):.0f} | {one:.0f}, {two:.0f} | "
                f"**{statistics.median(ratios):.2f}** |",
                flush=True,
            )


def _alone(port: int, plan: Plan) -> float:
    """The same moves with nobody looking on; moves a second."""
    asyncio.run(_play(port, [moves[:CALM_MOVES] for moves in plan], CALM_SECONDS, {}))
    return asyncio.run(_play(port, [moves[CALM_MOVES:] for moves in plan], 0, {}))


def _followed(port: int, app: Any, plan: Plan, count: int) -> tuple[list[float], float, float]:
    """Moves that are followed: how late each was at each client, kB a stream, moves a second."""
    games = [requests[0].split(b"/")[2].decode() for requests in plan]
    keys = [_player(app) for _ in range(1 + count // STREAMS_EACH)]
    before = _resident(port)
    command = [sys.executable, "-m", "bench.streams", "follow", str(port), str(count)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as follower:
        assert follower.stdin is not None
        assert follower.stdout is not None
        follower.stdin.write(json.dumps({"games": games, "keys": keys}) + "\n")
        follower.stdin.flush()
        assert follower.stdout.readline() == "open\n"
        time.sleep(0.5)
        weight = (_resident(port) - before) / count / 1024
        sent: dict[str, float] = {}
        asyncio.run(_play(port, [moves[:CALM_MOVES] for moves in plan], CALM_SECONDS, sent))
        rate = asyncio.run(_play(port, [moves[CALM_MOVES:] for moves in plan], 0, {}))
        time.sleep(1.0)
        follower.stdin.close()
        arrived = json.loads(follower.stdout.read())
    delays = [at - sent[key] for key, at in arrived if key in sent]
    assert len(delays) >= len(sent) * count // GAMES
    return delays, weight, rate


async def _play(port: int, plan: Plan, pause: float, sent: dict[str, float]) -> float:
    """Each game's moves in turn, all games at once unless there are pauses; moves a second."""

    async def one(requests: Sequence[bytes]) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        for request in requests:
            game, version = request.split(b"/")[2].decode(), request.rsplit(b": ", 1)[1][:-1]
            sent[f"{game}:{int(version) + 1}"] = time.monotonic()
            writer.write(request)
            head = await reader.readuntil(CONNECTED)
            length = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])
            body = await reader.readexactly(length)
            assert head.startswith(b"HTTP/1.1 201"), head + body
            await asyncio.sleep(pause)
        writer.close()
        await writer.wait_closed()

    began = time.monotonic()
    if pause:
        for requests in plan:
            await one(requests)
    else:
        await asyncio.gather(*(one(requests) for requests in plan))
    return sum(map(len, plan)) / (time.monotonic() - began)


def follow(port: int, count: int) -> None:
    """Open the streams, note when each event comes, tell it all at the end."""
    asked = json.loads(sys.stdin.readline())
    selector = selectors.DefaultSelector()
    for number in range(count):
        game = asked["games"][number % len(asked["games"])]
        connection = socket.create_connection(("127.0.0.1", port))
        head = f"GET /games/{game}/events?after=7 HTTP/1.1\r\nHost: b\r\n"
        head += f"Authorization: Bearer {asked['keys'][number // STREAMS_EACH]}\r\n"
        connection.sendall(f"{head}Accept: application/x-ndjson\r\n\r\n".encode())
        answer = connection.recv(4096)
        assert b" 200 " in answer, answer
        connection.settimeout(0)
        selector.register(connection, selectors.EVENT_READ, game)
    selector.register(sys.stdin, selectors.EVENT_READ, None)
    print("open", flush=True)
    arrived: list[tuple[float, str, bytes]] = []
    while True:
        for key, _ in selector.select():
            if key.data is None:
                found = [
                    (f"{game}:{int(part.split(b',')[0])}", at)
                    for at, game, data in arrived
                    for part in data.split(b'"seq":')[1:]
                ]
                print(json.dumps(found))
                return
            arrived.append((time.monotonic(), key.data, key.fileobj.recv(65536)))


def _player(app: Any) -> str:
    return str(app.post("/players", json={"name": "P"}).get_json()["key"]["token"])


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
    if sys.argv[1:2] == ["follow"]:
        follow(int(sys.argv[2]), int(sys.argv[3]))
    else:
        main()
