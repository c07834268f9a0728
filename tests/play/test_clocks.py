"""Time runs out: the clock plays, a bot takes over, the player comes back; downtime is no fault."""

import json
import random
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Thread
from typing import Any

import psycopg
import pytest
from api.test_games import code, opened
from conftest import Person, fresh_key, register, services_at
from flask.testing import FlaskClient
from play_through import play_on
from signing import KEYRING

from service.app import create_app
from service.log.game import Secret
from service.log.replay import replay, resume
from service.play.checkpointing import Checkpointer
from service.play.clocks import OPEN_FOR
from service.play.proving import export
from service.play.services import Services
from service.proof.outside import Evidence
from service.proof.verdicts import Outcome
from service.proof.verify import verify
from service.store.embedded import Urls
from service.store.reads import load, read_events
from service.store.schema import migrate
from service.worker import clocks, loop
from service.worker.bots import sweep
from service.worker.clocks import GAP, close_games, note_alive, tick
from service.worker.loop import Worker
from service.worker.stop import Stop

TURN_SECONDS = 30


class Watch:
    """A clock that only the test moves."""

    def __init__(self) -> None:
        self.now = datetime(2026, 12, 1, 10, 0, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def go(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)


class House:
    """A service with a clock of its own, over a database of its own."""

    def __init__(self, urls: Urls, description: Any) -> None:
        self.urls, self.watch = urls, Watch()
        self.services: Services = services_at(urls.service, now=self.watch)
        app = create_app(self.services)
        app.test_client_class = description.checking_client()
        self.client: FlaskClient = app.test_client()
        self.people = [register(self.client, name) for name in ("Ilze", "Anna", "Zane")]

    def opens(self, ruleset: str = "jokers-go-boom", **body: Any) -> str:
        opening = {"ruleset": ruleset, "turn_seconds": TURN_SECONDS, **body}
        game: str = opened(self.people[0], **opening)["game"]
        for person in self.people[1:]:
            assert person.post(f"/games/{game}/seats").status_code == 201
        return game

    def let(self, seconds: float) -> int:
        """Let the time pass, a worker beating all the while; in how many games it did something."""
        done = 0
        while seconds > 0:
            step = min(seconds, GAP.total_seconds() - 1)
            self.watch.go(step)
            seconds -= step
            done += self.tick()
        return done

    def tick(self) -> int:
        """What a worker does once: say that it lives, and play for who is away."""
        note_alive(self.services, self.watch.now)
        return tick(self.services)

    def events(self, game: str) -> list[Any]:
        return [json.loads(e.line) for e in read_events(self.services.database, game, 0)]

    def player_to_act(self, game: str) -> Person:
        view = self.people[0].view(game)
        player = view["seats"][view["to_act"] - 1]["player"]["id"]
        return next(person for person in self.people if person.id == player)

    def verified(self, game: str) -> Outcome:
        text = "".join(export(self.services, self.people[0].id, game).lines)
        secret = self.services.games.get(game)
        assert secret is not None
        evidence = Evidence(keys=KEYRING.public_keys(), secret=secret.setup.secret.value)
        report = verify(text, evidence)
        assert report.failure is None, report.failure
        return report.outcome


@pytest.fixture
def house(another_database: Callable[[], Urls], description: Any) -> Iterator[House]:
    urls = another_database()
    migrate(urls.owner)
    made = House(urls, description)
    made.tick()
    yield made
    made.services.database.engine.dispose()


def at(text: str) -> datetime:
    return datetime.fromisoformat(text)


def test_a_view_says_when_the_turn_must_be_over(house: House) -> None:
    game = house.opens()
    view = house.people[0].view(game)
    assert view["turn_seconds"] == TURN_SECONDS
    assert at(view["deadline_at"]) == house.watch.now + timedelta(seconds=TURN_SECONDS)
    house.watch.go(10)
    assert house.people[1].view(game)["deadline_at"] == view["deadline_at"]
    turn = house.player_to_act(game)
    turn.move(game, turn.view(game)["legal_moves"][0])
    if house.people[0].view(game)["to_act"] != view["to_act"]:
        assert at(house.people[0].view(game)["deadline_at"]) == house.watch.now + timedelta(
            seconds=TURN_SECONDS
        )
    past = house.people[0].get(f"/games/{game}?at=3").get_json()
    assert past["deadline_at"] is None


def test_a_game_without_a_clock_waits_for_ever(house: House) -> None:
    game = house.opens(turn_seconds=None)
    assert house.people[0].view(game)["deadline_at"] is None
    assert house.let(3600) == 0
    assert "turn_seconds" not in house.events(game)[0]["data"]


@pytest.mark.parametrize("seconds", [4, 604_801, "30", 30.5, True])
def test_a_clock_has_its_bounds(house: House, seconds: Any) -> None:
    opening = {"ruleset": "jokers-go-boom", "seats": 3, "turn_seconds": seconds}
    answer = house.people[0].post("/games", opening)
    assert code(answer) == (422, "validation_failed")
    assert answer.get_json()["errors"][0]["pointer"] == "/turn_seconds"


@pytest.mark.parametrize("ruleset", ["jokers-go-boom", "crazy-rummy"])
def test_the_clock_plays_the_turn_of_who_is_away_and_of_nobody_else(
    house: House, ruleset: str
) -> None:
    game = house.opens(ruleset)
    before = house.people[0].view(game)
    assert house.let(TURN_SECONDS - 2) == 0
    assert house.people[0].view(game)["version"] == before["version"]
    assert house.let(4) == 1
    played = house.events(game)[before["version"] :]
    assert {event["type"] for event in played} == {"move"}
    assert {event["actor"]["kind"] for event in played} == {"clock"}
    assert {event["data"]["seat"] for event in played} == {before["to_act"]}
    after = house.people[0].view(game)
    assert after["to_act"] == before["to_act"] % 3 + 1
    assert house.verified(game) is Outcome.VERIFIED


def test_a_deadline_is_of_the_turn_and_not_of_the_move(house: House) -> None:
    """Who draws late in a turn of Crazy Rummy has no new time to discard."""
    game = house.opens("crazy-rummy")
    first = house.player_to_act(game)
    first.move(game, next(m for m in first.view(game)["legal_moves"] if m["type"] == "discard"))
    turn = house.player_to_act(game)
    due = turn.view(game)["deadline_at"]
    house.let(TURN_SECONDS - 5)
    assert turn.move(game, {"type": "draw", "from": "stock"}).status_code == 201
    assert turn.view(game)["deadline_at"] == due
    assert house.let(8) == 1
    assert house.events(game)[-1]["data"]["move"]["type"] == "discard"
    assert house.events(game)[-1]["actor"] == {"kind": "clock"}


def test_after_three_turns_in_a_row_a_bot_plays_on_and_the_player_may_come_back(
    house: House,
) -> None:
    game = house.opens(options={"rounds": 4})
    away = house.player_to_act(game)
    others = [person for person in house.people if person is not away]
    chance = random.Random(2)

    def replaced() -> list[Any]:
        return [e for e in house.events(game) if e["type"] == "seat_replaced"]

    for _ in range(400):
        if replaced() or house.people[0].view(game)["to_act"] is None:
            break
        view = others[0].view(game)
        turn = next((p for p in others if p.id == player_in(view, view["to_act"])), None)
        if turn is None:
            house.let(TURN_SECONDS + 1)
        else:
            turn.move(game, chance.choice(turn.view(game)["legal_moves"]))
    (event,) = replaced()
    assert event["actor"] == {"kind": "clock"}
    seat = event["data"]["seat"]
    assert event["data"] == {"seat": seat, "kind": "bot", "bot": "steady", "reason": "absent"}
    by_clock = [e for e in house.events(game) if e["actor"] == {"kind": "clock"}]
    assert len({e["seq"] for e in by_clock if e["type"] == "move"}) >= 3
    view = away.view(game)
    assert view["viewer"] == {"role": "spectator", "seat": None}
    assert "hand" not in view["seats"][seat - 1]
    assert view["seats"][seat - 1]["player"]["kind"] == "bot"
    assert code(away.post(f"/games/{game}/resignation")) == (403, "not_seated")
    assert code(others[0].post(f"/games/{game}/return")) == (409, "not_away")
    key = fresh_key()
    back = away.post(f"/games/{game}/return", headers=key).get_json()
    assert back["seat"] == seat
    assert back["view"]["seats"][seat - 1]["hand"]
    again = away.post(f"/games/{game}/return", headers=key)
    assert again.get_json()["receipt"] == back["receipt"]
    assert code(away.post(f"/games/{game}/return")) == (409, "not_away")
    assert house.verified(game) is Outcome.VERIFIED
    play_on(house.services, house.people, game, chance)
    assert house.people[0].view(game)["status"] == "finished"
    assert house.verified(game) is Outcome.VERIFIED
    assert code(away.post(f"/games/{game}/resignation")) == (409, "game_not_active")


def player_in(view: Any, seat: int) -> str | None:
    player: str | None = view["seats"][seat - 1]["player"].get("id")
    return player


def test_a_game_that_everybody_left_goes_on_and_ends(house: House) -> None:
    game = house.opens(options={"rounds": 3})
    for _ in range(3_000):
        if house.people[0].view(game)["status"] == "finished":
            break
        house.let(TURN_SECONDS + 1)
        sweep(house.services, timedelta(0))
    events = house.events(game)
    assert events[-1]["type"] == "secret_revealed"
    assert len([e for e in events if e["type"] == "seat_replaced"]) == 3
    assert house.verified(game) is Outcome.VERIFIED


def test_who_resigns_leaves_the_seat_to_a_bot_for_good(house: House) -> None:
    game = house.opens(turn_seconds=None, options={"rounds": 1})
    quitter = house.player_to_act(game)
    seat = quitter.view(game)["viewer"]["seat"]
    key = fresh_key()
    answer = quitter.post(f"/games/{game}/resignation", headers=key).get_json()
    assert answer["seat"] == seat
    assert "hand" not in answer["view"]["seats"][seat - 1]
    again = quitter.post(f"/games/{game}/resignation", headers=key)
    assert again.headers["Idempotent-Replayed"] == "true"
    assert code(quitter.post(f"/games/{game}/resignation")) == (403, "not_seated")
    assert code(quitter.post(f"/games/{game}/return")) == (409, "not_away")
    assert code(quitter.move(game, {"type": "draw"})) == (403, "not_seated")
    others = [person for person in house.people if person is not quitter]
    play_on(house.services, others, game, random.Random(1))
    event = next(e for e in house.events(game) if e["type"] == "seat_replaced")
    assert event["actor"] == {"kind": "player", "id": quitter.id}
    assert event["data"]["reason"] == "resigned"
    assert house.verified(game) is Outcome.VERIFIED
    early = house.opens(turn_seconds=None, seats=4)
    assert code(quitter.post(f"/games/{early}/resignation")) == (409, "game_not_active")
    assert code(quitter.post("/games/" + "0" * 26 + "/return")) == (404, "game_not_found")


def test_time_in_which_the_service_was_down_counts_against_nobody(house: House) -> None:
    game = house.opens()
    version = house.people[0].view(game)["version"]
    house.let(10)
    house.watch.go(600)
    assert house.tick() == 1
    (event,) = house.events(game)[version:]
    assert (event["type"], event["actor"]) == ("clock_extended", {"kind": "clock"})
    assert event["data"]["reason"] == "outage"
    assert 600 <= event["data"]["seconds"] <= 606
    view = house.people[0].view(game)
    left = at(view["deadline_at"]) - house.watch.now
    assert timedelta(seconds=15) < left < timedelta(seconds=TURN_SECONDS)
    assert house.let(left.total_seconds() - 2) == 0
    assert house.let(4) == 1
    assert house.events(game)[-1]["type"] == "move"
    assert house.verified(game) is Outcome.VERIFIED


def test_of_many_workers_one_fires_a_deadline_and_one_notes_an_outage(house: House) -> None:
    games = [house.opens() for _ in range(4)]
    versions = {game: house.people[0].view(game)["version"] for game in games}
    house.watch.go(TURN_SECONDS + 1)

    def lived(services: Services) -> None:
        note_alive(services, house.watch.now)
        tick(services)

    with_memory = [replace(house.services, games=type(house.services.games)(100)) for _ in range(4)]
    for _ in range(3):
        threads = [Thread(target=lived, args=(services,)) for services in with_memory]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        house.watch.go(4)
    for game in games:
        kinds = [e["type"] for e in house.events(game)[versions[game] :]]
        assert kinds == ["clock_extended"]
    house.let(TURN_SECONDS)
    for game in games:
        moves = [e for e in house.events(game) if e["type"] == "move"]
        assert {e["data"]["seat"] for e in moves} <= {1, 2, 3}
        assert len({e["seq"] for e in moves}) == len(moves)


def test_a_game_that_nobody_joins_is_closed(house: House) -> None:
    waiting = opened(house.people[0])["game"]
    house.watch.go(OPEN_FOR.total_seconds() - 60)
    fresh = opened(house.people[0])["game"]
    assert close_games(house.services) == 0
    house.watch.go(120)
    assert close_games(house.services) == 1
    assert close_games(house.services) == 0
    assert house.people[0].view(waiting)["status"] == "voided"
    assert house.people[0].view(fresh)["status"] == "open"
    assert house.verified(waiting) is Outcome.VERIFIED


def test_one_games_faults_do_not_stop_the_clock_of_others(
    house: House, log_lines: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    games = [house.opens() for _ in range(2)]
    real = clocks.run_out

    def flaky(services: Services, game: str) -> bool:
        if game == games[0]:
            raise ValueError
        return real(services, game)

    monkeypatch.setattr(clocks, "run_out", flaky)
    assert house.let(TURN_SECONDS + 1) == 1
    assert games[0] in log_lines.getvalue()


def test_a_game_whose_seats_changed_hands_is_read_cold_like_any_other(house: House) -> None:
    """What happened in earlier rounds is read without them, at every version."""
    game = house.opens(options={"rounds": 4})
    chance = random.Random(8)
    quitter = house.player_to_act(game)
    quitter.post(f"/games/{game}/resignation")
    away = next(person for person in house.people if person is not quitter)
    back = False
    for _ in range(600):
        house.services.games.drop(game)
        view = house.people[0].view(game)
        if view["status"] == "finished":
            break
        turn = player_in(view, view["to_act"])
        here = next((p for p in house.people if p.id == turn and p is not away), None)
        if here is not None:
            here.move(game, chance.choice(here.view(game)["legal_moves"]))
        elif turn == away.id and not back:
            house.watch.go(GAP.total_seconds() + 2) if chance.random() < 0.2 else None
            house.let(TURN_SECONDS + 1)
        elif turn == away.id:
            away.move(game, chance.choice(away.view(game)["legal_moves"]))
        else:
            sweep(house.services, timedelta(0))
        absent = [e for e in house.events(game) if e["data"].get("reason") == "absent"]
        if absent and not back and chance.random() < 0.2:
            back = away.post(f"/games/{game}/return").status_code == 201
    kinds = {e["data"].get("reason") for e in house.events(game)}
    assert kinds >= {"resigned", "absent", "returned", "outage"}
    assert house.verified(game) is Outcome.VERIFIED
    frames = list(replay(read_events(house.services.database, game, 0), secret_of(house, game)))
    for frame in frames:
        stored = load(house.services.database, game, at=frame.event.seq)
        assert stored is not None
        assert resume(stored[1], stored[0]) == frame.after


def secret_of(house: House, game: str) -> Secret:
    stored = load(house.services.database, game)
    assert stored is not None
    return stored[0]


def test_a_worker_whose_clock_is_wrong_makes_no_outage_of_the_future(house: House) -> None:
    """The database's clock counts, which all share; a beat of the future is taken back."""
    with psycopg.connect(house.urls.superuser, autocommit=True) as superuser:
        superuser.execute("UPDATE heartbeats SET at = now() + interval '1 hour'")
        note_alive(house.services)
        row = superuser.execute("SELECT at < now() + interval '1 s' FROM heartbeats").fetchone()
        assert row == (True,)
        assert superuser.execute("SELECT count(*) FROM outages").fetchone() == (0,)
        superuser.execute("UPDATE heartbeats SET at = now() - interval '1 hour'")
        note_alive(house.services)
        found = superuser.execute("SELECT count(*) FROM outages WHERE ended_at <= now()").fetchone()
        assert found == (1,)


def test_a_busy_worker_says_that_it_lives(
    house: House, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loop, "BEAT_SECONDS", 0.02)
    beats: list[int] = []
    monkeypatch.setattr(loop, "note_alive", lambda _services: beats.append(1))
    monkeypatch.setattr(loop, "sweep", lambda _services: time.sleep(0.5) or 0)
    stop, worker = Stop(), Worker(house.services, Checkpointer(house.services, tmp_path), 10)
    running = Thread(target=worker.run, args=(stop,))
    running.start()
    time.sleep(0.4)
    assert len(beats) > 5
    stop.set()
    running.join(5)


def test_a_worker_outlives_what_it_does_not_expect(
    house: House, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, log_lines: Any
) -> None:
    def fails(_services: Services, *_: Any) -> int:
        raise RuntimeError

    monkeypatch.setattr(loop, "BEAT_SECONDS", 0.02)
    monkeypatch.setattr(loop, "note_alive", fails)
    monkeypatch.setattr(loop, "is_clock_right", lambda _services: True)
    monkeypatch.setattr(loop, "tick", fails)
    monkeypatch.setattr(loop, "TROUBLE_SECONDS", 0.02)
    stop, worker = Stop(), Worker(house.services, Checkpointer(house.services, tmp_path), 10)
    running = Thread(target=worker.run, args=(stop,))
    running.start()
    time.sleep(0.3)
    stop.set()
    running.join(5)
    assert not running.is_alive()
    assert "worker_failed" in log_lines.getvalue()
    assert "heartbeat_failed" in log_lines.getvalue()


def test_who_resigns_from_a_private_game_may_ask_again(house: House) -> None:
    host, guest, other = house.people
    game = opened(host, visibility="private")["game"]
    token = host.post(f"/games/{game}/invitations").get_json()["token"]
    for person in (guest, other):
        person.post(f"/games/{game}/seats", {"invitation": token})
    key = fresh_key()
    assert guest.post(f"/games/{game}/resignation", headers=key).status_code == 201
    again = guest.post(f"/games/{game}/resignation", headers=key)
    assert (again.status_code, again.headers["Idempotent-Replayed"]) == (201, "true")
    assert code(guest.post(f"/games/{game}/resignation")) == (404, "game_not_found")
    assert code(guest.post(f"/games/{game}/return")) == (404, "game_not_found")


def test_who_is_away_finds_the_game_and_may_see_it(house: House) -> None:
    host, guest, other = house.people
    game = house_private(house)
    for _ in range(200):
        if any(e["type"] == "seat_replaced" for e in house.events(game)):
            break
        house.let(TURN_SECONDS + 1)
    away = next(e for e in house.events(game) if e["type"] == "seat_replaced")["data"]["seat"]
    player = (host, guest, other)[away - 1]
    assert player.get(f"/games/{game}").status_code == 200
    listed = player.get("/games?player=me").get_json()["items"]
    assert game in [item["game"] for item in listed]
    assert player.post(f"/games/{game}/return").status_code == 201


def house_private(house: House) -> str:
    host, guest, other = house.people
    opening = {"visibility": "private", "turn_seconds": TURN_SECONDS, "options": {"rounds": 5}}
    game: str = opened(host, **opening)["game"]
    token = host.post(f"/games/{game}/invitations").get_json()["token"]
    for person in (guest, other):
        person.post(f"/games/{game}/seats", {"invitation": token})
    return game


class OneOff:
    """A machine whose clock is so many seconds ahead of the right one, or behind it."""

    def __init__(self, house: House, seconds: float) -> None:
        self.services = services_at(
            house.urls.service, now=lambda: house.watch.now + timedelta(seconds=seconds)
        )
        self.client = create_app(self.services).test_client()

    def moves(self, person: Person, game: str) -> None:
        view = self.client.get(f"/games/{game}", headers=person.headers).get_json()
        body = {"move": view["legal_moves"][0], "expected_version": view["version"]}
        path = f"/games/{game}/moves"
        assert self.client.post(path, json=body, headers=person.headers).status_code == 201


@pytest.mark.parametrize("seconds", [-3600, 3600])
def test_a_clock_that_jumps_takes_nobodys_turn(house: House, seconds: float) -> None:
    """A machine an hour behind or ahead writes into the same game: the log goes on, forward."""
    game = house.opens()
    wrong, right = OneOff(house, seconds), OneOff(house, 0)
    for number in range(12):
        (wrong if number % 2 else right).moves(house.player_to_act(game), game)
        assert house.let(5) == 0
    events = house.events(game)
    assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
    times = [event["at"] for event in events]
    assert times == sorted(times)
    assert house.verified(game) is Outcome.VERIFIED
    assert {event["actor"]["kind"] for event in events if event["type"] == "move"} == {"player"}
    for machine in (wrong, right):
        machine.services.database.engine.dispose()


def test_a_worker_whose_clock_is_wrong_plays_for_nobody(
    house: House, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, log_lines: Any
) -> None:
    ticks: list[int] = []
    monkeypatch.setattr(loop, "tick", lambda _services: ticks.append(1) or 0)
    worker = Worker(house.services, Checkpointer(house.services, tmp_path), 3600)
    house.watch.now = datetime.now(UTC) + timedelta(hours=1)
    worker.work()
    worker.work()
    assert (ticks, log_lines.getvalue().count("clock_differs")) == ([], 1)
    house.watch.now = datetime.now(UTC)
    worker.work()
    assert (ticks, log_lines.getvalue().count("clock_differs")) == ([1], 2)
