from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from conftest import Person, fresh_key
from flask.testing import FlaskClient

from service.app import create_app
from service.play.services import Services
from service.play.tokens import digest, is_well_formed, make_token


def test_anybody_registers_and_gets_a_key_that_works(client: FlaskClient) -> None:
    answer = client.post("/players", json={"name": "Ilze", "kind": "bot"})
    assert answer.status_code == 201
    token = answer.get_json()["key"]["token"]
    me = client.get("/players/me", headers={"Authorization": f"bearer {token}"})
    assert me.get_json()["player"] == answer.get_json()["player"]
    assert me.get_json()["scopes"] == ["keys", "play", "read"]


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"name": ""},
        {"name": "   "},
        {"name": "x" * 41},
        {"name": "a\nb"},
        {"name": "a\0b"},
        {"name": 5},
        {"name": None},
        {"name": "Ilze", "kind": "robot"},
        {"name": "Ilze", "age": 7},
    ],
)
def test_a_registration_of_the_wrong_shape_is_refused(client: FlaskClient, body: Any) -> None:
    answer = client.post("/players", json=body)
    assert answer.status_code == 422
    assert answer.get_json()["code"] == "validation_failed"
    assert answer.get_json()["errors"]


def test_a_misspelt_field_is_told_what_was_meant(client: FlaskClient) -> None:
    errors = client.post("/players", json={"nam": "Ilze"}).get_json()["errors"]
    assert {"pointer": "/nam", "detail": "Unknown field. Did you mean `name`?"} in errors


def test_registering_takes_no_idempotency_key(client: FlaskClient) -> None:
    answer = client.post("/players", json={"name": "Ilze"}, headers=fresh_key())
    assert (answer.status_code, answer.get_json()["code"]) == (400, "idempotency_not_supported")


def test_a_token_is_stored_as_a_digest_alone(ilze: Person, owner: Any) -> None:
    token = ilze.headers["Authorization"].removeprefix("Bearer ")
    stored = owner.execute("SELECT digest FROM api_keys WHERE player_id = %s", [ilze.id]).fetchone()
    assert bytes(stored[0]) == digest(token)
    every = owner.execute("SELECT string_agg(api_keys::text, ' ') FROM api_keys").fetchone()
    assert token not in every[0]


def test_a_token_has_a_prefix_and_a_checksum() -> None:
    token = make_token(bytes(range(32)))
    assert token.startswith("fd_pk_")
    assert is_well_formed(token)
    for index in range(len(token)):
        changed = token[:index] + ("x" if token[index] != "x" else "y") + token[index + 1 :]
        assert not is_well_formed(changed)
    for wrong in ("", "fd_pk_", token[:-1], token + "0", token.replace("fd_pk_", "fd_ak_")):
        assert not is_well_formed(wrong)


@pytest.mark.parametrize(
    "header", ["", "Bearer", "Bearer ", "Basic abc", "fd_pk_x", "Bearer fd_pk_x", "Bearer \u00e9"]
)
def test_without_a_live_key_the_answer_is_401(client: FlaskClient, header: str) -> None:
    answer = client.get("/players/me", headers={"Authorization": header} if header else {})
    assert answer.status_code == 401
    assert answer.headers["WWW-Authenticate"] == 'Bearer realm="fairdeal"'
    assert answer.get_json()["code"] == "unauthenticated"


def test_an_unknown_token_with_a_good_checksum_is_401(client: FlaskClient) -> None:
    token = make_token(b"\x07" * 32)
    answer = client.get("/players/me", headers={"Authorization": f"Bearer {token}"})
    assert answer.status_code == 401


def test_a_token_in_the_query_is_refused(ilze: Person) -> None:
    token = ilze.headers["Authorization"].removeprefix("Bearer ")
    answer = ilze.client.get(f"/players/me?access_token={token}")
    assert answer.status_code in (400, 401)


def test_keys_are_made_listed_and_revoked(ilze: Person) -> None:
    made = ilze.post("/players/me/keys", {"label": "phone"})
    assert made.status_code == 201
    key, token = made.get_json()["id"], made.get_json()["token"]
    other = {"Authorization": f"Bearer {token}"}
    assert ilze.client.get("/players/me", headers=other).status_code == 200
    listed = ilze.get("/players/me/keys").get_json()["items"]
    assert [item["label"] for item in listed] == ["phone", "first key"]
    assert all("token" not in item for item in listed)
    assert listed[0]["last_used_at"] is not None
    assert ilze.delete(f"/players/me/keys/{key}").status_code == 204
    assert ilze.delete(f"/players/me/keys/{key}").status_code == 204
    assert ilze.client.get("/players/me", headers=other).status_code == 401
    assert ilze.get("/players/me/keys").get_json()["items"][0]["revoked_at"] is not None


def test_a_key_of_another_player_is_not_found(ilze: Person, someone: Callable[..., Person]) -> None:
    key = ilze.get("/players/me/keys").get_json()["items"][0]["id"]
    answer = someone("Armen").delete(f"/players/me/keys/{key}")
    assert (answer.status_code, answer.get_json()["code"]) == (404, "key_not_found")
    assert ilze.get("/players/me").status_code == 200


def test_a_key_can_do_no_more_than_its_scopes(ilze: Person) -> None:
    made = ilze.post("/players/me/keys", {"scopes": ["read"]}).get_json()
    reader = Person(ilze.id, {"Authorization": f"Bearer {made['token']}"}, ilze.client)
    assert reader.get("/players/me").status_code == 200
    refused = reader.post("/games", {"ruleset": "jokers-go-boom", "seats": 3})
    assert (refused.status_code, refused.get_json()["scope"]) == (403, "play")
    assert reader.post("/players/me/keys", {}).status_code == 403


def test_a_key_gives_no_scope_that_it_lacks(ilze: Person) -> None:
    made = ilze.post("/players/me/keys", {"scopes": ["keys"]}).get_json()
    keeper = Person(ilze.id, {"Authorization": f"Bearer {made['token']}"}, ilze.client)
    refused = keeper.post("/players/me/keys", {"scopes": ["play"]})
    assert (refused.status_code, refused.get_json()["code"]) == (403, "insufficient_scope")
    assert keeper.post("/players/me/keys", {"scopes": ["keys"]}).status_code == 201


def test_a_key_expires(ilze: Person, services: Services) -> None:
    soon = (datetime.now(UTC) + timedelta(minutes=1)).isoformat()
    made = ilze.post("/players/me/keys", {"expires_at": soon}).get_json()
    headers = {"Authorization": f"Bearer {made['token']}"}
    assert ilze.client.get("/players/me", headers=headers).status_code == 200
    later = replace(services, now=lambda: datetime.now(UTC) + timedelta(hours=1))
    client = create_app(later).test_client()
    assert client.get("/players/me", headers=headers).status_code == 401


@pytest.mark.parametrize(
    "moment",
    [
        "9999-12-31T23:59:59-23:59",
        "9999-01-01T00:00:00Z",
        "0001-01-01T00:00:00+23:59",
        "2020-01-01T00:00:00Z",
    ],
)
def test_a_key_that_could_not_live_is_not_made(ilze: Person, moment: str) -> None:
    answer = ilze.post("/players/me/keys", {"expires_at": moment})
    assert answer.status_code == 422
    assert answer.get_json()["errors"][0]["pointer"] == "/expires_at"
    assert len(ilze.get("/players/me/keys").get_json()["items"]) == 1


@pytest.mark.parametrize("key", ["%00", "x", "%E2%80%A6", "0" * 300])
def test_a_key_that_can_be_none_is_not_found(ilze: Person, key: str) -> None:
    assert ilze.delete(f"/players/me/keys/{key}").status_code == 404


def test_a_time_without_its_zone_is_refused(ilze: Person) -> None:
    answer = ilze.post("/players/me/keys", {"expires_at": "2030-01-01T00:00:00"})
    assert answer.get_json()["errors"][0]["pointer"] == "/expires_at"


def test_a_key_that_was_shown_is_not_shown_again(ilze: Person) -> None:
    key = fresh_key()
    made = ilze.post("/players/me/keys", {"label": "one"}, headers=key)
    again = ilze.post("/players/me/keys", {"label": "one"}, headers=key)
    assert (again.status_code, again.get_json()["code"]) == (409, "secret_already_shown")
    assert again.get_json()["id"] == made.get_json()["id"]
    other = ilze.post("/players/me/keys", {"label": "two"}, headers=key)
    assert (other.status_code, other.get_json()["code"]) == (422, "idempotency_key_reused")


def test_a_player_holds_a_limited_number_of_live_keys(ilze: Person) -> None:
    for _ in range(49):
        assert ilze.post("/players/me/keys", {}).status_code == 201
    refused = ilze.post("/players/me/keys", {})
    assert (refused.status_code, refused.get_json()["limit"]) == (409, 50)
    newest = ilze.get("/players/me/keys?limit=1").get_json()["items"][0]["id"]
    assert ilze.delete(f"/players/me/keys/{newest}").status_code == 204
    assert ilze.post("/players/me/keys", {}).status_code == 201


def test_keys_are_listed_in_pages(ilze: Person) -> None:
    for number in range(5):
        ilze.post("/players/me/keys", {"label": str(number)})
    labels, path = [], "/players/me/keys?limit=2"
    while path:
        answer = ilze.get(path)
        labels += [item["label"] for item in answer.get_json()["items"]]
        link = answer.headers.get("Link")
        path = link.split(">")[0].lstrip("<") if link else ""
        assert bool(link) == (answer.get_json()["next_cursor"] is not None)
    assert labels == ["4", "3", "2", "1", "0", "first key"]


def test_the_last_use_is_written_once_a_minute(
    ilze: Person, services: Services, owner: Any
) -> None:
    def used() -> Any:
        row = owner.execute("SELECT last_used_at FROM api_keys WHERE player_id = %s", [ilze.id])
        return row.fetchone()[0]

    assert ilze.get("/players/me").status_code == 200
    first = used()
    services.keys.forget(ilze.get("/players/me/keys").get_json()["items"][0]["id"])
    assert ilze.get("/players/me").status_code == 200
    assert used() == first
