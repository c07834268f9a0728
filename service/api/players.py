"""Players, and the keys that they call with."""

from service.api import answers
from service.api.bodies import load_body
from service.api.keys import IdempotencyNotSupported, read_idempotency_key
from service.api.operation import JSON, NO_STORE, Answer, Call, Operation, Returns
from service.api.pages import page_limit, read_cursor, rows_answer
from service.api.schemas import KeyRequestSchema, PageQuerySchema, PlayerRequestSchema
from service.canonical import JsonMap
from service.play.accounts import (
    NewKey,
    add_key,
    find_player,
    list_keys,
    register,
    revoke_key,
)
from service.play.caller import KEYS, READ
from service.play.limits import CREATION
from service.play.services import timestamp, timestamp_if
from service.store.players import ApiKey, Player


def post_player(call: Call) -> Answer:
    """Register."""
    body = call.body()
    if read_idempotency_key(call.request) is not None:
        raise IdempotencyNotSupported
    asked = load_body(PLAYER_REQUEST, body)
    player, made = register(call.services, asked["name"], asked["kind"])
    answer: JsonMap = {"player": _player_json(player), "key": _new_key_json(made)}
    return Answer(201, answer, NO_STORE)


def get_me(call: Call) -> Answer:
    """Who am I."""
    caller = call.known_caller
    player = find_player(call.services, caller.player)
    body: JsonMap = {"player": _player_json(player), "scopes": sorted(caller.scopes)}
    return Answer(200, body, NO_STORE)


def get_keys(call: Call) -> Answer:
    """List keys."""
    limit = page_limit(call.query)
    keys = list_keys(call.services, call.known_caller, read_cursor(call.query), limit + 1)
    return rows_answer(call, keys, limit, _key_json)


def post_key(call: Call) -> Answer:
    """Make a key."""
    body = call.body()
    key = call.key(body)
    made = add_key(call.services, call.known_caller, lambda: call.load(body), key)
    return Answer(201, _new_key_json(made), NO_STORE)


def delete_key(call: Call, key: str) -> Answer:
    """Revoke a key."""
    revoke_key(call.services, call.known_caller, key)
    return Answer(204)


def _player_json(player: Player) -> JsonMap:
    return {
        "id": player.id,
        "name": player.name,
        "kind": player.kind,
        "created_at": timestamp(player.created_at),
    }


def _key_json(key: ApiKey) -> JsonMap:
    return {
        "id": key.id,
        "label": key.label,
        "scopes": list(key.scopes),
        "created_at": timestamp(key.created_at),
        "expires_at": timestamp_if(key.expires_at),
        "last_used_at": timestamp_if(key.last_used_at),
        "revoked_at": timestamp_if(key.revoked_at),
    }


def _new_key_json(made: NewKey) -> JsonMap:
    return {**_key_json(made.key), "token": made.token}


PLAYER_REQUEST = PlayerRequestSchema()

OPERATIONS = (
    Operation(
        id="register",
        method="POST",
        path="/players",
        tag="Players",
        summary="Register",
        description="Anybody may. The token of the first key is shown this once, so no "
        "`Idempotency-Key` is taken: if the answer was lost, register again.",
        view=post_player,
        policy=CREATION,
        is_open=True,
        body=PLAYER_REQUEST,
        returns={201: Returns("Your account.", {JSON: answers.RegisteredSchema()})},
        refuses=("idempotency-not-supported", "invalid-idempotency-key"),
    ),
    Operation(
        id="whoAmI",
        method="GET",
        path="/players/me",
        tag="Players",
        summary="Your account",
        view=get_me,
        scope=READ,
        returns={200: Returns("Your account.", {JSON: answers.MeSchema()})},
    ),
    Operation(
        id="listKeys",
        method="GET",
        path="/players/me/keys",
        tag="Players",
        summary="List your keys",
        view=get_keys,
        scope=KEYS,
        query=PageQuerySchema(),
        returns={200: Returns("A page of keys.", {JSON: answers.KeysPageSchema()})},
    ),
    Operation(
        id="makeKey",
        method="POST",
        path="/players/me/keys",
        tag="Players",
        summary="Make another key",
        description="Its token is shown this once, so a replayed request is refused with the "
        "key's id: revoke it, and ask again.",
        view=post_key,
        policy=CREATION,
        scope=KEYS,
        body=KeyRequestSchema(),
        returns={201: Returns("The key.", {JSON: answers.NewKeySchema()})},
        refuses=("secret-already-shown", "too-many-keys", "insufficient-scope"),
        is_idempotent_by_key=True,
    ),
    Operation(
        id="revokeKey",
        method="DELETE",
        path="/players/me/keys/{key}",
        tag="Players",
        summary="Revoke a key",
        description="For good. It ends within two seconds in every process.",
        view=delete_key,
        scope=KEYS,
        returns={204: Returns("The key is revoked.")},
        refuses=("key-not-found",),
    ),
)
