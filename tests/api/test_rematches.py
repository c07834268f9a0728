"""Playing again: the same seats, the next dealer, and a log that says so."""

import random
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from api.test_games import code, opened, started
from conftest import Person, fresh_key
from flask.testing import FlaskClient
from play_through import play_on
from signing import KEYRING

from service.play import rematching
from service.play.clocks import close_stale
from service.play.services import Services
from service.proof.outside import Evidence
from service.proof.verdicts import Status
from service.proof.verify import verify


@pytest.fixture
def people(someone: Callable[..., Person]) -> list[Person]:
    return [someone(name) for name in ("Ilze", "Jānis", "Anna")]


@pytest.fixture
def ended(people: list[Person], services: Services) -> Any:
    game = started(people, options={"rounds": 1}, turn_seconds=600)
    return play_on(services, people, game, random.Random(7))


def again(person: Person, game: str, **headers: str) -> Any:
    return person.post(f"/games/{game}/rematch", headers=headers)


def test_a_rematch_has_the_same_seats_and_the_deal_passes_on(
    people: list[Person], ended: Any, services: Services, client: FlaskClient
) -> None:
    answer = again(people[1], ended["game"])
    assert answer.status_code == 201
    view = answer.get_json()["view"]
    game = view["game"]
    assert answer.headers["Location"] == f"/games/{game}"
    assert (view["status"], view["rematch_of"]) == ("open", ended["game"])
    for name in ("ruleset", "options", "visibility", "turn_seconds"):
        assert view[name] == ended[name]
    for person in (people[0], people[1], people[2]):
        assert again(person, ended["game"]).get_json()["view"]["game"] == game
    for seat in (3, 1, 2):
        sat = people[seat - 1].post(f"/games/{game}/seats", {"contribution": f"give {seat}"})
        assert (sat.status_code, sat.get_json()["seat"]) == (201, seat)
    dealer = ended["dealer"] % 3 + 1
    events = client.get(f"/games/{game}/events").get_json()["items"]
    data = {event["type"]: event["data"] for event in events}
    assert data["game_started"] == {"cut": [], "dealer": dealer}
    assert data["round_started"]["dealer"] == dealer
    assert data["game_created"]["rematch"] == {
        "of": ended["game"],
        "dealer": dealer,
        "players": {str(seat): person.id for seat, person in enumerate(people, 1)},
    }
    last = play_on(services, people, game, random.Random(8))
    assert last["status"] == "finished"
    report = verify(client.get(f"/games/{game}/export").text, Evidence(keys=KEYRING.public_keys()))
    assert {verdict.status for verdict in report.verdicts} <= {Status.PASSED, Status.NOT_CHECKED}
    services.games.drop(game)
    assert people[0].view(game)["result"] == last["result"]


def test_a_seat_of_a_rematch_is_kept(
    people: list[Person], someone: Callable[..., Person], ended: Any
) -> None:
    game = again(people[0], ended["game"]).get_json()["view"]["game"]
    stranger = someone("Zane")
    assert code(stranger.post(f"/games/{game}/seats")) == (409, "seat_kept")
    assert code(stranger.post(f"/games/{game}/seats", {"seat": 1})) == (409, "seat_kept")
    taken = people[0].post(f"/games/{game}/seats", {"seat": 2})
    assert (code(taken), taken.get_json()["detail"].split()[1]) == ((409, "seat_kept"), "2")
    assert people[0].post(f"/games/{game}/seats").get_json()["seat"] == 1
    again_taken = people[1].post(f"/games/{game}/seats", {"seat": 1})
    assert code(again_taken) == (409, "seat_taken")


def test_bots_play_again_too_and_a_player_alone_with_them_starts_it(
    ilze: Person, services: Services
) -> None:
    bots = [{"seat": 2}, {"seat": 3, "level": "random"}]
    game = opened(ilze, bots=bots, visibility="private", options={"rounds": 1})["game"]
    ilze.put(f"/games/{game}/seats/1/contribution", {"contribution": "x"})
    play_on(services, [ilze], game, random.Random(3))
    view = again(ilze, game).get_json()["view"]
    levels = [seat["player"] and seat["player"].get("level") for seat in view["seats"]]
    assert levels == [None, "steady", "random"]
    assert view["status"] == "open"
    sat = ilze.post(f"/games/{view['game']}/seats", {"contribution": "mine"}).get_json()
    assert (sat["seat"], sat["view"]["status"]) == (1, "active")


def test_only_who_played_to_the_end_plays_again(
    people: list[Person], someone: Callable[..., Person], ended: Any
) -> None:
    assert code(again(someone("Zane"), ended["game"])) == (403, "not_seated")
    assert code(again(people[0], "0" * 26)) == (404, "game_not_found")
    running = started(people)
    assert code(again(people[0], running)) == (409, "game_not_finished")
    voided = opened(people[0])["game"]
    people[0].delete(f"/games/{voided}/seats/1")
    assert code(again(people[0], voided)) == (409, "game_not_finished")


def test_a_rematch_that_nobody_joined_makes_room_for_another(
    people: list[Person], ended: Any, services: Services
) -> None:
    first = again(people[0], ended["game"]).get_json()["view"]["game"]
    people[0].post(f"/games/{first}/seats")
    people[0].delete(f"/games/{first}/seats/1")
    assert people[0].view(first)["status"] == "voided"
    second = again(people[1], ended["game"]).get_json()["view"]["game"]
    assert second != first
    assert again(people[0], ended["game"]).get_json()["view"]["game"] == second
    assert not close_stale(services, second)


def test_all_who_ask_at_once_get_the_same_game(people: list[Person], ended: Any) -> None:
    with ThreadPoolExecutor(6) as pool:
        answers = list(pool.map(lambda n: again(people[n % 3], ended["game"]), range(12)))
    assert {answer.status_code for answer in answers} == {201}
    assert len({answer.get_json()["view"]["game"] for answer in answers}) == 1


def test_a_rematch_that_was_claimed_and_never_opened_is_opened_by_the_next(
    people: list[Person], ended: Any, services: Services
) -> None:
    claimed = services.new_id()
    assert rematching.claim_rematch(services.database, ended["game"], claimed, None) == claimed
    assert again(people[2], ended["game"]).get_json()["view"]["game"] == claimed


def test_a_retry_gets_the_same_rematch(people: list[Person], ended: Any) -> None:
    key = fresh_key()
    first = again(people[0], ended["game"], **key)
    second = again(people[0], ended["game"], **key)
    assert "Idempotent-Replayed" not in first.headers
    assert second.headers["Idempotent-Replayed"] == "true"
    assert first.get_json()["view"]["game"] == second.get_json()["view"]["game"]
    other = people[0].post(f"/games/{ended['game']}/rematch", {"x": 1}, headers=key)
    assert other.status_code == 422


def test_the_players_of_a_private_game_find_their_rematch_and_nobody_else_does(
    people: list[Person], someone: Callable[..., Person], services: Services
) -> None:
    game = opened(people[0], visibility="private", options={"rounds": 1})["game"]
    token = people[0].post(f"/games/{game}/invitations").get_json()["token"]
    for person in people[1:]:
        person.post(f"/games/{game}/seats", {"invitation": token})
    play_on(services, people, game, random.Random(4))
    rematch = again(people[1], game).get_json()["view"]["game"]
    for person in people:
        assert person.view(rematch)["status"] == "open"
    for path in (f"/games/{rematch}", f"/games/{rematch}/events"):
        assert code(someone("Zane").get(path)) == (404, "game_not_found")
    assert code(again(someone("Zane"), game)) == (404, "game_not_found")


def test_a_key_stays_with_the_rematch_that_it_opened(people: list[Person], ended: Any) -> None:
    key = fresh_key()
    first = again(people[0], ended["game"], **key).get_json()["view"]["game"]
    people[0].post(f"/games/{first}/seats")
    people[0].delete(f"/games/{first}/seats/1")
    for _ in range(2):
        retried = again(people[0], ended["game"], **key)
        assert (retried.status_code, retried.get_json()["view"]["game"]) == (201, first)
    assert again(people[0], ended["game"]).get_json()["view"]["game"] != first
