"""The timeline of a game: what was refused or asked again, who came and went; kept for a while."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime

from sqlalchemy import insert, text

from service.store.database import Database, connection, drop_old
from service.store.tables import attempts, connections

TIMELINE = """
SELECT kind, at, key, body FROM (
    SELECT 'event' AS kind, CAST(CAST(body AS json) ->> 'at' AS timestamptz) AS at,
        lpad(CAST(seq AS text), 10, '0') AS key, body
    FROM events WHERE game_id = :game
    UNION ALL
    SELECT CASE code WHEN 'replayed' THEN 'replay' ELSE 'attempt' END, at, tried.id,
        json_build_object(
            'version', version, 'player', tried.player_id, 'key', key_id,
            'key_label', own.label, 'seat', seat, 'code', code, 'rule', rule, 'moves', moves,
            'request', request_id
        )::text
    FROM attempts AS tried LEFT JOIN api_keys AS own ON own.id = key_id WHERE game_id = :game
    UNION ALL
    SELECT 'connection', at, id, json_build_object('player', player_id, 'came', came)::text
    FROM connections WHERE game_id = :game
) AS line
WHERE (CAST(:kind AS text) IS NULL OR kind = :kind)
    AND (CAST(:at AS timestamptz) IS NULL OR (at, kind, key) > (:at, :of_kind, :key))
ORDER BY at, kind, key LIMIT :limit
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """A request to move that wrote nothing: by whom, of which seat, why; `moves` is JSON.

    Its code is that of the refusal, or `replayed` where the request was answered before.
    """

    id: str
    game_id: str
    at: datetime
    version: int
    player_id: str
    key_id: str
    seat: int | None
    code: str
    rule: str | None
    moves: str
    request_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Connected:
    """A player who came to follow a game from a seat, or went."""

    id: str
    game_id: str
    at: datetime
    player_id: str
    came: bool


@dataclass(frozen=True, slots=True)
class Moment:
    """A line of a game's timeline; an event is as it stands in the log."""

    kind: str
    at: datetime
    key: str
    body: str


def add_attempt(database: Database, attempt: Attempt) -> None:
    """Write a refused attempt."""
    with connection(database) as open_connection:
        open_connection.execute(insert(attempts).values(asdict(attempt)))


def timeline(
    database: Database, game: str, kind: str | None, after: Moment | None, limit: int
) -> Sequence[Moment]:
    """What happened in the game and what was tried, in order of time, after that moment."""
    parameters = {
        "game": game,
        "kind": kind,
        "at": after.at if after else None,
        "of_kind": after.kind if after else "",
        "key": after.key if after else "",
        "limit": limit,
    }
    with connection(database) as open_connection:
        return [Moment(*row) for row in open_connection.execute(text(TIMELINE), parameters)]


def drop_old_attempts(database: Database, before: datetime) -> None:
    """Take away what is too old, some of it at a time."""
    drop_old(database, attempts.c.at, before)
    drop_old(database, connections.c.at, before)


def add_connections(database: Database, rows: Sequence[Connected]) -> None:
    """Write who came and who went."""
    with connection(database) as open_connection:
        open_connection.execute(insert(connections), [asdict(row) for row in rows])
