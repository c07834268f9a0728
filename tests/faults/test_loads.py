"""Much of everything: many open games, one very long one, many requests to one process."""

import random
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from conftest import register, services_at
from faults.ledgers import Client, lines_of, reckon
from faults.servers import descendants, gunicorn
from signing import KEYRING

from service.app import create_app
from service.bots import choose
from service.log import steps
from service.log.events import Actor
from service.log.game import Game
from service.log.steps import Frame, Ruling
from service.play.games import game_at
from service.play.proving import export
from service.proof.outside import Evidence
from service.proof.verify import verify
from service.store.appends import append
from service.store.embedded import Urls
from service.store.reads import load
from service.worker.bots import sweep
from service.worker.clocks import tick

OPEN_GAMES = 10_000
EVENTS = 5_000
ADMIN = Actor(kind="admin", id="01j00000000000000000000009")
WARM_SECONDS, SECONDS = 6, 12
KB_A_MOVE_AT_MOST = 6
"""A game in play remembers each state of its round, some two kB; a leak of a request is more."""


@pytest.fixture
def served(own: Urls, description: Any) -> Iterator[Any]:
    services = services_at(own.service)
    app = create_app(services)
    app.test_client_class = description.checking_client()
    yield services, app.test_client()
    services.database.engine.dispose()


def test_ten_thousand_open_games_are_listed_each_once(own: Urls, served: Any) -> None:
    services, client = served
    person = register(client)
    first = person.post("/games", {"ruleset": "jokers-go-boom", "seats": 3}).get_json()
    game = first["view"]["game"]
    copy = (
        "INSERT INTO games SELECT (jsonb_populate_record(games, jsonb_build_object('id', "
        "substr(id, 1, 20) || lpad(number::text, 6, '0')))).* "
        "FROM games, generate_series(1, %s) AS number WHERE id = %s"
    )
    with psycopg.connect(own.owner, autocommit=True) as owner:
        owner.execute(copy, [OPEN_GAMES - 1, game])
        owner.execute("ANALYZE games")
        plan = owner.execute(
            "EXPLAIN SELECT id FROM games WHERE status = 'open' ORDER BY id DESC LIMIT 50"
        ).fetchall()
    assert "Seq Scan" not in str(plan)
    assert (tick(services), sweep(services)) == (0, 0)
    seen: list[str] = []
    cursor = ""
    while True:
        page = client.get(f"/games?status=open&limit=200{cursor}").get_json()
        seen += [item["game"] for item in page["items"]]
        if page["next_cursor"] is None:
            break
        cursor = f"&cursor={page['next_cursor']}"
    assert len(seen) == len(set(seen)) == OPEN_GAMES
    assert seen == sorted(seen, reverse=True)


class Long:
    """A game whose last round is dealt again and again, so that it does not end."""

    def __init__(self, services: Any, game: Game) -> None:
        self.services, self.game = services, game
        self.chance = random.Random(4)

    def add(self, *frames: Frame) -> None:
        assert append(self.services.database, frames)
        self.game = frames[-1].after

    def play_to(self, events: int) -> None:
        while self.game.version < events:
            state = self.game.round.state
            view = self.game.ruleset.view(state, self.game.to_act)
            move = choose("random", self.game.ruleset, self.game.options, view, self.chance)
            after = self.game.ruleset.apply(state, move)[0]
            if self.game.ruleset.to_act(after) is None:
                self.deal_again()
            else:
                played = steps.play(
                    self.game, move, Actor(kind="player", id=self.game.occupant_to_act.player)
                )
                self.add(steps.write(played, self.game, self.game.at))

    def deal_again(self) -> None:
        ruling = Ruling(id=self.services.new_id(), outcome="upheld", remedies=("redeal",))
        first = steps.write(steps.rule(self.game, ruling, ADMIN), self.game, self.game.at)
        again = steps.redeal(first.after, 1, ADMIN)
        self.add(first, steps.write(again, first.after, self.game.at))


def test_a_game_of_five_thousand_events_is_read_seen_and_verified(served: Any) -> None:
    services, client = served
    people = [register(client, name) for name in ("Ilze", "Anna", "Zane")]
    opening = {"ruleset": "jokers-go-boom", "seats": 3, "options": {"rounds": 1}}
    game = people[0].post("/games", opening).get_json()["view"]["game"]
    for person in people[1:]:
        person.post(f"/games/{game}/seats")
    long = Long(services, services.games.get(game))
    long.play_to(EVENTS)
    services.games.drop(game)
    stored = load(services.database, game)
    assert stored is not None
    assert len(stored[1]) < EVENTS / 5, "a cold game reads its last round, and what set it up"
    view = people[0].view(game)
    assert view["version"] >= EVENTS
    mover = next(person for person in people if person.view(game)["legal_moves"])
    body = {"move": mover.view(game)["legal_moves"][0], "expected_version": view["version"]}
    assert mover.post(f"/games/{game}/moves", body).status_code == 201
    page = people[0].get(f"/games/{game}/events?after={EVENTS - 100}").get_json()
    assert page["items"][0]["seq"] == EVENTS - 99
    assert game_at(services, services.games.get(game), EVENTS // 2).version == EVENTS // 2
    text = "".join(export(services, people[0].id, game).lines)
    secret = services.games.get(game).setup.secret.value
    report = verify(text, Evidence(keys=KEYRING.public_keys(), secret=secret))
    assert report.failure is None


def resident(pid: int) -> int:
    """Memory of a process, in kB."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1])
    raise LookupError(pid)


def test_a_process_grows_no_more_than_the_games_that_it_remembers(own: Urls) -> None:
    with gunicorn(own.service, workers=1) as (port, arbiter):
        clients = [Client(f"http://127.0.0.1:{port}") for _ in range(3)]
        for client in clients:
            client.begin()
        is_over = threading.Event()
        playing = [threading.Thread(target=one.play, args=(is_over,)) for one in clients]
        for thread in playing:
            thread.start()
        is_over.wait(WARM_SECONDS)
        (worker,) = descendants(arbiter.pid)
        before, moves = resident(worker), sum(len(one.keys) for one in clients)
        is_over.wait(SECONDS)
        after, more = resident(worker), sum(len(one.keys) for one in clients)
        is_over.set()
        for thread in playing:
            thread.join()
        assert reckon(clients, lines_of).is_clean
    assert more - moves > 100
    assert (after - before) / (more - moves) < KB_A_MOVE_AT_MOST
