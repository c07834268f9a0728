"""(a) Moves through gunicorn, against a bare Flask route with the same append, and pgbench.

All in one run, in turn; only the ratios mean something.
"""

import json
import logging
import os
import random
import statistics
import subprocess
import uuid
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import psycopg
import structlog

from bench.machine import Load, database, gunicorn, load, post, services_over
from service.app import create_app
from service.bots import choose
from service.log import steps
from service.log.events import Actor
from service.log.game import Game
from service.play.services import Services
from service.store.appends import append_statement
from service.store.embedded import Urls, find_binaries

CLIENTS = (1, 8, 32)
REQUESTS = {1: 400, 8: 1600, 32: 3200}
WARM_UP = 20
LONGEST = {"jokers-go-boom": 20, "crazy-rummy": 13}
ROUNDS = int(os.environ.get("ROUNDS", "3"))
Tokens = list[dict[str, str]]


def service_requests(urls: Urls, ruleset: str, clients: int, each: int) -> list[list[bytes]]:
    """Real games of people only, opened beforehand; each client plays all the seats of its own."""
    services = services_over(urls.service)
    app = create_app(services).test_client()
    tokens, ids = [], []
    for number in range(4):
        key = app.post("/players", json={"name": f"Player {number}"}).get_json()["key"]
        tokens.append({"Authorization": f"Bearer {key['token']}"})
        ids.append(key["id"])
    return [_one_client(services, app, tokens, ruleset, each) for _ in range(clients)]


def _one_client(
    services: Services, app: Any, tokens: Tokens, ruleset: str, each: int
) -> list[bytes]:
    requests: list[bytes] = []
    while len(requests) < each:
        opening = {
            "ruleset": ruleset,
            "seats": 4,
            "options": {"rounds": LONGEST[ruleset]},
            "sandbox": {"secret": f"{random.getrandbits(256):064x}"},
        }
        game = app.post("/games", json=opening, headers=tokens[0]).get_json()["view"]["game"]
        for token in tokens[1:]:
            view = app.post(f"/games/{game}/seats", json={}, headers=token).get_json()["view"]
        now = services.games.get(game)
        requests += planned_moves(now, tokens, each - len(requests))
        assert view["status"] == "active"
    return requests


def planned_moves(game: Game, tokens: Tokens, most: int) -> list[bytes]:
    """The moves of a game, decided beforehand: in a sandbox the deal is known."""
    ruleset, chance, requests = game.ruleset, random.Random(7), []
    while game.to_act is not None and len(requests) < most:
        view = ruleset.view(game.round.state, game.to_act)
        move = choose("random", ruleset, game.options, view, chance)
        headers = {**tokens[game.to_act - 1], "Idempotency-Key": uuid.uuid4().hex}
        body = json.dumps({"move": ruleset.write_move(move), "expected_version": game.version})
        requests.append(post(f"/games/{game.id}/moves", body, headers))
        game = steps.write(
            steps.play(game, move, Actor(kind="player", id="x")), game, game.at
        ).after
        for frame in steps.consequences(game, game.at):
            game = frame.after
    return requests


def bare_requests(urls: Urls, clients: int, each: int) -> list[list[bytes]]:
    made = []
    with psycopg.connect(urls.owner, autocommit=True) as owner:
        for _ in range(clients):
            game = uuid.uuid4().hex[:26]
            _open_bare(owner, game)
            requests = [
                post(
                    f"/games/{game}/moves",
                    json.dumps(
                        {"move": {"type": "play", "card": "4h"}, "expected_version": version}
                    ),
                    {"Idempotency-Key": uuid.uuid4().hex, "Authorization": "Bearer " + "x" * 55},
                )
                for version in range(1, each + 1)
            ]
            made.append(requests)
    return made


def _open_bare(owner: psycopg.Connection, game: str) -> None:
    owner.execute(
        "INSERT INTO games VALUES (%s, 1, %s, 'active', 'bare', '1', 'public', true, 4, '', "
        "'{a,b,c,d}', 'a', false, now(), now())",
        [game, f"{1:064x}"],
    )


def pgbench(urls: Urls, clients: int) -> Load:
    """The same statement, prepared, driven by Postgres' own load generator."""
    with TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        run = uuid.uuid4().hex[:16]
        with psycopg.connect(urls.owner, autocommit=True) as owner:
            for client in range(clients):
                _open_bare(owner, f"{run}{client:04d}")
        values = {
            "game": f"('{run}' || lpad(:client_id::int::text, 4, '0'))",
            "version": ":v::int",
            "head": "lpad(to_hex(:v::int), 64, '0')",
            "expected": ":e::int",
            "prev": "lpad(to_hex(:e::int), 64, '0')",
            "status": "'active'",
            "players": "NULL::text[]",
            "to_act": "'a'",
            "bot_to_act": "false",
            "moved_at": "now()",
            "deadline_at": "NULL::timestamptz",
            "signed_with": f"'{'k' * 16}'",
            "signature": f"'{'s' * 86}'",
            "seq0": ":v::int",
            "type0": "'move'",
            "body0": f"'{'x' * 470}'",
            "player": "'a'",
            "route": "'makeMoves'",
            "key": "('key' || :v::int)",
            "fingerprint": "'\\x00'::bytea",
        }
        statement = append_statement(1)
        for name, value in values.items():
            statement = statement.replace(f"%({name})s", value)
        script = Path(folder, "append.sql")
        script.write_text(f"\\set e :v\n\\set v :v + 1\n{statement.strip()};\n")
        command = [find_binaries() / "pgbench", "-n", "-M", "prepared", "-f", script, "-D", "v=1"]
        command += ["-c", str(clients), "-j", "2", "-T", "3", urls.owner]
        told = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
        rate = float(told.split("tps = ")[1].split()[0])
        latency = float(told.split("latency average = ")[1].split()[0])
        return Load(rate, latency, float("nan"))


def warm_load(port: int, clients: list[list[bytes]]) -> Load:
    """The load after the first few requests of each client, which find everything cold."""
    load(port, [requests[:WARM_UP] for requests in clients])
    return load(port, [requests[WARM_UP:] for requests in clients])


def main() -> None:
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING))
    with database() as urls:
        print(
            "| game | clients | service moves/s (p50, p99 ms) | bare route (p50, p99 ms) | ratio | p99 ratio | pgbench tps |"
        )
        print("|---|---|---|---|---|---|---|")
        with (
            gunicorn("service.app:wsgi()", urls.service) as service,
            gunicorn("bench.bare:create_app()", urls.owner) as bare,
        ):
            for ruleset in LONGEST:
                for clients in CLIENTS:
                    each = WARM_UP + REQUESTS[clients] // clients
                    pairs = [
                        (
                            warm_load(service, service_requests(urls, ruleset, clients, each)),
                            warm_load(bare, bare_requests(urls, clients, each)),
                        )
                        for _ in range(ROUNDS)
                    ]
                    row = _row(clients, pairs, pgbench(urls, clients))
                    print(f"| {ruleset} {row}", flush=True)


def _row(clients: int, pairs: list[tuple[Load, Load]], statement: Load) -> str:
    ours, bare = zip(*pairs, strict=True)
    ratio = statistics.median(a.rate / b.rate for a, b in pairs)
    tail = statistics.median(a.p99 / b.p99 for a, b in pairs)
    return (
        f"| {clients} | {_told(ours)} | {_told(bare)} | **{ratio:.2f}** | {tail:.2f} "
        f"| {statement.rate:.0f} |"
    )


def _told(loads: tuple[Load, ...]) -> str:
    def middle(name: str) -> float:
        return statistics.median(getattr(one, name) for one in loads)

    return f"{middle('rate'):.0f} ({middle('p50'):.1f}, {middle('p99'):.1f})"


if __name__ == "__main__":
    main()
