"""The append: one statement, one round trip, all or nothing.

The head row moves only from the expected version and hash, and the events are
written only if it moved. A caller that lost the race is told so by a value; a
key that is bound already is told by its constraint's name.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from psycopg.errors import UniqueViolation
from sqlalchemy import Connection
from sqlalchemy.exc import IntegrityError

from service.log.game import Game
from service.log.steps import Frame
from service.store.database import Database, connection


class KeyBound(Exception):
    """The idempotency key was bound by another request, a moment ago; nothing was written."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestKey:
    """An idempotency key in its scope; `fingerprint` is the SHA-256 of the canonical body."""

    player: str
    route: str
    key: str
    fingerprint: bytes


APPEND = """
WITH moved AS (
    UPDATE games
    SET version = %(version)s, head = %(head)s, status = %(status)s, players = %(players)s,
        to_act = %(to_act)s, bot_to_act = %(bot_to_act)s, moved_at = %(moved_at)s
    WHERE id = %(game)s AND version = %(expected)s AND head = %(prev)s
    RETURNING id
), written AS (
    INSERT INTO events (game_id, seq, type, body)
    SELECT moved.id, event.seq, event.type, event.body
    FROM moved,
        unnest(%(seqs)s::int[], %(types)s::text[], %(bodies)s::text[]) AS event (seq, type, body)
), bound AS (
    INSERT INTO idempotency_keys
        (game_id, player_id, route, key, fingerprint, first_seq, last_seq)
    SELECT moved.id, %(player)s::text, %(route)s::text, %(key)s::text, %(fingerprint)s::bytea,
        %(first_seq)s, %(version)s
    FROM moved WHERE %(key)s::text IS NOT NULL
)
SELECT count(*) FROM moved
"""

CREATE = """
WITH created AS (
    INSERT INTO games (id, version, head, status, ruleset, ruleset_version, visibility, sandbox,
        seats, creator, players, to_act, bot_to_act, created_at, moved_at)
    VALUES (%(game)s, %(version)s, %(head)s, %(status)s, %(ruleset)s, %(ruleset_version)s,
        %(visibility)s, %(sandbox)s, %(seats)s, %(creator)s, %(players)s, %(to_act)s,
        %(bot_to_act)s, %(moved_at)s, %(moved_at)s)
), sealed AS (
    INSERT INTO game_secrets (game_id, secret, sealed_with)
    VALUES (%(game)s, %(secret)s, %(sealed_with)s)
), written AS (
    INSERT INTO events (game_id, seq, type, body)
    SELECT %(game)s, event.seq, event.type, event.body
    FROM unnest(%(seqs)s::int[], %(types)s::text[], %(bodies)s::text[]) AS event (seq, type, body)
)
INSERT INTO creation_keys (player_id, route, key, fingerprint, resource_id, version)
SELECT %(player)s::text, %(route)s::text, %(key)s::text, %(fingerprint)s::bytea, %(game)s,
    %(version)s
WHERE %(key)s::text IS NOT NULL
"""


def append(database: Database, frames: Sequence[Frame], key: RequestKey | None = None) -> bool:
    """Write the frames' events and move the head; False if the game has moved meanwhile.

    Binds the key, if there is one, to these events. Raises KeyBound and
    StoreUnavailable.
    """
    before = frames[0].before
    if before is None:
        message = "a new game is created, not appended to"
        raise ValueError(message)
    parameters = {
        **_head(frames),
        **_key(key),
        "expected": before.version,
        "prev": before.head,
        "first_seq": frames[0].event.seq,
    }
    with connection(database) as open_connection:
        return _execute(open_connection, APPEND, parameters) == 1


def create_game(database: Database, frames: Sequence[Frame], key: RequestKey | None = None) -> None:
    """Write a new game: its head, its secret, its first events; binds the key if there is one.

    Raises KeyBound and StoreUnavailable.
    """
    game = frames[-1].after
    parameters = {
        **_head(frames),
        **_key(key),
        "ruleset": game.ruleset.name,
        "ruleset_version": game.ruleset.version,
        "visibility": game.visibility,
        "sandbox": game.sandbox is not None,
        "seats": len(game.occupants),
        "creator": game.creator,
        "secret": database.box.seal(game.secret.value, game.id),
        "sealed_with": database.box.key_id,
    }
    with connection(database) as open_connection:
        _execute(open_connection, CREATE, parameters)


def _execute(open_connection: Connection, statement: str, parameters: dict[str, object]) -> int:
    """Run the statement as it stands; the count that it selects, 0 if it selects nothing."""
    try:
        result = open_connection.exec_driver_sql(statement, parameters)
    except IntegrityError as error:
        if isinstance(error.orig, UniqueViolation) and _is_key(error.orig):
            raise KeyBound from error
        raise
    return int(result.scalar_one()) if result.returns_rows else 0


def _is_key(error: UniqueViolation) -> bool:
    return error.diag.constraint_name in ("pk_idempotency_keys", "pk_creation_keys")


def _head(frames: Sequence[Frame]) -> dict[str, object]:
    """The head row after the frames, and the rows of their events."""
    game = frames[-1].after
    return {
        "game": game.id,
        "version": game.version,
        "head": game.head,
        "status": game.status.value,
        "players": [occupant.player or "" if occupant else "" for occupant in game.occupants],
        "moved_at": datetime.fromisoformat(game.at),
        "seqs": [frame.event.seq for frame in frames],
        "types": [frame.event.type for frame in frames],
        "bodies": [frame.event.line for frame in frames],
        **_turn(game),
    }


def _turn(game: Game) -> dict[str, object]:
    occupant = game.occupant(game.to_act) if game.to_act else None
    if occupant is None:
        return {"to_act": None, "bot_to_act": False}
    return {"to_act": occupant.player, "bot_to_act": occupant.level is not None}


def _key(key: RequestKey | None) -> dict[str, object]:
    if key is None:
        return {"player": None, "route": None, "key": None, "fingerprint": None}
    return {
        "player": key.player,
        "route": key.route,
        "key": key.key,
        "fingerprint": key.fingerprint,
    }
