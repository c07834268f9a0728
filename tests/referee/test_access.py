"""Who may call what, for every operation that there is: exactly the cells that are documented."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from api.test_games import code, opened
from conftest import Person, fresh_key
from flask.testing import FlaskClient
from referee.desk import Referee, engines, referee
from sqlalchemy import Engine

from service.api.edge import OPERATIONS
from service.api.operation import Operation
from service.play.admins import ADMIN_SCOPES
from service.play.caller import SCOPES
from service.store.embedded import Urls

ULID = "0" * 26
OF_PLAYERS = [op for op in OPERATIONS if op.scope in SCOPES]
OF_ADMINS = [op for op in OPERATIONS if op.is_admins]
OF_GAMES = [op for op in OF_PLAYERS if op.path.startswith("/games/{game}")]


@pytest.fixture
def engine(urls: Urls) -> Iterator[Engine]:
    yield from engines(urls)


def called(
    client: FlaskClient, operation: Operation, headers: Any, **parameters: str
) -> tuple[int, str]:
    """The status of a call with an empty body, and the code of its problem."""
    path = operation.path
    for name, value in {"head": "0" * 64, "size": "1", "seat": "1", **parameters}.items():
        path = path.replace(f"{{{name}}}", value)
    for name in ("game", "key", "invitation", "webhook", "delivery", "dispute", "player", "look"):
        path = path.replace(f"{{{name}}}", ULID)
    sent = {} if operation.method in ("GET", "DELETE") else {"json": {}}
    answer = client.open(path, method=operation.method, headers=headers, **sent)
    answer.close()
    is_problem = answer.mimetype == "application/problem+json"
    return code(answer) if is_problem else (answer.status_code, "")


def test_every_operation_says_who_may_call_it() -> None:
    assert all(op.scope in ADMIN_SCOPES for op in OF_ADMINS)
    assert not any(op.scope in ADMIN_SCOPES for op in OPERATIONS if not op.is_admins)
    assert len(OF_ADMINS) > 10
    assert len(OF_GAMES) > 15


@pytest.mark.parametrize("operation", OF_PLAYERS, ids=lambda op: op.id)
def test_players_call_what_their_keys_allow(
    operation: Operation, ilze: Person, engine: Engine, client: FlaskClient
) -> None:
    nobody = called(client, operation, {})
    if operation.is_open:
        assert nobody[0] != 403
    else:
        assert nobody == (401, "unauthenticated")
    admin = {"Authorization": f"Bearer {referee(engine, client).token}"}
    assert called(client, operation, admin) == (401, "unauthenticated")
    for scope in SCOPES:
        made = ilze.post("/players/me/keys", {"label": scope, "scopes": [scope]}).get_json()
        got = called(client, operation, {"Authorization": f"Bearer {made['token']}"})
        if scope == operation.scope:
            asks_for_more = operation.id == "makeKey"  # for a key with every scope
            refused = () if asks_for_more else ("unauthenticated", "insufficient_scope")
            assert got[1] not in refused
        else:
            assert got == (403, "insufficient_scope")


@pytest.mark.parametrize("operation", OF_ADMINS, ids=lambda op: op.id)
def test_admins_call_what_their_keys_allow_and_nobody_else_does(
    operation: Operation, ilze: Person, engine: Engine, client: FlaskClient
) -> None:
    for headers in ({}, ilze.headers, {"Authorization": "Bearer fd_ak_x"}):
        assert called(client, operation, headers) == (401, "unauthenticated")
    for scope in ADMIN_SCOPES:
        one = referee(engine, client, scopes=[scope])
        got = called(client, operation, {"Authorization": f"Bearer {one.token}"})
        if scope == operation.scope:
            assert got[1] not in ("unauthenticated", "insufficient_scope")
        else:
            assert got == (403, "insufficient_scope")


@pytest.mark.parametrize("operation", OF_GAMES, ids=lambda op: op.id)
def test_a_private_game_is_not_found_by_strangers_whatever_they_call(
    operation: Operation, ilze: Person, someone: Callable[..., Person], client: FlaskClient
) -> None:
    bots = [{"seat": 2}, {"seat": 3}]
    game = opened(ilze, bots=bots, visibility="private")["game"]
    ilze.put(f"/games/{game}/seats/1/contribution", {"contribution": "x"})
    callers = [someone("Zane").headers]
    callers += [{}] if operation.is_open else []
    for headers in callers:
        assert called(client, operation, headers, game=game) == (404, "game_not_found")


def test_a_dispute_of_a_private_game_is_found_by_its_parties_and_referees_alone(
    ilze: Person, someone: Callable[..., Person], engine: Engine, client: FlaskClient
) -> None:
    bots = [{"seat": 2}, {"seat": 3}]
    game = opened(ilze, bots=bots, visibility="private")["game"]
    ilze.put(f"/games/{game}/seats/1/contribution", {"contribution": "x"})
    asked = {"reason": "other", "statement": "x"}
    dispute = ilze.post(f"/games/{game}/disputes", asked, headers=fresh_key()).get_json()[
        "dispute"
    ]["id"]
    stranger = someone("Zane")
    for operation in OPERATIONS:
        if operation.path.startswith("/disputes/{dispute}"):
            got = called(client, operation, stranger.headers, dispute=dispute)
            assert got == (404, "dispute_not_found"), operation.id
    assert stranger.get("/disputes").get_json()["items"] == []
    assert [one["id"] for one in ilze.get("/disputes").get_json()["items"]] == [dispute]
    admin: Referee = referee(engine, client)
    assert admin.call("GET", f"/disputes/{dispute}").status_code == 200


SEEN = ("", "", "", "")
UNSEATED = ("unauthenticated", "not_seated")
ROLES = {
    "viewGame": SEEN,
    "watchReplay": SEEN,
    "readEvents": SEEN,
    "whoIsPresent": SEEN,
    "readFairness": SEEN,
    "exportGame": SEEN,
    "exportHead": ("head_not_found",) * 4,
    "replayHead": ("head_not_found",) * 4,
    "getStreamTicket": ("unauthenticated", "", "", ""),
    "takeSeat": ("unauthenticated", "game_not_open", "already_seated", "already_seated"),
    "invite": (*UNSEATED, "game_not_open", "game_not_open"),
    "revokeInvitation": ("unauthenticated", *("invitation_not_found",) * 3),
    "giveContribution": (*UNSEATED, "not_seated", "validation_failed"),
    "leaveSeat": (*UNSEATED, "not_seated", "game_not_open"),
    "resign": (*UNSEATED, "", ""),
    "comeBack": ("unauthenticated", *("not_away",) * 3),
    "makeMoves": (*UNSEATED, "validation_failed", "validation_failed"),
    "rematch": ("unauthenticated", *("game_not_finished",) * 3),
    "fileDispute": (*UNSEATED, "validation_failed", "validation_failed"),
}
"""Of a running public game, with an empty body and about seat 1: what nobody, somebody who looks
on, who sits in seat 2, and who opened it and sits in seat 1 are told; "" where it is done."""


@pytest.mark.parametrize("operation", OF_GAMES, ids=lambda op: op.id)
def test_each_role_does_what_is_its_own_and_nothing_else(
    operation: Operation, ilze: Person, someone: Callable[..., Person], client: FlaskClient
) -> None:
    others = [someone("Jānis"), someone("Anna")]
    game = opened(ilze, seats=3)["game"]
    for person in others:
        person.post(f"/games/{game}/seats")
    roles = ({}, someone("Zane").headers, others[0].headers, ilze.headers)
    told = tuple(called(client, operation, headers, game=game)[1] for headers in roles)
    assert told == ROLES[operation.id]
    assert len(ROLES) == len(OF_GAMES)
