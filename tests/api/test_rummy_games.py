"""Crazy Rummy over HTTP: whole games, batches, ambiguity."""

import random
from collections.abc import Callable
from typing import Any

import pytest
from api.test_games import check_the_log, code
from conftest import Person, fresh_key
from play_through import play_on

from service.play.services import Services

RUMMY = {"ruleset": "crazy-rummy"}


@pytest.fixture
def people(someone: Callable[..., Person]) -> list[Person]:
    return [someone(name) for name in ("Ilze", "Armen", "Jānis", "Anahit", "Anna", "Tigran")]


def opened(person: Person, seats: int, **body: Any) -> Any:
    answer = person.post("/games", {**RUMMY, "seats": seats, **body})
    assert answer.status_code == 201, answer.text
    return answer.get_json()["view"]


@pytest.mark.parametrize(
    ("seats", "options"),
    [
        (3, {}),
        (4, {"discard_taken": "forbidden"}),
        (5, {"rounds": 1, "discard_taken": "allowed"}),
        (6, {"discard_taken": "forbidden"}),
    ],
    ids=str,
)
def test_people_play_a_whole_game(
    people: list[Person], services: Services, seats: int, options: dict[str, Any]
) -> None:
    game = opened(people[0], seats, options=options)["game"]
    for person in people[1:seats]:
        assert person.post(f"/games/{game}/seats").status_code == 201
    view = play_on(services, people[:seats], game, random.Random(seats))
    assert (view["status"], view["round"]) == ("finished", options.get("rounds", 13))
    check_the_log(services, game, view)


@pytest.mark.parametrize("seats", [3, 4, 5, 6])
def test_thirteen_rounds_are_played_with_bots(ilze: Person, services: Services, seats: int) -> None:
    bots = [
        {"seat": seat, "level": "random" if seat % 2 else "steady"} for seat in range(2, seats + 1)
    ]
    game = opened(ilze, seats, bots=bots)["game"]
    ilze.put(f"/games/{game}/seats/1/contribution", {"contribution": "luck"})
    view = play_on(services, [ilze], game, random.Random(seats))
    assert (view["status"], view["round"]) == ("finished", 13)
    check_the_log(services, game, view)


SANDBOX = {"sandbox": {"secret": "5a" * 32}}


@pytest.fixture
def table(ilze: Person) -> Any:
    """A sandbox in which one person holds all three seats, until a hand with a meld is in turn."""
    game = opened(ilze, 3, **SANDBOX)["game"]
    for _ in range(2):
        ilze.post(f"/games/{game}/seats")
    for _ in range(60):
        view = ilze.view(game)
        melds = [move for move in view["legal_moves"] if move["type"] == "meld"]
        if melds and view["seats"][view["to_act"] - 1]["cards"] > len(melds[0]["cards"]) + 1:
            return game, view, melds
        ilze.move(game, view["legal_moves"][-1 if view["phase"] == "play" else 0])
    raise AssertionError("no meld in sixty moves")


def test_a_turn_may_be_one_request(ilze: Person, table: Any) -> None:
    game, view, melds = table
    hand = view["seats"][view["to_act"] - 1]["hand"]
    left = next(card for card in hand if card not in melds[0]["cards"])
    moves = [melds[0], {"type": "discard", "card": left}]
    answer = ilze.post(f"/games/{game}/moves", {"moves": moves}, headers=fresh_key())
    assert answer.status_code == 201, answer.text
    events = answer.get_json()["events"]
    assert [event["data"]["move"]["type"] for event in events] == ["meld", "discard"]
    assert answer.get_json()["version"] == view["version"] + 2


def test_a_batch_is_all_or_nothing(ilze: Person, table: Any) -> None:
    game, view, melds = table
    moves = [melds[0], {"type": "discard", "card": melds[0]["cards"][0]}]
    answer = ilze.post(f"/games/{game}/moves", {"moves": moves}, headers=fresh_key())
    assert code(answer) == (422, "illegal_move")
    assert (answer.get_json()["move_index"], answer.get_json()["rule"]) == (1, "C1")
    assert answer.get_json()["legal_moves"] == view["legal_moves"]
    assert ilze.view(game)["version"] == view["version"]


def test_a_discard_comes_last_in_a_batch(ilze: Person, table: Any) -> None:
    game, view, melds = table
    hand = view["seats"][view["to_act"] - 1]["hand"]
    left = next(card for card in hand if card not in melds[0]["cards"])
    moves = [{"type": "discard", "card": left}, melds[0]]
    answer = ilze.post(f"/games/{game}/moves", {"moves": moves}, headers=fresh_key())
    assert code(answer) == (422, "reveal_not_last")


def test_cards_that_can_be_read_in_several_ways_are_answered_with_the_readings(
    ilze: Person,
) -> None:
    """With wild cards about, some meld of some hand has several readings."""
    game = opened(ilze, 3, **SANDBOX)["game"]
    for _ in range(2):
        ilze.post(f"/games/{game}/seats")
    chance = random.Random(2)
    for _ in range(400):
        view = ilze.view(game)
        for move in view["legal_moves"]:
            if move["type"] == "meld" and move["cards"] != move["as"]:
                answer = ilze.move(game, {"type": "meld", "cards": move["cards"]})
                if answer.status_code == 422:
                    assert answer.get_json()["rule"] == "C11"
                    readings = answer.get_json()["readings"]
                    assert len(readings) > 1
                    said = {"type": "meld", "cards": move["cards"], "as": readings[0]}
                    assert ilze.move(game, said).status_code == 201
                    return
                break
        else:
            ilze.move(game, chance.choice(view["legal_moves"]))
    raise AssertionError("no ambiguous meld in four hundred moves")
