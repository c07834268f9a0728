"""What games need: rows, bytes on disk and in the write-ahead log, memory; and what a million of them would.

Games are played by the service itself into an embedded Postgres; what a million need is computed
from what was measured, by the assumptions that are printed with it.
"""

import logging
import os
import random
import statistics
import tracemalloc

import psycopg
import structlog

from bench.machine import database, gunicorn, services_over
from bench.moves import CLIENTS, service_requests, warm_load
from service.app import create_app
from service.bots import choose
from service.log import steps
from service.log.events import Actor
from service.play.services import Services
from service.store.appends import append
from service.store.embedded import Urls

GAMES = int(os.environ.get("GAMES", "120"))
MILLION = 1_000_000
SECONDS_A_MOVE = 20
RETENTION_DAYS = 90
TABLES = ("games", "events", "game_secrets", "idempotency_keys", "tree_leaves", "tree_nodes")
STANDARD = {"jokers-go-boom": 4, "crazy-rummy": 4}


def main() -> None:
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING))
    with database() as urls:
        services = services_over(urls.service)
        sizes = {ruleset: _measured(urls, services, ruleset) for ruleset in STANDARD}
        memory = _memory(urls)
        with gunicorn("service.app:wsgi()", urls.service) as port:
            each = 20 + 1600 // CLIENTS[1]
            rates = [
                warm_load(port, service_requests(urls, "jokers-go-boom", CLIENTS[1], each)).rate
                for _ in range(3)
            ]
    moves = statistics.median(rates)
    print("| measured | jokers-go-boom, 4 seats | crazy-rummy, 4 seats |")
    print("|---|---|---|")
    for name in (
        "events a game",
        "bytes on disk an event",
        "bytes on disk a game",
        "WAL bytes a move",
    ):
        print(f"| {name} | " + " | ".join(f"{found[name]:,.0f}" for found in sizes.values()) + " |")
    print(
        f"\nA game that a process remembers: {memory:,.0f} bytes. Moves a second, {os.cpu_count()} cores for "
        f"all (clients, service, Postgres): {moves:,.0f}.\n"
    )
    _million(sizes, memory, moves)


def _measured(urls: Urls, services: Services, ruleset: str) -> dict[str, float]:
    """Play games to their end, and look at what they left."""
    with psycopg.connect(urls.superuser.replace("/postgres?", "/fairdeal?"), autocommit=True) as db:
        before = _sizes(db)
        app = create_app(services).test_client()
        tokens = []
        for number in range(STANDARD[ruleset]):
            key = app.post("/players", json={"name": f"P{number}"}).get_json()["key"]
            tokens.append({"Authorization": f"Bearer {key['token']}"})
        appends = 0
        db.execute("CHECKPOINT")
        began = db.execute("SELECT pg_current_wal_lsn()").fetchone()[0]
        for number in range(GAMES):
            opening = {"ruleset": ruleset, "seats": STANDARD[ruleset]}
            game = app.post("/games", json=opening, headers=tokens[0]).get_json()["view"]["game"]
            for token in tokens[1:]:
                app.post(f"/games/{game}/seats", json={}, headers=token)
            appends += _played(services, game, random.Random(number))
        wal = db.execute("SELECT pg_current_wal_lsn() - %s::pg_lsn", [began]).fetchone()[0]
        db.execute("VACUUM ANALYZE")
        after = _sizes(db)
    events, size = after["events"] - before["events"], after["bytes"] - before["bytes"]
    return {
        "events a game": events / GAMES,
        "bytes on disk an event": size / events,
        "bytes on disk a game": size / GAMES,
        "WAL bytes a move": float(wal) / appends,
    }


def _played(services: Services, name: str, chance: random.Random) -> int:
    """Play the game to its end by moves of its players, each its own append; how many."""
    game, appends = services.games.get(name), 0
    while game.to_act is not None:
        view = game.ruleset.view(game.round.state, game.to_act)
        move = choose("steady", game.ruleset, game.options, view, chance)
        actor = Actor(kind="player", id=game.occupant_to_act.player)
        frame = steps.write(steps.play(game, move, actor), game, game.at)
        frames = [frame, *steps.consequences(frame.after, game.at)]
        assert append(services.database, frames)
        game, appends = frames[-1].after, appends + 1
    return appends


def _sizes(db: psycopg.Connection) -> dict[str, int]:
    row = db.execute(
        "SELECT sum(pg_total_relation_size(name::regclass)) FROM unnest(%s::text[]) AS name",
        [list(TABLES)],
    ).fetchone()
    count = db.execute("SELECT count(*) FROM events").fetchone()
    return {"bytes": int(row[0]), "events": int(count[0])}


def _memory(urls: Urls) -> float:
    """Bytes that a remembered game takes, in the middle of its first rounds."""
    services = services_over(urls.service)
    with psycopg.connect(urls.owner) as db:
        ids = [name for (name,) in db.execute("SELECT id FROM games ORDER BY id LIMIT 200")]
    from service.play.games import catch_up

    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    for name in ids:
        catch_up(services, name)
    after = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    return (after - before) / len(ids)


def _million(sizes: dict[str, dict[str, float]], memory: float, moves: float) -> None:
    rate = MILLION / SECONDS_A_MOVE
    cores = rate / moves * (os.cpu_count() or 1)
    print(
        f"| a million games at once, a move each {SECONDS_A_MOVE} s | jokers-go-boom | crazy-rummy |"
    )
    print("|---|---|---|")
    rows = {
        "moves a second": [rate for _ in sizes],
        "write-ahead log, MB/s": [
            rate * found["WAL bytes a move"] / 1e6 for found in sizes.values()
        ],
        "new on disk a day, TB": [
            rate * 86_400 * found["bytes on disk an event"] / 1e12 for found in sizes.values()
        ],
        f"on disk at {RETENTION_DAYS} days of retention, TB": [
            rate * 86_400 * RETENTION_DAYS * found["bytes on disk an event"] / 1e12
            for found in sizes.values()
        ],
        "the million games' own rows, GB": [
            MILLION * found["bytes on disk a game"] / 2 / 1e9 for found in sizes.values()
        ],
        "remembered by web processes, GB": [MILLION * memory / 1e9 for _ in sizes],
        "cores as measured here (service and Postgres)": [cores for _ in sizes],
    }
    for name, values in rows.items():
        print(f"| {name} | " + " | ".join(f"{value:,.1f}" for value in values) + " |")


if __name__ == "__main__":
    main()
