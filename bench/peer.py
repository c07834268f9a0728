"""Whole games over the wire, beside boardgame.io: its own server and client, the nearest card game.

It keeps everything in memory and answers by socket to all players of a table; Fairdeal answers
when the move is signed and on disk. Node and npm are needed; its packages are put into a folder
that is removed again.
"""

import json
import logging
import shutil
import statistics
import subprocess
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import structlog

from bench.machine import Load, database, free_port, gunicorn
from bench.moves import WARM_UP, service_requests, warm_load

TABLES = (1, 8)
GAMES = {1: 6, 8: 2}
ROUNDS = 3
MOVES = {1: 400, 8: 1600}
TRIES = 5
PEER = Path(__file__).with_name("boardgame")


def main() -> None:
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING))
    with TemporaryDirectory(prefix="fairdeal-peer-") as name, database() as urls:
        folder = Path(name)
        for file in PEER.iterdir():
            shutil.copy(file, folder)
        install = ["npm", "install", "--no-package-lock", "--no-audit", "--no-fund", "--silent"]
        subprocess.run(install, cwd=folder, check=True)
        port = free_port()
        with (
            gunicorn("service.app:wsgi()", urls.service) as service,
            subprocess.Popen(
                ["node", "server.cjs", str(port)],
                cwd=folder,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            ) as peer,
        ):
            try:
                time.sleep(3)
                print(
                    "| tables at once | Fairdeal moves/s (p50, p99 ms) | boardgame.io moves/s (p50, p99 ms) | ratio | p99 ratio |"
                )
                print("|---|---|---|---|---|")
                for tables in TABLES:
                    each = WARM_UP + MOVES[tables] // tables
                    pairs = [
                        (
                            warm_load(
                                service, service_requests(urls, "jokers-go-boom", tables, each)
                            ),
                            _peer(folder, port, tables),
                        )
                        for _ in range(ROUNDS)
                    ]
                    _print(tables, pairs)
            finally:
                peer.terminate()


def _peer(folder: Path, port: int, tables: int) -> Load:
    """Play on boardgame.io; its client misses an update now and then, and is started again."""
    command = ["node", "client.cjs", str(port), str(tables), str(GAMES[tables])]
    for _ in range(TRIES):
        told = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, timeout=120, check=False
        )
        if told.returncode == 0:
            found = json.loads(told.stdout)
            return Load(found["rate"], found["p50"], found["p99"])
    raise RuntimeError(told.stderr)


def _print(tables: int, pairs: list[tuple[Load, Load]]) -> None:
    def told(side: int) -> str:
        values = [
            statistics.median(getattr(pair[side], name) for pair in pairs)
            for name in ("rate", "p50", "p99")
        ]
        return "{:.0f} ({:.1f}, {:.1f})".format(*values)

    ratio = statistics.median(ours.rate / theirs.rate for ours, theirs in pairs)
    tail = statistics.median(ours.p99 / theirs.p99 for ours, theirs in pairs)
    print(f"| {tables} | {told(0)} | {told(1)} | **{ratio:.2f}** | {tail:.2f} |", flush=True)


if __name__ == "__main__":
    main()
