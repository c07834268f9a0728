"""Moves: the order of checks, retries, races, batches."""

import json
import random
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from api.test_games import GO_BOOM, code, mover, opened, started
from conftest import Person, fresh_key, services_at
from flask import Flask
from play_through import play_on

from service.app import create_app
from service.play.services import Services, new_ulid
from service.store.embedded import Urls
from service.store.reads import read_events

DRAW = {"type": "draw"}


@pytest.fixture
def people(someone: Callable[..., Person]) -> list[Person]:
    return [someone(name) for name in ("Ilze", "Armen", "Jānis")]


@pytest.fixture
def game(people: list[Person]) -> str:
    return started(people)


def legal(person: Person, game: str) -> Any:
    return person.view(game)["legal_moves"][0]


def test_a_move_answers_with_its_events_and_the_view_after_the_bots(ilze: Person) -> None:
    game = opened(ilze, bots=[{"seat": 2}, {"seat": 3}])["game"]
    view = ilze.put(f"/games/{game}/seats/1/contribution", {"contribution": ""}).get_json()["view"]
    answer = ilze.move(game, view["legal_moves"][0]).get_json()
    assert answer["version"] == view["version"] + 1
    assert [event["seq"] for event in answer["events"]] == [answer["version"]]
    assert answer["view"]["version"] >= answer["version"] + 2
    assert answer["view"]["to_act"] == 1


def test_a_retry_gets_the_original_answer(people: list[Person], game: str) -> None:
    turn = mover(people, game)
    body, key = {"move": legal(turn, game)}, fresh_key()
    first = turn.post(f"/games/{game}/moves", body, headers=key)
    for _ in range(3):
        other = mover(people, game)
        assert other.move(game, legal(other, game)).status_code == 201
    again = turn.post(f"/games/{game}/moves", body, headers=key)
    assert again.status_code == first.status_code == 201
    assert again.headers["Idempotent-Replayed"] == "true"
    assert "Idempotent-Replayed" not in first.headers
    for field in ("version", "events"):
        assert again.get_json()[field] == first.get_json()[field]
    assert again.get_json()["view"]["version"] == first.get_json()["version"] + 3


def test_a_key_may_be_quoted_or_bare(people: list[Person], game: str) -> None:
    turn = mover(people, game)
    path, body = f"/games/{game}/moves", {"move": legal(turn, game)}
    key = fresh_key()["Idempotency-Key"]
    first = turn.post(path, body, headers={"Idempotency-Key": f'"{key}"'})
    again = turn.post(path, body, headers={"Idempotency-Key": key})
    assert first.status_code == 201
    assert again.headers["Idempotent-Replayed"] == "true"


@pytest.mark.parametrize("key", ["", '""', "a b", "x" * 256, "\u00e9", '"', "a\tb"])
def test_what_is_no_key_is_refused(people: list[Person], game: str, key: str) -> None:
    answer = people[0].post(
        f"/games/{game}/moves", {"move": DRAW}, headers={"Idempotency-Key": key}
    )
    if key == '"':
        assert answer.status_code in (201, 400, 409, 422)
    else:
        assert code(answer) == (400, "invalid_idempotency_key")


def test_a_key_is_bound_by_success_alone(people: list[Person], game: str) -> None:
    turn = mover(people, game)
    key = fresh_key()
    refused = turn.post(f"/games/{game}/moves", {"move": {"type": "pass"}}, headers=key)
    assert code(refused) == (422, "illegal_move")
    accepted = turn.post(f"/games/{game}/moves", {"move": legal(turn, game)}, headers=key)
    assert accepted.status_code == 201
    other_body = turn.post(f"/games/{game}/moves", {"move": {"type": "pass"}}, headers=key)
    assert code(other_body) == (422, "idempotency_key_reused")


def test_a_move_without_key_or_version_is_refused(people: list[Person], game: str) -> None:
    turn = mover(people, game)
    answer = turn.post(f"/games/{game}/moves", {"move": legal(turn, game)})
    assert code(answer) == (428, "precondition_required")


def test_an_expected_version_stands_in_for_a_key(people: list[Person], game: str) -> None:
    turn = mover(people, game)
    version = turn.view(game)["version"]
    body = {"move": legal(turn, game), "expected_version": version}
    assert turn.post(f"/games/{game}/moves", body).status_code == 201
    again = turn.post(f"/games/{game}/moves", body)
    assert code(again) == (409, "version_conflict")
    assert again.get_json()["current_version"] == version + 1
    (missed,) = again.get_json()["missed_events"]
    assert missed["seq"] == version + 1
    assert missed["data"]["move"] == body["move"]


def test_a_version_conflict_tells_the_caller_what_it_missed_and_no_more(
    people: list[Person], game: str
) -> None:
    for _ in range(6):
        turn = mover(people, game)
        moves = turn.view(game)["legal_moves"]
        assert turn.move(game, moves[-1]).status_code == 201
    start = people[0].view(game)["version"] - 6
    for person in people:
        answer = person.post(
            f"/games/{game}/moves", {"move": DRAW, "expected_version": start}
        ).get_json()
        read = person.get(f"/games/{game}/events?after={start}").get_json()["items"]
        assert answer["missed_events"] == read
    ahead = people[0].post(f"/games/{game}/moves", {"move": DRAW, "expected_version": 9999})
    assert ahead.get_json()["missed_events"] == []


def test_an_illegal_move_is_answered_with_its_rule(people: list[Person], game: str) -> None:
    turn = mover(people, game)
    answer = turn.move(game, {"type": "pass"})
    assert code(answer) == (422, "illegal_move")
    body = answer.get_json()
    assert (body["rule"], body["move_index"]) == ("G11", 0)
    assert body["rule_url"] == "/rulesets/jokers-go-boom/1#G11"
    assert body["legal_moves"] == turn.view(game)["legal_moves"]
    assert body["current_version"] == turn.view(game)["version"]
    rules = turn.get(body["rule_url"].split("#")[0]).get_json()["rules"]
    assert "G11" in [rule["rule"] for rule in rules]


def test_a_card_that_is_not_held_is_refused_alike_wherever_it_is(
    people: list[Person], game: str
) -> None:
    turn = mover(people, game)
    held = next(seat["hand"] for seat in turn.view(game)["seats"] if "hand" in seat)
    texts = set()
    for card in ("2c", "5d", "9h", "Ks", "X1", "X2", "X8"):
        if card not in held:
            answer = turn.move(game, {"type": "play", "card": card}).get_json()
            assert answer["rule"] == "G7"
            texts.add(answer["detail"].replace(card, "…"))
    assert len(texts) == 1


def test_moves_of_a_batch_that_end_their_turn_come_last(people: list[Person], game: str) -> None:
    turn = mover(people, game)
    version = turn.view(game)["version"]
    moves = [legal(turn, game), DRAW]
    answer = turn.post(f"/games/{game}/moves", {"moves": moves}, headers=fresh_key())
    assert code(answer) == (422, "reveal_not_last")
    assert answer.get_json()["move_index"] == 0
    assert "legal_moves" not in answer.get_json()
    assert turn.view(game)["version"] == version
    alone = turn.post(f"/games/{game}/moves", {"moves": moves[:1]}, headers=fresh_key())
    assert alone.status_code == 201


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({}, ""),
        ({"move": DRAW, "moves": [DRAW]}, ""),
        ({"moves": []}, "/moves"),
        ({"moves": [DRAW] * 33}, "/moves"),
        ({"moves": DRAW}, "/moves"),
        ({"move": [DRAW]}, "/move"),
        ({"move": {}}, "/move/type"),
        ({"move": {"type": "leap"}}, "/move/type"),
        ({"move": {"type": ["draw"]}}, "/move/type"),
        ({"move": {"type": "play"}}, "/move/card"),
        ({"move": {"type": "play", "card": "4H"}}, "/move/card"),
        ({"move": {"type": "play", "card": 4}}, "/move/card"),
        ({"move": {"type": "play", "card": "4h", "call": "boom"}}, "/move/call"),
        ({"move": {"type": "draw", "from": "stock"}}, "/move/from"),
        ({"moves": [DRAW, {"type": "play", "card": "?"}]}, "/moves/1/card"),
        ({"move": DRAW, "expected_version": "7"}, "/expected_version"),
        ({"move": DRAW, "expected_version": -1}, "/expected_version"),
        ({"move": DRAW, "expected_version": 2**53}, "/expected_version"),
        ({"move": DRAW, "seat": 0}, "/seat"),
        ({"move": DRAW, "mover": 1}, "/mover"),
    ],
    ids=str,
)
def test_a_body_of_the_wrong_shape_is_refused_at_its_field(
    people: list[Person], game: str, body: Any, pointer: str
) -> None:
    answer = people[0].post(f"/games/{game}/moves", body, headers=fresh_key())
    assert code(answer) == (422, "validation_failed")
    assert pointer in [error["pointer"] for error in answer.get_json()["errors"]]


BAD_BODIES: list[tuple[bytes, str, tuple[int, str]]] = [
    (b"", "application/json", (400, "malformed_json")),
    (b"{", "application/json", (400, "malformed_json")),
    (b'{"move": NaN}', "application/json", (400, "malformed_json")),
    (b'{"move": 1, "move": 2}', "application/json", (400, "malformed_json")),
    (b'{"a": {"b": 1, "b": 1}}', "application/json", (400, "malformed_json")),
    (b'{"move": "\xff"}', "application/json", (400, "malformed_json")),
    (b'{"move": "\\ud800"}', "application/json", (400, "malformed_json")),
    (b"\xef\xbb\xbf{}", "application/json", (400, "malformed_json")),
    (b"[" * 30_000, "application/json", (400, "malformed_json")),
    (b'{"expected_version": ' + b"9" * 5_000 + b"}", "application/json", (400, "malformed_json")),
    (b'{"expected_version": ' + b"9" * 30 + b"}", "application/json", (400, "malformed_json")),
    (b'{"a": ' + b"[" * 400 + b"]" * 400 + b"}", "application/json", (400, "malformed_json")),
    (b"[]", "application/json", (422, "validation_failed")),
    (b"null", "application/json", (422, "validation_failed")),
    (b'"move"', "application/json", (422, "validation_failed")),
    (b'{"move": 1.5}', "application/json", (422, "validation_failed")),
    (b'{"\\u0000": 1}', "application/json", (422, "validation_failed")),
    (
        b'{"move": {"type": "play", "card": "\\u0000"}}',
        "application/json",
        (422, "validation_failed"),
    ),
    (b"move=draw", "application/x-www-form-urlencoded", (415, "unsupported_media_type")),
    (b"{}", "text/plain", (415, "unsupported_media_type")),
    (b'{"move": "' + b"x" * 65_536 + b'"}', "application/json", (413, "body_too_large")),
]


@pytest.mark.parametrize(("data", "kind", "expected"), BAD_BODIES, ids=lambda v: str(v)[:40])
def test_a_body_that_is_no_clear_json_object_is_refused(
    people: list[Person], game: str, data: bytes, kind: str, expected: tuple[int, str]
) -> None:
    turn = mover(people, game)
    version = turn.view(game)["version"]
    headers = {**turn.headers, **fresh_key(), "Content-Type": kind}
    answer = turn.client.post(f"/games/{game}/moves", data=data, headers=headers)
    assert code(answer) == expected
    assert turn.view(game)["version"] == version


def test_json_with_a_charset_is_json(people: list[Person], game: str) -> None:
    turn = mover(people, game)
    headers = {**turn.headers, **fresh_key(), "Content-Type": "application/json; charset=utf-8"}
    body = json.dumps({"move": legal(turn, game)})
    assert turn.client.post(f"/games/{game}/moves", data=body, headers=headers).status_code == 201


def test_the_checks_come_in_the_contracts_order(
    people: list[Person], game: str, someone: Callable[..., Person]
) -> None:
    """Each request has every fault from its own on: the first one is what is answered."""
    turn = mover(people, game)
    waiting = next(person for person in people if person is not turn)
    stranger = someone("Anahit")
    path = f"/games/{game}/moves"
    nowhere = f"/games/{new_ulid()}/moves"
    client, stale = turn.client, {"expected_version": 1}

    assert code(client.post(nowhere, data=b"{")) == (401, "unauthenticated")
    assert code(client.post(nowhere, data=b"{", headers=turn.headers)) == (404, "game_not_found")
    huge = {**turn.headers, "Content-Type": "text/plain"}
    assert code(client.post(path, data=b"x" * 70_000, headers=huge)) == (413, "body_too_large")
    assert code(client.post(path, data=b"{", headers=huge)) == (415, "unsupported_media_type")
    plain = {**stranger.headers, "Content-Type": "application/json"}
    assert code(client.post(path, data=b"{", headers=plain)) == (400, "malformed_json")
    assert code(stranger.post(path, {"mvoe": 1})) == (403, "not_seated")
    assert code(waiting.post(path, {"mvoe": 1, **stale})) == (422, "validation_failed")
    assert code(waiting.post(path, {"move": DRAW})) == (428, "precondition_required")
    assert code(waiting.post(path, {"moves": [DRAW, DRAW], **stale})) == (409, "version_conflict")
    assert code(waiting.post(path, {"moves": [DRAW, DRAW]}, headers=fresh_key())) == (
        409,
        "not_your_turn",
    )
    assert code(turn.post(path, {"moves": [{"type": "pass"}, DRAW]}, headers=fresh_key())) == (
        422,
        "reveal_not_last",
    )
    assert code(turn.move(game, {"type": "pass"})) == (422, "illegal_move")


def test_idempotency_is_looked_up_before_seat_shape_status_version_and_turn(
    people: list[Person], services: Services
) -> None:
    game = started(people, options={"rounds": 1})
    turn = mover(people, game)
    key, body = (
        fresh_key(),
        {"move": legal(turn, game), "expected_version": turn.view(game)["version"]},
    )
    first = turn.post(f"/games/{game}/moves", body, headers=key).get_json()
    play_on(services, people, game, random.Random(6))
    again = turn.post(f"/games/{game}/moves", body, headers=key)
    assert again.status_code == 201
    assert again.get_json()["events"] == first["events"]
    reused = turn.post(f"/games/{game}/moves", {"nonsense": 1}, headers=key)
    assert code(reused) == (422, "idempotency_key_reused")
    assert code(turn.move(game, DRAW)) == (409, "game_not_active")


def test_no_move_is_made_in_a_game_that_is_open(ilze: Person) -> None:
    game = opened(ilze)["game"]
    answer = ilze.move(game, DRAW)
    assert code(answer) == (409, "game_not_active")
    assert answer.get_json()["game_status"] == "open"


def test_a_refusal_is_never_given_on_a_game_that_has_moved_on(
    urls: Urls, people: list[Person], game: str, description: Any
) -> None:
    """Two processes: what one of them remembers is behind, and it looks before it refuses."""
    other_services = services_at(urls.service)
    other = create_app(other_services)
    other.test_client_class = description.checking_client()
    elsewhere = [Person(p.id, p.headers, other.test_client()) for p in people]
    for _ in range(9):
        view = people[0].view(game)
        seat = view["to_act"] - 1
        own = people[seat].view(game)
        assert elsewhere[seat].move(game, own["legal_moves"][-1]).status_code == 201
        view = elsewhere[0].view(game)
        seat = view["to_act"] - 1
        own = elsewhere[seat].view(game)
        assert people[seat].move(game, own["legal_moves"][-1]).status_code == 201
    other_services.database.engine.dispose()


def parallel(app: Flask, calls: Sequence[Callable[[Any], Any]]) -> list[Any]:
    with ThreadPoolExecutor(len(calls)) as pool:
        return list(pool.map(lambda call: call(app.test_client()), calls))


@pytest.mark.parametrize("_round", range(3))
def test_sixteen_requests_with_one_key_have_one_effect(
    app: Flask, people: list[Person], game: str, services: Services, _round: int
) -> None:
    turn = mover(people, game)
    version = turn.view(game)["version"]
    headers = {**turn.headers, **fresh_key()}
    body = {"move": legal(turn, game)}
    answers = parallel(
        app, [lambda c: c.post(f"/games/{game}/moves", json=body, headers=headers)] * 16
    )
    assert {answer.status_code for answer in answers} == {201}
    assert len({json.dumps(answer.get_json()["events"]) for answer in answers}) == 1
    assert sum("Idempotent-Replayed" not in answer.headers for answer in answers) == 1
    assert len(read_events(services.database, game, version)) == 1


@pytest.mark.parametrize("_round", range(3))
def test_sixteen_moves_at_one_version_have_one_effect(
    app: Flask, people: list[Person], game: str, services: Services, _round: int
) -> None:
    turn = mover(people, game)
    view = turn.view(game)
    body = {"move": view["legal_moves"][-1], "expected_version": view["version"]}
    answers = parallel(
        app,
        [
            lambda c: c.post(
                f"/games/{game}/moves", json=body, headers={**turn.headers, **fresh_key()}
            )
        ]
        * 16,
    )
    assert Counter(answer.status_code for answer in answers) == {201: 1, 409: 15}
    assert {a.get_json().get("code") for a in answers} == {None, "version_conflict"}
    assert len(read_events(services.database, game, view["version"])) == 1


def test_sixteen_openings_with_one_key_open_one_game(app: Flask, ilze: Person) -> None:
    headers = {**ilze.headers, **fresh_key()}
    body = {**GO_BOOM, "seats": 3}
    answers = parallel(app, [lambda c: c.post("/games", json=body, headers=headers)] * 16)
    assert {answer.status_code for answer in answers} == {201}
    assert len({answer.get_json()["view"]["game"] for answer in answers}) == 1


def test_sixteen_players_take_the_seats_that_there_are(
    app: Flask, ilze: Person, someone: Callable[..., Person]
) -> None:
    game = opened(ilze, seats=4)["game"]
    others = [someone(f"Player {n}") for n in range(16)]
    answers = parallel(
        app,
        [
            lambda c, who=who: c.post(f"/games/{game}/seats", json={}, headers=who.headers)
            for who in others
        ],
    )
    assert Counter(answer.status_code for answer in answers) == {201: 3, 409: 13}
    assert sorted(a.get_json()["seat"] for a in answers if a.status_code == 201) == [2, 3, 4]
    assert ilze.view(game)["status"] == "active"
