"""Time runs out: the clock plays, a bot takes over, the player comes back; downtime is no fault."""

import json
import random
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from threading import Thread
from typing import Any

import pytest
from api.test_games import code, opened
from conftest import Person, fresh_key, register, services_at
from flask.testing import FlaskClient
from play_through import play_on
from signing import KEYRING

from service.app import create_app
from service.play.clocks import OPEN_FOR
from service.play.proving import export
from service.play.services import Services
from service.proof.outside import Evidence
from service.proof.verdicts import Outcome
from service.proof.verify import verify
from service.store.embedded import Urls
from service.store.reads import read_events
from service.store.schema import migrate
from service.worker import clocks
from service.worker.bots import sweep
from service.worker.clocks import GAP, close_games, tick

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
        self.watch = Watch()
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
            done += tick(self.services)
        return done

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
        return verify(text, evidence).outcome


@pytest.fixture
def house(another_database: Callable[[], Urls], description: Any) -> Iterator[House]:
    urls = another_database()
    migrate(urls.owner)
    made = House(urls, description)
    tick(made.services)
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
    assert tick(house.services) == 1
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
    with_memory = [replace(house.services, games=type(house.services.games)(100)) for _ in range(4)]
    for _ in range(3):
        threads = [Thread(target=tick, args=(services,)) for services in with_memory]
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
