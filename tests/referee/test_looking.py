"""Looks at hands that two persons answer for, and what a seat could know."""

import random
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from api.test_games import code, mover, opened
from conftest import Person, register
from flask.testing import FlaskClient
from play_through import play_on
from referee.desk import WHY, Referee, engines, referee
from sqlalchemy import Engine

from service.app import create_app
from service.play.admins import ADMIN_READ, ADMIN_SCOPES
from service.play.services import Services, utc_now
from service.store.embedded import Urls
from service.store.looks import drop_old_looks, list_looks


@pytest.fixture
def engine(urls: Urls) -> Iterator[Engine]:
    yield from engines(urls)


@pytest.fixture
def strict(services: Services) -> Services:
    """Services that want two persons for a look."""
    return replace(services, needs_two_persons=True)


@pytest.fixture
def client(strict: Services, description: Any) -> FlaskClient:
    app = create_app(strict)
    app.test_client_class = description.checking_client()
    return app.test_client()


@pytest.fixture
def desk(engine: Engine, client: FlaskClient) -> Callable[..., Referee]:
    return lambda name, **more: referee(engine, client, name=name, **more)


def running(client: FlaskClient) -> tuple[list[Person], str]:
    people = [register(client, name) for name in ("Ilze", "Jānis", "Anna")]
    game = opened(people[0], seats=3, ruleset="crazy-rummy", options={"rounds": 1})["game"]
    for person in people[1:]:
        person.post(f"/games/{game}/seats")
    return people, game


def test_two_persons_answer_for_a_look(
    client: FlaskClient, desk: Callable[..., Referee], services: Services
) -> None:
    _, game = running(client)
    anna, janis = desk("Anna"), desk("Jānis")
    path, asked = f"/games/{game}/hidden-reads", {"reason": WHY, "seats": [2]}
    refused = anna.call("POST", path, asked)
    assert code(refused) == (403, "approval_required")
    assert "hand" not in refused.text
    request = anna.call("POST", f"/games/{game}/hidden-read-requests", asked)
    assert (request.status_code, request.get_json()["approved_by"]) == (201, None)
    look, at = request.get_json()["id"], request.get_json()["version"]
    named = {**asked, "at": at, "approval": look}
    assert code(anna.call("POST", path, named)) == (403, "approval_required")
    approval = f"/hidden-read-requests/{look}/approval"
    assert code(anna.call("POST", approval, {})) == (403, "approval_by_another")
    assert code(desk("Anna").call("POST", approval, {})) == (403, "approval_by_another")
    for _ in range(2):
        approved = janis.call("POST", approval, {}).get_json()
        assert approved["approved_by"] == janis.id
    assert look in [
        item["id"] for item in anna.call("GET", "/hidden-read-requests").get_json()["items"]
    ]
    shown = anna.call("POST", path, named)
    assert shown.status_code == 201, shown.text
    assert [seat["seat"] for seat in shown.get_json()["seats"] if "hand" in seat] == [2]
    why = "It is about something else altogether."
    for other in ({"seats": [1]}, {"at": at - 1}, {"seats": None}, {"reason": why}):
        assert code(anna.call("POST", path, {**named, **other})) == (403, "approval_required")
    assert code(janis.call("POST", path, named)) == (403, "approval_required")
    lines = anna.call("GET", "/audit?limit=50").get_json()["items"]
    for action in ("hidden-read-request", "hidden-read-approval"):
        told = next(line for line in lines if line["action"] == action)["facts"]
        assert (told["request"], told["reason"], told["seats"]) == (look, WHY, [2])
    read = next(line for line in lines if line["action"] == "hidden-read")
    assert (read["facts"]["approval"], read["facts"]["approved_by"]) == (look, janis.id)
    late = replace(services, needs_two_persons=True, now=lambda: utc_now() + timedelta(hours=2))
    for where, body in ((path, named), (approval, {})):
        later = Referee(anna.id, anna.token, create_app(late).test_client())
        assert code(later.call("POST", where, body)) == (404, "hidden_read_request_not_found")
    drop_old_looks(services.database, utc_now() + timedelta(days=1))
    assert not [one for one in list_looks(services.database, None, 50) if one.id == look]


def test_what_if_of_a_running_game_wants_two_persons_too(
    client: FlaskClient, desk: Callable[..., Referee], services: Services
) -> None:
    people, game = running(client)
    anna, janis = desk("Anna"), desk("Jānis")
    at = people[0].view(game)["version"]
    tried = {"at": at, "moves": [], "reason": WHY}
    assert code(anna.call("POST", f"/games/{game}/what-if", tried)) == (403, "approval_required")
    look = anna.call(
        "POST", f"/games/{game}/hidden-read-requests", {"reason": WHY, "at": at}
    ).get_json()["id"]
    janis.call("POST", f"/hidden-read-requests/{look}/approval", {})
    answer = anna.call("POST", f"/games/{game}/what-if", {**tried, "approval": look})
    assert answer.status_code == 200, answer.text
    reader = desk("Zane", scopes=[ADMIN_READ])
    assert code(reader.call("POST", f"/games/{game}/what-if", tried))[0] == 403
    play_on(services, people, game, random.Random(4))
    ended = anna.call("POST", f"/games/{game}/hidden-reads", {"reason": WHY})
    assert ended.status_code == 201  # everything lies open


def test_nobody_approves_of_a_look_at_their_own_game(
    client: FlaskClient, desk: Callable[..., Referee]
) -> None:
    people, game = running(client)
    anna = desk("Anna")
    own = desk("Jānis", players=[people[1].id], scopes=ADMIN_SCOPES)
    asked = {"reason": WHY}
    assert code(own.call("POST", f"/games/{game}/hidden-read-requests", asked)) == (
        403,
        "conflict_of_interest",
    )
    look = anna.call("POST", f"/games/{game}/hidden-read-requests", asked).get_json()["id"]
    approval = f"/hidden-read-requests/{look}/approval"
    assert code(own.call("POST", approval, {})) == (403, "conflict_of_interest")
    for admin, sees in ((own, False), (desk("Zane", players=["0" * 26]), True), (anna, True)):
        items = admin.call("GET", "/hidden-read-requests?limit=200").get_json()["items"]
        assert (look in [item["id"] for item in items]) is sees


def test_knowledge_follows_cards_that_were_seen_going_into_a_hand(
    client: FlaskClient, engine: Engine, services: Services
) -> None:
    """Held against what the moves say: a taken card is known until it lies open again."""
    admin = referee(engine, create_app(services).test_client())
    people, game = running(client)
    chance, known = random.Random(7), {seat: set() for seat in (1, 2, 3)}  # type: ignore[var-annotated]
    followed = 0
    for _ in range(60):
        view = people[0].view(game)
        if view["status"] != "active":
            break
        turn, seat = mover(people, game), view["to_act"]
        moves = turn.view(game)["legal_moves"]
        taking = [move for move in moves if move.get("from") == "discard"]
        move = chance.choice(taking or moves)
        top = view["table"]["discard"]["top"]
        answer = turn.move(game, move).get_json()
        if move.get("from") == "discard":
            known[seat].add(top)
        if move["type"] == "take_wild":
            known[seat].add(move["wild"])
        laid = {move.get("card")}
        known[seat] -= laid | set(move.get("cards", ()))
        if answer["view"]["status"] != "active":
            break
        asked = {"reason": WHY, "at": answer["version"], "seats": [1, 2, 3]}
        for could in admin.call("POST", f"/games/{game}/hidden-reads", asked).get_json()[
            "knowledge"
        ]:
            others = {other: cards for other, cards in known.items() if other != could["seat"]}
            assert {int(other): set(cards) for other, cards in could["known"].items()} == {
                other: cards for other, cards in others.items() if cards
            }
            hidden = could["unseen_in"]
            assert len(could["unseen"]) == hidden["stock"] + sum(hidden["hands"].values())
            followed += len(could["known"])
    assert followed > 5
