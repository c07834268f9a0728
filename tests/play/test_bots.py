"""The service's bots, in requests and in the worker."""

import random
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from api.test_games import opened
from chains import first_break
from conftest import Person
from signing import KEYRING
from sqlalchemy.exc import OperationalError

from service.app import create_app
from service.bots import LEVELS, choose
from service.cards import Seat
from service.play.bot_turns import play_bots
from service.play.checkpointing import Checkpointer
from service.play.games import catch_up
from service.play.services import Services, utc_now
from service.rules.registry import find
from service.rules.ruleset import Round
from service.store.database import Database, connect
from service.store.reads import read_events
from service.store.secret_box import SecretBox
from service.worker import loop
from service.worker.bots import sweep
from service.worker.loop import Worker
from service.worker.stop import Stop


@pytest.mark.parametrize("level", LEVELS)
def test_a_bot_chooses_by_a_view_and_nothing_else(level: str) -> None:
    ruleset = find("jokers-go-boom")
    options = ruleset.options()
    state = ruleset.deal(options, Round(1, Seat(1), 3), ruleset.pack(options))
    view = ruleset.view(state, ruleset.to_act(state))
    chosen = [choose(level, ruleset, options, view, random.Random(7)) for _ in range(3)]
    assert chosen[0] in view.legal_moves
    assert chosen.count(chosen[0]) == 3


def bots_alone(person: Person, **body: Any) -> str:
    bots = [{"seat": seat, "level": "random"} for seat in (1, 2, 3)]
    view = opened(person, sit=False, bots=bots, **body)
    game: str = view["game"]
    return game


def test_the_worker_plays_on_where_a_request_stopped(ilze: Person, services: Services) -> None:
    game = bots_alone(ilze)
    before = ilze.view(game)
    assert before["status"] == "active"
    assert sweep(services, timedelta(0)) >= 1
    assert ilze.view(game)["version"] > before["version"]


def test_the_worker_leaves_alone_what_happened_just_now(ilze: Person, services: Services) -> None:
    game = bots_alone(ilze)
    version = ilze.view(game)["version"]
    sweep(services, timedelta(hours=1))
    assert ilze.view(game)["version"] == version


def test_bots_in_a_request_play_for_a_second_at_most(ilze: Person, services: Services) -> None:
    game = bots_alone(ilze)
    ticks = iter(range(1_000_000))
    slow = replace(services, now=lambda: utc_now() + timedelta(seconds=next(ticks)))
    current, _ = catch_up(services, game)
    assert play_bots(slow, current).version == current.version


def test_several_workers_make_each_turn_once(ilze: Person, services: Services) -> None:
    game = bots_alone(ilze, options={"rounds": 20})

    def work() -> None:
        own = replace(services, games=type(services.games)(100))
        while ilze_is_waiting():
            sweep(own, timedelta(0))

    def ilze_is_waiting() -> bool:
        return catch_up(services, game)[0].to_act is not None

    threads = [Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    events = read_events(services.database, game, 0)
    assert events[-1].type == "secret_revealed"
    assert first_break(events) is None


def test_a_game_that_can_not_be_played_on_does_not_stop_the_others(
    ilze: Person, services: Services, owner: Any, log_lines: Any
) -> None:
    stuck, fine = bots_alone(ilze), bots_alone(ilze)
    services.games.drop(stuck)
    with owner.transaction():
        owner.execute("ALTER TABLE game_secrets DISABLE TRIGGER refuse_rewriting")
        owner.execute("UPDATE game_secrets SET secret = %s WHERE game_id = %s", [bytes(32), stuck])
        owner.execute("ALTER TABLE game_secrets ENABLE TRIGGER refuse_rewriting")
    version = ilze.view(fine)["version"]
    sweep(services, timedelta(0))
    assert ilze.view(fine)["version"] > version
    assert stuck in log_lines.getvalue()
    owner.execute("UPDATE games SET bot_to_act = false WHERE id = %s", [stuck])


def test_the_workers_loop_waits_for_a_database_that_is_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, log_lines: Any
) -> None:
    monkeypatch.setattr(loop, "TROUBLE_SECONDS", 0.01)
    away = Services(database=connect(f"postgresql://x@/x?host={tmp_path}", SecretBox(), KEYRING, 1))
    stop = Stop()
    thread = Thread(target=worker(away, tmp_path).run, args=(stop,))
    thread.start()
    for _ in range(200):
        if log_lines.getvalue().count("store_unavailable") >= 2:
            break
        stop.wait(0.02)
    stop.set()
    thread.join(5)
    assert not thread.is_alive()
    assert log_lines.getvalue().count("store_unavailable") >= 2


def worker(services: Services, folder: Path) -> Worker:
    return Worker(services, Checkpointer(services, folder), 10)


def test_the_workers_loop_ends_when_it_is_told_to(services: Services, tmp_path: Path) -> None:
    stop = Stop()
    thread = Thread(target=worker(services, tmp_path).run, args=(stop,))
    thread.start()
    stop.wait(0.3)
    stop.set()
    thread.join(5)
    assert not thread.is_alive()


def test_a_move_stands_whatever_becomes_of_the_bots(ilze: Person, services: Services) -> None:
    """The database goes away between a person's move and the bots' turns."""
    game = opened(ilze, bots=[{"seat": 2}, {"seat": 3}])["game"]
    view = ilze.put(f"/games/{game}/seats/1/contribution", {"contribution": ""}).get_json()["view"]
    appends = 0

    class OneAppendOnly:
        """The engine, which is gone after one append."""

        def __getattr__(self, name: str) -> Any:
            return getattr(services.database.engine, name)

        def raw_connection(self) -> Any:
            nonlocal appends
            appends += 1
            if appends > 1:
                raise OperationalError("", None, Exception())
            return services.database.engine.raw_connection()

    broken = Database(OneAppendOnly(), services.database.box, KEYRING)  # type: ignore[arg-type]
    app = create_app(replace(services, database=broken))
    answer = app.test_client().post(
        f"/games/{game}/moves",
        json={"move": view["legal_moves"][0], "expected_version": view["version"]},
        headers={**ilze.headers, "Idempotency-Key": game},
    )
    assert answer.status_code == 201
    assert answer.get_json()["view"]["version"] == view["version"] + 1
    sweep(services, timedelta(0))
    assert ilze.view(game)["to_act"] == 1
