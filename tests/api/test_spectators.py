"""Who may look on while a game runs: all, nobody, or some events late."""

import json
import random
from collections.abc import Callable
from typing import Any

import pytest
from api.test_games import code, mover, opened, started
from conftest import Person
from flask.testing import FlaskClient
from play_through import play_on

from service.play.services import Services
from service.play.streaming import Follower, Following, MustRead

NDJSON = {"Accept": "application/x-ndjson"}
PATHS = ("", "/events", "/replay", "/export", "/fairness", "/presence")


@pytest.fixture
def people(someone: Callable[..., Person]) -> list[Person]:
    return [someone(name) for name in ("Ilze", "Jānis", "Anna")]


def moved(people: list[Person], game: str, times: int) -> None:
    for _ in range(times):
        turn = mover(people, game)
        assert turn.move(game, turn.view(game)["legal_moves"][0]).status_code == 201


def test_a_game_without_spectators_is_seen_by_its_players_alone(
    people: list[Person], someone: Callable[..., Person], services: Services, client: FlaskClient
) -> None:
    stranger = someone("Zane")
    game = opened(people[0], spectators="none", options={"rounds": 1})["game"]
    assert client.get(f"/games/{game}").get_json()["spectators"] == "none"
    for person in people[1:]:
        person.post(f"/games/{game}/seats")
    for path in PATHS:
        for ask in (stranger.get, client.get):
            assert code(ask(f"/games/{game}{path}")) == (403, "no_spectators"), path
        assert people[1].get(f"/games/{game}{path}").status_code == 200
    listed = client.get("/games?limit=200").get_json()["items"]
    row = next(one for one in listed if one["game"] == game)
    assert (row["spectators"], row["to_act"], row["status"]) == ("none", None, "active")
    assert (row["version"], row["moved_at"]) == (None, None)
    head = people[0].view(game)["head"]
    for path in (f"/exports/{head}", f"/replays/{head}"):
        assert code(client.get(f"/games/{game}{path}")) == (403, "no_spectators")
    play_on(services, people, game, random.Random(1))
    for path in PATHS:
        assert client.get(f"/games/{game}{path}").status_code == 200


def test_spectators_who_are_delayed_see_what_is_some_events_old(
    people: list[Person], client: FlaskClient
) -> None:
    game = started(people, spectators="delayed", spectator_delay=4)
    before = client.get(f"/games/{game}").get_json()
    own = people[0].view(game)
    assert before["status"] == "open"
    assert before["version"] == own["version"] - 2
    assert (before["spectators"], before["spectator_delay"]) == ("delayed", 4)
    moved(people, game, 6)
    own, late = people[0].view(game), client.get(f"/games/{game}").get_json()
    assert late["version"] == late["at"] == own["version"] - 4
    seen = people[0].get(f"/games/{game}?at={late['version']}").get_json()
    assert late["table"] == seen["table"]
    assert late["head"] == seen["head"]
    events = client.get(f"/games/{game}/events?limit=200").get_json()
    assert [event["seq"] for event in events["items"]] == list(range(1, late["version"] + 1))
    assert events["version"] == late["version"]
    exported = client.get(f"/games/{game}/export").text.splitlines()
    assert json.loads(exported[-1])["events"] == late["version"]
    for query in (f"?at={own['version']}", f"?at={late['version'] + 1}"):
        assert code(client.get(f"/games/{game}{query}")) == (404, "version_not_found")
    for path in (f"/exports/{own['head']}", f"/replays/{own['head']}"):
        assert code(client.get(f"/games/{game}{path}")) == (404, "head_not_found")
    after = client.get(f"/games/{game}/events?after={own['version']}")
    assert code(after) == (404, "version_not_found")


def test_streams_of_delayed_spectators_are_delayed(
    people: list[Person], services: Services
) -> None:
    game = started(people, spectators="delayed", spectator_delay=3, options={"rounds": 1})

    def newest(following: Following) -> int:
        while True:
            try:
                batch = following.ready()
            except MustRead:
                following.read()
                continue
            if batch is None or following.is_over:
                return following.after

    stranger, player = (
        Following(services, follower, game, 0)
        for follower in (Follower(), Follower(player=people[0].id))
    )
    for _ in range(4):
        moved(people, game, 1)
        version = people[0].view(game)["version"]
        assert newest(player) == version
        assert newest(stranger) == max(version - 3, 4)
    play_on(services, people, game, random.Random(2))
    version = people[0].view(game)["version"]
    assert newest(stranger) == newest(player) == version
    stranger.close()
    player.close()


def test_a_stream_of_a_game_that_closes_its_doors_ends(
    people: list[Person], services: Services
) -> None:
    game = opened(people[0], spectators="none")["game"]
    stranger = Following(services, Follower(), game, 2)
    with pytest.raises(MustRead):
        stranger.ready()
    stranger.read()
    assert stranger.ready() is None
    for person in people[1:]:
        person.post(f"/games/{game}/seats")
    stranger.read()
    assert stranger.ready() is None
    assert stranger.is_over
    stranger.close()


def test_a_long_poll_of_a_delayed_spectator_waits_its_time(
    people: list[Person], client: FlaskClient
) -> None:
    game = started(people, spectators="delayed", spectator_delay=50)
    late = client.get(f"/games/{game}").get_json()["version"]
    page = client.get(f"/games/{game}/events?after={late}&wait=1").get_json()
    assert page == {"items": [], "next_after": late, "version": late, "more": False}


@pytest.mark.parametrize(
    "body",
    [
        {"spectators": "friends"},
        {"spectators": "delayed"},
        {"spectators": "delayed", "spectator_delay": 0},
        {"spectators": "delayed", "spectator_delay": 201},
        {"spectators": "none", "spectator_delay": 5},
        {"spectator_delay": 5},
    ],
)
def test_a_policy_that_is_none_is_refused(ilze: Person, body: Any) -> None:
    asked = {"ruleset": "jokers-go-boom", "seats": 3, **body}
    answer = ilze.post("/games", asked)
    assert code(answer) == (422, "validation_failed")
    assert answer.get_json()["errors"][0]["pointer"].startswith("/spectator")


def test_no_answer_to_a_write_shows_more_than_looking_on_does(
    people: list[Person], someone: Callable[..., Person]
) -> None:
    """Who opened a game, or gave up a seat of it, learns nothing by asking the same again."""
    host, key = someone("Zane"), {"Idempotency-Key": "again"}
    asked = {"ruleset": "jokers-go-boom", "seats": 3, "sit": False, "spectators": "none"}
    game = host.post("/games", asked, headers=key).get_json()["view"]["game"]
    for person in people:
        person.post(f"/games/{game}/seats")
    moved(people, game, 3)
    opened_again = host.post("/games", asked, headers=key)
    assert opened_again.status_code == 201
    assert opened_again.get_json()["view"]["version"] == 1
    turn = mover(people, game)
    sent = {"move": turn.view(game)["legal_moves"][0]}
    path, own = f"/games/{game}/moves", {"Idempotency-Key": "own"}
    version = turn.post(path, sent, headers=own).get_json()["version"]
    gone = turn.post(f"/games/{game}/resignation", headers=key).get_json()["view"]
    for _ in range(2):
        rest = [person for person in people if person is not turn]
        for person in rest:
            if person.view(game)["legal_moves"]:
                person.move(game, person.view(game)["legal_moves"][0])
    again = turn.post(f"/games/{game}/resignation", headers=key).get_json()["view"]
    assert again["version"] == gone["version"]
    replayed = turn.post(path, sent, headers=own).get_json()
    assert replayed["version"] == replayed["view"]["version"] == version
    assert all("hand" not in seat for seat in replayed["view"]["seats"])
    assert code(turn.get(f"/games/{game}")) == (403, "no_spectators")


def test_who_gave_up_a_rematch_is_not_shown_it(people: list[Person], services: Services) -> None:
    game = started(people, spectators="none", options={"rounds": 1})
    play_on(services, people, game, random.Random(4))
    rematch = people[0].post(f"/games/{game}/rematch").get_json()["view"]["game"]
    for person in people:
        person.post(f"/games/{rematch}/seats")
    people[0].post(f"/games/{rematch}/resignation")
    assert code(people[0].post(f"/games/{game}/rematch")) == (403, "no_spectators")
    assert people[1].post(f"/games/{game}/rematch").status_code == 201
