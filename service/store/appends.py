"""The append: one statement, one round trip, all or nothing.

The head row moves only from the expected version and hash, and the events are
written only if it moved. A caller that lost the race is told so by a value; a
key that is bound already is told by its constraint's name.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache

from psycopg.errors import UniqueViolation

from service.log.game import Game
from service.log.steps import Frame
from service.proof.receipts import Receipt, sign_head
from service.store.database import Database, RawConnection, raw_connection
from service.store.deadlines import deadline_of


class KeyBound(Exception):
    """The idempotency key was bound by another request, a moment ago; nothing was written."""


class GameExists(Exception):
    """There is a game of that id already; nothing was written."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestKey:
    """An idempotency key in its scope; `fingerprint` is the SHA-256 of the canonical body."""

    player: str
    route: str
    key: str
    fingerprint: bytes


_APPEND = """
WITH moved AS (
    UPDATE games
    SET version = %(version)s, head = %(head)s, status = %(status)s,
        players = coalesce(%(players)s, players), to_act = %(to_act)s,
        bot_to_act = %(bot_to_act)s, moved_at = %(moved_at)s, deadline_at = %(deadline_at)s
    WHERE id = %(game)s AND version = %(expected)s AND head = %(prev)s
    RETURNING id
), written AS (
    INSERT INTO events (game_id, seq, type, body, signed_with, signature)
    SELECT moved.id, event.seq, event.type, event.body, {signed}
    FROM moved, (VALUES {events}) AS event (seq, type, body)
), bound AS (
    INSERT INTO idempotency_keys
        (game_id, player_id, route, key, fingerprint, first_seq, last_seq)
    SELECT moved.id, %(player)s::text, %(route)s::text, %(key)s::text, %(fingerprint)s::bytea,
        %(seq0)s, %(version)s
    FROM moved WHERE %(key)s::text IS NOT NULL
)
SELECT count(*) FROM moved
"""

_CREATE = """
WITH created AS (
    INSERT INTO games (id, version, head, status, ruleset, ruleset_version, visibility, sandbox,
        spectators, seats, creator, players, to_act, bot_to_act, created_at, moved_at, deadline_at)
    VALUES (%(game)s, %(version)s, %(head)s, %(status)s, %(ruleset)s, %(ruleset_version)s,
        %(visibility)s, %(sandbox)s, %(spectators)s, %(seats)s, %(creator)s,
        %(players)s, %(to_act)s, %(bot_to_act)s, %(moved_at)s, %(moved_at)s, %(deadline_at)s)
), sealed AS (
    INSERT INTO game_secrets (game_id, secret, sealed_with)
    VALUES (%(game)s, %(secret)s, %(sealed_with)s)
), written AS (
    INSERT INTO events (game_id, seq, type, body, signed_with, signature)
    SELECT %(game)s, event.seq, event.type, event.body, {signed}
    FROM (VALUES {events}) AS event (seq, type, body)
), bound AS (
    INSERT INTO creation_keys (player_id, route, key, fingerprint, resource_id, version)
    SELECT %(player)s::text, %(route)s::text, %(key)s::text, %(fingerprint)s::bytea, %(game)s,
        %(version)s
    WHERE %(key)s::text IS NOT NULL
)
SELECT 1
"""

_SIGNED = """
        CASE WHEN event.seq = %(version)s THEN %(signed_with)s::text END,
        CASE WHEN event.seq = %(version)s THEN %(signature)s::text END
"""
"""The receipt stands beside the event that it is for, the last one of its append."""


@cache
def append_statement(events: int) -> str:
    """The append of that many events."""
    return _APPEND.format(events=_rows(events), signed=_SIGNED)


@cache
def create_statement(events: int) -> str:
    """The same for a new game."""
    return _CREATE.format(events=_rows(events), signed=_SIGNED)


def _rows(events: int) -> str:
    """A row of parameters for each event: cheaper to send than arrays, and as short."""
    return ", ".join(
        f"(%(seq{index})s::int, %(type{index})s::text, %(body{index})s::text)"
        for index in range(events)
    )


def append(
    database: Database, frames: Sequence[Frame], key: RequestKey | None = None
) -> Receipt | None:
    """Write the frames' events and move the head; None if the game has moved meanwhile.

    Binds the key, if there is one, to these events. Raises KeyBound and
    StoreUnavailable.
    """
    before, after = frames[0].before, frames[-1].after
    if before is None:
        message = "a new game is created, not appended to"
        raise ValueError(message)
    receipt = _receipt(database, after)
    parameters = {
        **_head(frames, receipt),
        **_key(key),
        "players": _players(after) if after.occupants != before.occupants else None,
        "expected": before.version,
        "prev": before.head,
    }
    with raw_connection(database) as raw:
        moved = _execute(raw, append_statement(len(frames)), parameters)
    return receipt if moved else None


def create_game(
    database: Database, frames: Sequence[Frame], key: RequestKey | None = None
) -> Receipt:
    """Write a new game: its head, its secret, its first events; binds the key if there is one.

    Raises GameExists, KeyBound and StoreUnavailable.
    """
    game = frames[-1].after
    receipt = _receipt(database, game)
    parameters = {
        **_head(frames, receipt),
        **_key(key),
        "players": _players(game),
        "ruleset": game.ruleset.name,
        "ruleset_version": game.ruleset.version,
        "visibility": game.setup.visibility,
        "sandbox": game.setup.sandbox is not None,
        "spectators": game.setup.spectators,
        "seats": len(game.occupants),
        "creator": game.setup.creator,
        "secret": database.box.seal(game.setup.secret.value, game.id),
        "sealed_with": database.box.key_id,
    }
    with raw_connection(database) as raw:
        _execute(raw, create_statement(len(frames)), parameters)
    return receipt


def _receipt(database: Database, game: Game) -> Receipt:
    """The service's signature under the game as it is about to be."""
    return sign_head(database.keyring.signer(), game.id, game.version, game.head)


def _execute(raw: RawConnection, statement: str, parameters: Mapping[str, object]) -> int:
    """Run the statement as it stands; the count that it selects."""
    try:
        cursor = raw.execute(statement, parameters)
    except UniqueViolation as error:
        table = error.diag.table_name or ""  # a part of a table has names of its own
        if table.startswith(("idempotency_keys", "creation_keys")):
            raise KeyBound from error
        if table.startswith(("games", "game_secrets", "events")):
            raise GameExists from error
        raise
    row = cursor.fetchone()
    return int(row[0]) if row else 0


def _head(frames: Sequence[Frame], receipt: Receipt) -> dict[str, object]:
    """The head row after the frames, and the rows of their events."""
    game = frames[-1].after
    row: dict[str, object] = {
        "game": game.id,
        "version": game.version,
        "head": game.head,
        "status": game.status.value,
        "moved_at": datetime.fromisoformat(game.at),
        "deadline_at": deadline_of(game),
        "signed_with": receipt.key,
        "signature": receipt.signature,
        **_turn(game),
    }
    for index, frame in enumerate(frames):
        row[f"seq{index}"] = frame.event.seq
        row[f"type{index}"] = frame.event.type
        row[f"body{index}"] = frame.event.line
    return row


def _players(game: Game) -> list[str]:
    """The players' ids by seat, of who sits there or may come back; '' where nobody does."""
    sitting = (occupant.player if occupant else None for occupant in game.occupants)
    return [player or away or "" for player, away in zip(sitting, game.away, strict=True)]


def _turn(game: Game) -> dict[str, object]:
    occupant = game.occupant_to_act
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
