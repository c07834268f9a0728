"""(d) What proving costs: verifying, exporting, verifying a whole database, the tree."""

import random
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable
from os import environ
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.machine import KEYS, database, gunicorn, services_over
from service.cards import Seat
from service.log import steps
from service.log.events import Actor
from service.log.game import Game, Occupant, Secret
from service.log.steps import Frame, Opening
from service.play.checkpointing import Checkpointer
from service.play.proving import export
from service.play.services import Services, new_ulid, timestamp, utc_now
from service.proof.outside import Evidence
from service.proof.receipts import sign_head
from service.proof.verify import verify
from service.rules.registry import current
from service.store.appends import create_game

GAMES = 2_000
ROUNDS = {"jokers-go-boom": 2, "crazy-rummy": 1}
LONG = {"jokers-go-boom": 20, "crazy-rummy": 13}
SECONDS = 2.0


def main() -> None:
    with database() as urls, TemporaryDirectory() as folder:
        services = services_over(urls.service)
        began = time.perf_counter()
        stored = [
            _stored(services, name, ROUNDS, seed) for seed in range(GAMES // 2) for name in ROUNDS
        ]
        events = sum(game.version for game in stored)
        made = time.perf_counter() - began
        print(f"{len(stored)} games of {events} events, made in {made:.0f} s.\n")
        print("| what | measured |")
        print("|---|---|")
        _tree(services, Path(folder))
        for name in LONG:
            _verifying(services, _stored(services, name, LONG, 1))
        _signing(services)
        with gunicorn("service.app:wsgi()", urls.service, workers=1) as port:
            _exporting(port, _stored(services, "crazy-rummy", LONG, 2))
        services.database.engine.dispose()
        for jobs in (1, 2):
            _verifying_all(urls.service, len(stored) + 3, jobs)


def _stored(services: Services, name: str, rounds: dict[str, int], seed: int) -> Game:
    """A finished game of random moves, written at once."""
    ruleset, chance = current()[name], random.Random(seed)
    options = ruleset.options(rounds=rounds[name])
    opening = Opening(ruleset=ruleset, options=options, seats=4, visibility="public")
    secret = Secret(services.draw_secret(), services.dealer)
    at, frames = timestamp(utc_now()), list[Frame]()

    def add(step: steps.Step) -> None:
        frames.append(steps.write(step, frames[-1].after if frames else None, at))

    add(steps.create(new_ulid(), opening, secret, Actor(kind="player", id="x"), at))
    for seat in range(1, 5):
        add(
            steps.take_seat(
                frames[-1].after,
                Seat(seat),
                Occupant(kind="bot", level="random"),
                Actor(kind="system"),
            )
        )
    add(steps.start(frames[-1].after))
    frames += steps.consequences(frames[-1].after, at)
    while (game := frames[-1].after).to_act is not None:
        assert game.round is not None
        move = chance.choice(ruleset.legal_moves(game.round.state))
        add(steps.play(game, move, Actor(kind="bot", id="random")))
        frames += steps.consequences(frames[-1].after, at)
    create_game(services.database, frames)
    return frames[-1].after


def _tree(services: Services, folder: Path) -> None:
    checkpointer = Checkpointer(services, folder)
    began = time.perf_counter()
    leaves = 0
    while added := checkpointer.run():
        leaves += added
    seconds = time.perf_counter() - began
    print(f"| heads into the tree, signed and published | {leaves / seconds:,.0f}/s |", flush=True)


def _verifying(services: Services, game: Game) -> None:
    text = "".join(export(services, None, game.id).lines)
    evidence = Evidence(keys=services.database.keyring.public_keys())
    rate = _rate(lambda: verify(text, evidence))
    print(
        f"| verifying an export of {game.ruleset.name} ({game.version} events, "
        f"{len(text) / 1e3:.0f} kB), one core | {rate * game.version:,.0f} events/s |",
        flush=True,
    )


def _signing(services: Services) -> None:
    signer = services.database.keyring.signer()
    rate = _rate(lambda: sign_head(signer, "0" * 26, 1, "0" * 64))
    print(f"| signing a receipt | {1e6 / rate:.0f} µs |", flush=True)


def _exporting(port: int, game: Game) -> None:
    url = f"http://127.0.0.1:{port}/games/{game.id}/export"
    size = len(urllib.request.urlopen(url).read())
    rate = _rate(lambda: urllib.request.urlopen(url).read())
    print(
        f"| exporting {size / 1e3:.0f} kB over HTTP, one client | {rate * size / 1e6:.0f} MB/s |",
        flush=True,
    )


def _verifying_all(url: str, games: int, jobs: int) -> None:
    command = [sys.executable, "-m", "service.cli", "verify", "--all", "--jobs", str(jobs)]
    settings = {**environ, "DATABASE_URL": url, "FAIRDEAL_SIGNING_KEYS": str(KEYS)}
    began = time.perf_counter()
    subprocess.run(command, env=settings, check=True, capture_output=True)
    seconds = time.perf_counter() - began
    print(
        f"| `verify --all --jobs {jobs}`, {games:,} games | {games / seconds:,.0f} games/s, {seconds:.0f} s |",
        flush=True,
    )


def _rate(run: Callable[[], object]) -> float:
    run()
    count, began = 0, time.perf_counter()
    while time.perf_counter() - began < SECONDS:
        run()
        count += 1
    return count / (time.perf_counter() - began)


if __name__ == "__main__":
    main()
