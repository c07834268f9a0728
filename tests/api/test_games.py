import random
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from chains import first_break
from conftest import Person, fresh_key
from flask.testing import FlaskClient
from play_through import play_on

from service.log.events import parse_event
from service.log.game import Secret
from service.log.replay import replay
from service.play.services import Services, new_ulid
from service.store.reads import read_events
from service.worker.bots import sweep

GO_BOOM = {"ruleset": "jokers-go-boom"}
SANDBOX = {"sandbox": {"secret": "5a" * 32}}


@pytest.fixture
def people(someone: Callable[..., Person]) -> list[Person]:
    return [someone(name) for name in ("Ilze", "Armen", "Jānis", "Anahit")]


def opened(person: Person, **body: Any) -> Any:
    answer = person.post("/games", {**GO_BOOM, "seats": 3, **body})
    assert answer.status_code == 201, answer.text
    return answer.get_json()["view"]


def started(people: Sequence[Person], **body: Any) -> str:
    """A game of those people, at its first turn."""
    game: str = opened(people[0], seats=len(people), **body)["game"]
    for person in people[1:]:
        assert person.post(f"/games/{game}/seats").status_code == 201
    return game


def mover(people: Sequence[Person], game: str) -> Person:
    view = people[0].view(game)
    player = view["seats"][view["to_act"] - 1]["player"]["id"]
    return next(person for person in people if person.id == player)


def code(answer: Any) -> tuple[int, str]:
    return answer.status_code, answer.get_json()["code"]


OPTIONS: list[dict[str, Any]] = [
    {},
    {"jokers": 0},
    {"jokers": 8},
    {"after_boom": "card_below"},
    {"boom_call": "required"},
    {"rounds": 1},
    {"jokers": 0, "after_boom": "card_below", "boom_call": "required", "rounds": 2},
]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_four_people_play_a_whole_game(
    people: list[Person], services: Services, options: dict[str, Any]
) -> None:
    game = started(people, options=options)
    view = play_on(services, people, game, random.Random(str(options)))
    assert view["status"] == "finished"
    assert view["round"] == view["rounds"] == options.get("rounds", 4)
    check_the_log(services, game, view)


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_one_player_and_three_bots_play_a_whole_game(
    ilze: Person, services: Services, options: dict[str, Any]
) -> None:
    bots = [{"seat": 2}, {"seat": 3, "level": "random"}, {"seat": 4, "level": "steady"}]
    view = opened(ilze, seats=4, bots=bots, options=options)
    assert view["status"] == "open"
    ilze.put(f"/games/{view['game']}/seats/1/contribution", {"contribution": "luck"})
    view = play_on(services, [ilze], view["game"], random.Random(str(options)))
    assert view["status"] == "finished"
    check_the_log(services, view["game"], view)


def check_the_log(services: Services, game: str, view: Any) -> None:
    """The log alone gives the same states, chain and scores as were played."""
    events = read_events(services.database, game, 0)
    assert first_break(events) is None
    revealed: Any = events[-1].data
    secret = Secret(bytes.fromhex(revealed["server_secret"]), services.dealer)
    *_, last = replay([parse_event(event.line) for event in events], secret)
    assert last.after.head == view["head"]
    assert last.after.version == view["version"]
    assert {str(s): score for s, score in enumerate(last.after.scores, 1)} == view["result"][
        "scores"
    ]
    remembered = services.games.get(game)
    assert remembered is None or remembered.round == last.after.round


def test_a_game_of_bots_alone_starts_and_ends_by_itself(ilze: Person, services: Services) -> None:
    bots = [{"seat": seat} for seat in (1, 2, 3)]
    view = opened(ilze, sit=False, bots=bots)
    assert view["status"] == "active"
    while view["status"] == "active":
        sweep(services, timedelta(0))
        view = ilze.view(view["game"])
    assert view["status"] == "finished"
    check_the_log(services, view["game"], view)


def test_a_request_plays_for_bots_to_the_end_of_a_round_at_most(ilze: Person) -> None:
    bots = [{"seat": seat} for seat in (1, 2, 3)]
    view = opened(ilze, sit=False, bots=bots)
    assert view["round"] in (1, 2)


def test_the_opener_sits_in_seat_one_and_the_commitment_is_there(ilze: Person) -> None:
    answer = ilze.post("/games", {**GO_BOOM, "seats": 4})
    assert answer.status_code == 201
    body = answer.get_json()
    assert answer.headers["Location"] == f"/games/{body['view']['game']}"
    assert body["seat"] == 1
    assert body["view"]["status"] == "open"
    assert len(body["view"]["fairness"]["commitment"]) == 64
    assert body["view"]["options"] == {
        "jokers": 2,
        "after_boom": "anything",
        "boom_call": "automatic",
        "rounds": 4,
    }


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({}, "/ruleset"),
        ({"ruleset": "snap"}, "/ruleset"),
        ({"seats": 2}, "/seats"),
        ({"seats": 5}, "/seats"),
        ({"seats": 99}, "/seats"),
        ({"seats": "3"}, "/seats"),
        ({"seats": 3.0}, "/seats"),
        ({"seats": True}, "/seats"),
        ({"options": {"jokers": 9}}, "/options/jokers"),
        ({"options": {"jokers": 2.5}}, "/options/jokers"),
        ({"options": {"rounds": 0}}, "/options/rounds"),
        ({"options": {"rounds": 21}}, "/options/rounds"),
        ({"options": {"boom_call": "loud"}}, "/options/boom_call"),
        ({"options": {"joker": 2}}, "/options/joker"),
        ({"options": []}, "/options"),
        ({"visibility": "secret"}, "/visibility"),
        ({"sit": 1}, "/sit"),
        ({"bots": [{"seat": 1}]}, "/bots/0/seat"),
        ({"bots": [{"seat": 2}, {"seat": 2}]}, "/bots/1/seat"),
        ({"bots": [{"seat": 4}]}, "/bots/0/seat"),
        ({"bots": [{"seat": 2, "level": "genius"}]}, "/bots/0/level"),
        ({"bots": [7]}, "/bots/0"),
        ({"sandbox": {"secret": "5A" * 32}}, "/sandbox/secret"),
        ({"sandbox": {"secret": "5a" * 32 + "\n"}}, "/sandbox/secret"),
        ({"contribution": "mine"}, "/contribution"),
        ({"turn_seconds": 4}, "/turn_seconds"),
    ],
    ids=str,
)
def test_an_opening_of_the_wrong_shape_is_refused_at_its_field(
    ilze: Person, body: dict[str, Any], pointer: str
) -> None:
    sent = {"seats": 3, **body} if pointer == "/ruleset" else {**GO_BOOM, "seats": 3, **body}
    answer = ilze.post("/games", sent)
    assert code(answer) == (422, "validation_failed")
    assert pointer in [error["pointer"] for error in answer.get_json()["errors"]]


def test_an_opening_is_made_once_for_a_key(ilze: Person) -> None:
    key, body = fresh_key(), {**GO_BOOM, "seats": 3}
    first = ilze.post("/games", body, headers=key)
    again = ilze.post("/games", body, headers=key)
    assert again.status_code == 201
    assert again.headers["Idempotent-Replayed"] == "true"
    assert "Idempotent-Replayed" not in first.headers
    assert again.get_json()["view"]["game"] == first.get_json()["view"]["game"]
    assert code(ilze.post("/games", {**body, "seats": 4}, headers=key)) == (
        422,
        "idempotency_key_reused",
    )
    assert len(ilze.get("/games?player=me").get_json()["items"]) == 1


def test_a_key_belongs_to_its_caller(ilze: Person, someone: Callable[..., Person]) -> None:
    key, body = fresh_key(), {**GO_BOOM, "seats": 3}
    mine = ilze.post("/games", body, headers=key).get_json()["view"]["game"]
    other = someone("Armen").post("/games", body, headers=key).get_json()["view"]["game"]
    assert mine != other


def test_seats_are_taken_in_order_and_the_last_one_starts_the_game(people: list[Person]) -> None:
    game = opened(people[0], seats=4)["game"]
    second = people[1].post(f"/games/{game}/seats", {"contribution": "~ any text "})
    assert (second.status_code, second.get_json()["seat"]) == (201, 2)
    fourth = people[2].post(f"/games/{game}/seats", {"seat": 4})
    assert fourth.get_json()["seat"] == 4
    assert fourth.get_json()["view"]["status"] == "open"
    last = people[3].post(f"/games/{game}/seats", {})
    assert last.get_json()["seat"] == 3
    view = last.get_json()["view"]
    assert (view["status"], view["round"], view["phase"]) == ("active", 1, "play")
    assert view["to_act"] == view["dealer"] % 4 + 1


def test_a_seat_is_refused_for_a_reason(people: list[Person]) -> None:
    game = opened(people[0])["game"]
    path = f"/games/{game}/seats"
    assert code(people[0].post(path)) == (409, "already_seated")
    assert code(people[1].post(path, {"seat": 1})) == (409, "seat_taken")
    assert code(people[1].post(path, {"seat": 4})) == (422, "validation_failed")
    assert code(people[1].post(path, {"seat": 0})) == (422, "validation_failed")
    assert code(people[1].post(path, {"contribution": "ņ"})) == (422, "validation_failed")
    assert code(people[1].post(path, {"contribution": "x" * 65})) == (422, "validation_failed")
    assert people[1].post(path).status_code == 201
    assert people[2].post(path).status_code == 201
    assert code(people[3].post(path)) == (409, "game_not_open")
    assert code(people[3].post(f"/games/{new_ulid()}/seats")) == (404, "game_not_found")
    assert code(people[3].client.post(path, json={})) == (401, "unauthenticated")


def test_a_seat_is_taken_once_for_a_key(people: list[Person]) -> None:
    game, key = opened(people[0])["game"], fresh_key()
    first = people[1].post(f"/games/{game}/seats", {}, headers=key)
    again = people[1].post(f"/games/{game}/seats", {}, headers=key)
    assert again.status_code == 201
    assert again.headers["Idempotent-Replayed"] == "true"
    assert again.get_json()["seat"] == first.get_json()["seat"] == 2
    assert code(people[1].post(f"/games/{game}/seats", {"seat": 3}, headers=key)) == (
        422,
        "idempotency_key_reused",
    )


def test_a_table_of_bots_waits_for_the_creators_contribution(ilze: Person) -> None:
    game = opened(ilze, bots=[{"seat": 2}, {"seat": 3}])["game"]
    path = f"/games/{game}/seats/1/contribution"
    given = ilze.put(path, {"contribution": ""})
    assert given.status_code == 200
    assert given.get_json()["view"]["status"] == "active"
    assert ilze.put(path, {"contribution": ""}).status_code == 200
    assert code(ilze.put(path, {"contribution": "other"})) == (409, "game_not_open")


def test_a_contribution_is_in_the_log_and_the_last_one_counts(people: list[Person]) -> None:
    game = opened(people[0])["game"]
    path = f"/games/{game}/seats/1/contribution"
    assert people[0].put(path, {"contribution": "one"}).get_json()["view"]["status"] == "open"
    assert people[0].put(path, {"contribution": "two"}).status_code == 200
    assert people[0].put(path, {"contribution": "two"}).status_code == 200
    events = people[0].get(f"/games/{game}/events").get_json()["items"]
    assert [e["data"]["contribution"] for e in events[1:]] == ["", "one", "two"]
    assert code(people[1].put(path, {"contribution": "x"})) == (403, "not_seated")
    assert code(people[0].put(path, {})) == (422, "validation_failed")
    assert code(people[0].put(f"/games/{game}/seats/zero/contribution", {"contribution": ""})) == (
        403,
        "not_seated",
    )


def test_a_player_leaves_an_open_game_and_may_come_back(people: list[Person]) -> None:
    game = opened(people[0])["game"]
    assert people[1].post(f"/games/{game}/seats").status_code == 201
    assert people[1].delete(f"/games/{game}/seats/2").status_code == 200
    assert people[1].delete(f"/games/{game}/seats/2").status_code == 200
    assert people[0].view(game)["seats"][1]["player"] is None
    assert people[2].post(f"/games/{game}/seats").get_json()["seat"] == 2


def test_the_creator_frees_a_seat_and_nobody_else_frees_anothers(people: list[Person]) -> None:
    game = opened(people[0], bots=[{"seat": 3}])["game"]
    assert people[1].post(f"/games/{game}/seats/2") is not None
    assert code(people[2].delete(f"/games/{game}/seats/3")) == (403, "not_seated")
    assert code(people[2].delete(f"/games/{game}/seats/9")) == (403, "not_seated")
    assert people[0].delete(f"/games/{game}/seats/3").status_code == 200
    assert people[0].view(game)["seats"][2]["player"] is None


def test_the_creators_leaving_voids_the_game(people: list[Person]) -> None:
    game = opened(people[0])["game"]
    assert people[0].delete(f"/games/{game}/seats/1").status_code == 200
    assert people[0].delete(f"/games/{game}/seats/1").status_code == 200
    view = people[0].view(game)
    assert (view["status"], view["result"]["reason"]) == ("voided", "voided")
    kinds = [e["type"] for e in people[1].get(f"/games/{game}/events").get_json()["items"]]
    assert kinds[-3:] == ["seat_left", "game_ended", "secret_revealed"]
    assert code(people[1].post(f"/games/{game}/seats")) == (409, "game_not_open")


def test_nobody_leaves_a_game_that_has_started(people: list[Person]) -> None:
    game = started(people)
    assert code(people[1].delete(f"/games/{game}/seats/2")) == (409, "game_not_open")


def test_a_sandbox_game_deals_alike_and_is_listed_apart(people: list[Person]) -> None:
    first, second = (started(people[:3], **SANDBOX) for _ in range(2))
    views = [people[0].view(game) for game in (first, second)]
    assert views[0]["seats"][0]["hand"] == views[1]["seats"][0]["hand"]
    assert all(
        view["sandbox"] and view["fairness"]["sandbox_secret"] == "5a" * 32 for view in views
    )
    assert people[0].get("/games?player=me").get_json()["items"] == []
    listed = people[0].get("/games?player=me&sandbox=true").get_json()["items"]
    assert [item["game"] for item in listed] == [second, first]


def test_one_player_holds_several_seats_of_a_sandbox(ilze: Person, services: Services) -> None:
    game = opened(ilze, **SANDBOX)["game"]
    for _ in range(2):
        assert ilze.post(f"/games/{game}/seats").status_code == 201
    view = ilze.view(game)
    assert all("hand" in seat for seat in view["seats"])
    other = view["to_act"] % 3 + 1
    refused = ilze.move(game, view["legal_moves"][0], seat=other)
    assert code(refused) == (409, "not_your_turn")
    assert code(ilze.move(game, view["legal_moves"][0], seat=9)) == (403, "not_seated")
    assert ilze.move(game, view["legal_moves"][0], seat=view["to_act"]).status_code == 201
    assert play_on(services, [ilze], game, random.Random(1))["status"] == "finished"


def test_a_private_game_is_not_found_by_strangers(
    people: list[Person], client: FlaskClient
) -> None:
    game = opened(people[0], visibility="private", bots=[{"seat": 2}, {"seat": 3}])["game"]
    for path in ("", "/events", "/replay"):
        assert people[0].get(f"/games/{game}{path}").status_code == 200
        assert code(people[1].get(f"/games/{game}{path}")) == (404, "game_not_found")
        assert code(client.get(f"/games/{game}{path}")) == (404, "game_not_found")
    assert code(people[1].post(f"/games/{game}/seats")) == (404, "game_not_found")
    assert code(people[1].move(game, {"type": "draw"})) == (404, "game_not_found")
    assert code(people[1].delete(f"/games/{game}/seats/1")) == (404, "game_not_found")
    assert code(people[1].put(f"/games/{game}/seats/1/contribution", {})) == (404, "game_not_found")
    mine = people[0].get("/games?limit=200").get_json()["items"]
    theirs = people[1].get("/games?limit=200").get_json()["items"]
    assert game in [item["game"] for item in mine]
    assert game not in [item["game"] for item in theirs]


def test_games_are_listed_by_what_is_asked_for(people: list[Person]) -> None:
    game = started(people[:3])
    turn = mover(people, game)
    waiting = turn.get("/games?turn=me&status=active&ruleset=jokers-go-boom").get_json()["items"]
    assert [item["game"] for item in waiting] == [game]
    assert waiting[0]["to_act"] == turn.id
    assert [player["name"] for player in waiting[0]["players"]] == ["Ilze", "Armen", "Jānis"]
    other = next(person for person in people[:3] if person is not turn)
    assert other.get("/games?turn=me").get_json()["items"] == []
    assert other.get("/games?player=me&status=open").get_json()["items"] == []
    assert other.get("/games?player=me&ruleset=snap").get_json()["items"] == []


def test_lists_are_paged(ilze: Person) -> None:
    games = [opened(ilze)["game"] for _ in range(5)]
    listed, cursor = [], ""
    while True:
        answer = ilze.get(f"/games?player=me&limit=2{cursor}").get_json()
        listed += [item["game"] for item in answer["items"]]
        if answer["next_cursor"] is None:
            break
        cursor = f"&cursor={answer['next_cursor']}"
    assert listed == games[::-1]


@pytest.mark.parametrize(
    "query",
    [
        "limit=0",
        "limit=x",
        "limit=-1",
        "cursor=!",
        "cursor=%C4%81",
        "status=lost",
        "player=you",
        "turn=1",
        "sandbox=maybe",
        "colour=red",
        "ruleset=%00",
        "ruleset=Snap!",
        "limit=1&limit=2",
        "cursor=ZGEgZGE",
    ],
)
def test_a_query_that_can_not_be_read_is_refused(ilze: Person, query: str) -> None:
    answer = ilze.get(f"/games?{query}")
    assert code(answer) == (400, "invalid_query")
    assert answer.get_json()["parameter"] == query.split("=", maxsplit=1)[0]


def test_a_list_of_ones_own_needs_a_key(client: FlaskClient) -> None:
    assert code(client.get("/games?player=me")) == (401, "unauthenticated")
    assert client.get("/games").status_code == 200
    assert client.get("/games?limit=100000").status_code == 200


def test_a_view_has_a_tag_that_changes_with_the_game(people: list[Person]) -> None:
    game = started(people[:3])
    answer = people[0].get(f"/games/{game}")
    tag = answer.headers["ETag"]
    assert answer.headers["Cache-Control"] == "private, no-cache"
    same = people[0].get(f"/games/{game}", headers={"If-None-Match": tag})
    assert (same.status_code, same.data) == (304, b"")
    other = people[1].get(f"/games/{game}", headers={"If-None-Match": tag})
    assert other.status_code == 200
    past = people[0].get(f"/games/{game}?at=1", headers={"If-None-Match": tag})
    assert past.status_code == 200
    turn = mover(people, game)
    assert turn.move(game, turn.view(game)["legal_moves"][0]).status_code == 201
    moved = people[0].get(f"/games/{game}", headers={"If-None-Match": tag})
    assert moved.status_code == 200


def test_a_view_of_the_past_shows_what_could_be_seen_then(people: list[Person]) -> None:
    game = started(people[:3])
    seen = {}
    for _ in range(12):
        view = people[1].view(game)
        seen[view["version"]] = view
        turn = mover(people, game)
        assert (
            turn.move(game, random.Random(1).choice(turn.view(game)["legal_moves"])).status_code
            == 201
        )
    for version, then in seen.items():
        past = people[1].get(f"/games/{game}?at={version}").get_json()
        for view in (past, then):
            view.pop("server_time")
        newest = past.pop("version")
        assert newest >= then.pop("version")
        assert past == then
    assert code(people[0].get(f"/games/{game}?at=9999")) == (404, "version_not_found")
    assert code(people[0].get(f"/games/{game}?at=0")) == (400, "invalid_query")


def test_hidden_hands_are_shown_once_the_game_has_ended(
    people: list[Person], services: Services
) -> None:
    game = started(people[:3], options={"rounds": 1})
    stranger = people[3]
    assert people[0].get(f"/games/{game}?seat=1").status_code == 200
    for path in ("?seat=2", "?seat=all", "/replay?seat=2", "/replay?seat=all"):
        assert code(people[0].get(f"/games/{game}{path}")) == (403, "hidden_information")
        assert code(stranger.get(f"/games/{game}{path}")) == (403, "hidden_information")
    assert code(people[0].get(f"/games/{game}?seat=7")) == (400, "invalid_query")
    assert code(people[0].get(f"/games/{game}?seat=x")) == (400, "invalid_query")
    play_on(services, people[:3], game, random.Random(2))
    frames = stranger.get(f"/games/{game}/replay?seat=all&from=1").get_json()["items"]
    dealt = next(frame for frame in frames if frame["event"]["type"] == "round_started")
    assert set(dealt["event"]["private"]) == {"1", "2", "3"}
    assert all(len(seat["hand"]) == 7 for seat in dealt["view"]["seats"])
    one = stranger.get(
        f"/games/{game}/replay?seat=2&from={dealt['seq']}&to={dealt['seq']}"
    ).get_json()
    assert [("hand" in seat) for seat in one["items"][0]["view"]["seats"]] == [False, True, False]
    past = stranger.get(f"/games/{game}?at={dealt['seq']}").get_json()
    assert not any("hand" in seat for seat in past["seats"])


def test_events_are_read_page_by_page_without_a_gap(
    people: list[Person], services: Services
) -> None:
    game = started(people[:3], options={"rounds": 1})
    play_on(services, people[:3], game, random.Random(3))
    for reader in (people[0], people[3]):
        events, after = [], 0
        while True:
            page = reader.get(f"/games/{game}/events?after={after}&limit=7").get_json()
            events += page["items"]
            assert page["more"] == (page["next_after"] < page["version"])
            after = page["next_after"]
            if not page["more"]:
                break
        assert [event["seq"] for event in events] == list(range(1, after + 1))
    assert code(people[0].get(f"/games/{game}/events?after=9999")) == (404, "version_not_found")
    end = people[0].get(f"/games/{game}/events?after={after}").get_json()
    assert (end["items"], end["next_after"], end["more"]) == ([], after, False)


def test_an_event_has_the_same_bytes_wherever_it_is_read(people: list[Person]) -> None:
    game = started(people[:3])
    turn = mover(people, game)
    body = {"move": turn.view(game)["legal_moves"][0]}
    key = fresh_key()
    first = turn.post(f"/games/{game}/moves", body, headers=key)
    again = turn.post(f"/games/{game}/moves", body, headers=key)
    page = turn.get(f"/games/{game}/events?after={first.get_json()['version'] - 1}&limit=1")
    frames = turn.get(f"/games/{game}/replay?from={first.get_json()['version']}")
    event = first.text.split('"events":[')[1].split('],"receipt"')[0]
    for answer in (again, page, frames):
        assert event in answer.text


def test_a_replay_is_watched_in_parts(people: list[Person], services: Services) -> None:
    game = started(people, options={"rounds": 6})
    view = play_on(services, people, game, random.Random(4))
    frames, start = [], 1
    while start is not None:
        part = people[0].get(f"/games/{game}/replay?from={start}&seat=all").get_json()
        frames += part["items"]
        start = part["next_from"]
    assert [frame["seq"] for frame in frames] == list(range(1, view["version"] + 1))
    assert frames[-1]["view"]["result"] == view["result"]
    assert code(people[0].get(f"/games/{game}/replay?from=9999")) == (404, "version_not_found")
    assert people[0].get(f"/games/{game}/replay?from=5&to=4").get_json()["items"] == []


def test_an_id_that_can_be_none_is_not_found(ilze: Person) -> None:
    for text in ("x", "01J00000000000000000000000", "z" * 26, "%00" * 26, uuid4().hex, new_ulid()):
        for path in ("", "/events", "/replay"):
            assert code(ilze.get(f"/games/{text}{path}")) == (404, "game_not_found")
