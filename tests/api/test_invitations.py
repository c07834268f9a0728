import random
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from api.test_games import code, opened
from conftest import Person, fresh_key
from play_through import play_on

from service.play import inviting
from service.play.refusals import GameNotFound
from service.play.services import Services, utc_now


@pytest.fixture
def people(someone: Callable[..., Person]) -> list[Person]:
    return [someone(name) for name in ("Ilze", "Jānis", "Anna", "Zane")]


def private(person: Person, **body: Any) -> str:
    game: str = opened(person, visibility="private", **body)["game"]
    return game


def invited(person: Person, game: str, **body: Any) -> Any:
    answer = person.post(f"/games/{game}/invitations", body)
    assert answer.status_code == 201, answer.text
    return answer.get_json()


def test_friends_play_a_private_game_by_invitation(
    people: list[Person], services: Services
) -> None:
    game = private(people[0], options={"rounds": 1})
    token = invited(people[0], game)["token"]
    stranger = people[3]
    for path in ("", "/events", "/export"):
        assert code(people[1].get(f"/games/{game}{path}")) == (404, "game_not_found")
    for person in people[1:3]:
        assert code(person.post(f"/games/{game}/seats")) == (404, "game_not_found")
        sat = person.post(f"/games/{game}/seats", {"invitation": token})
        assert sat.status_code == 201
        assert person.view(game)["visibility"] == "private"
    assert code(stranger.get(f"/games/{game}")) == (404, "game_not_found")
    late = stranger.post(f"/games/{game}/seats", {"invitation": token})
    assert code(late) == (409, "game_not_open")
    assert play_on(services, people[:3], game, random.Random(2))["status"] == "finished"


def test_an_invitation_has_its_secret_in_the_fragment(people: list[Person]) -> None:
    game = private(people[0])
    made = invited(people[0], game, expires_in=60)
    assert made["url"] == f"/games/{game}#invitation={made['token']}"
    assert made["token"].startswith("fd_in_")


def test_an_invitation_is_for_its_game_and_its_time_and_can_be_taken_back(
    people: list[Person], services: Services
) -> None:
    game, other = private(people[0]), private(people[0])
    made = invited(people[0], game)
    token = made["token"]
    for wrong in (token[:-1], token.replace("fd_in_", "fd_st_"), "x", 5, None):
        answer = people[1].post(f"/games/{game}/seats", {"invitation": wrong})
        assert answer.status_code == 404
    elsewhere = people[1].post(f"/games/{other}/seats", {"invitation": token})
    assert code(elsewhere) == (404, "game_not_found")
    later = replace(services, now=lambda: utc_now() + timedelta(days=3, seconds=1))
    with pytest.raises(GameNotFound):
        inviting.admit(later, people[1].id, game, token)
    path = f"/games/{game}/invitations/{made['id']}"
    assert code(people[1].delete(path)) == (404, "game_not_found")
    assert people[0].delete(path).status_code == 204
    assert people[0].delete(path).status_code == 204
    gone = people[1].post(f"/games/{game}/seats", {"invitation": token})
    assert code(gone) == (404, "game_not_found")
    for unknown in ("x", "0" * 26):
        missing = people[0].delete(f"/games/{game}/invitations/{unknown}")
        assert code(missing) == (404, "invitation_not_found")


def test_who_may_invite_to_what(people: list[Person]) -> None:
    game = opened(people[0])["game"]
    assert code(people[1].post(f"/games/{game}/invitations")) == (403, "not_seated")
    people[1].post(f"/games/{game}/seats")
    assert invited(people[1], game)["token"]
    assert code(people[2].post(f"/games/{private(people[0])}/invitations")) == (
        404,
        "game_not_found",
    )
    people[2].post(f"/games/{game}/seats")
    assert code(people[0].post(f"/games/{game}/invitations")) == (409, "game_not_open")
    for wrong in (59, 604_801, "60"):
        answer = people[0].post(f"/games/{game}/invitations", {"expires_in": wrong})
        assert code(answer) == (422, "validation_failed")


def test_an_invitation_is_shown_once(people: list[Person]) -> None:
    game, key = private(people[0]), fresh_key()
    assert people[0].post(f"/games/{game}/invitations", headers=key).status_code == 201
    again = people[0].post(f"/games/{game}/invitations", headers=key)
    assert code(again) == (409, "secret_already_shown")
