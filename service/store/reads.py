"""Reading a game's log: whole, since a version, or just enough to go on.

Each read is one statement, so what it gives is of one moment.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from service.fairness import SealedDealer
from service.log.events import Event, parse_event
from service.log.game import DealerFactory, Secret
from service.store.appends import RequestKey
from service.store.database import Database, raw_connection

NEWEST = 2**31 - 1
"""Past every version that a game can have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Binding:
    """What an idempotency key is bound to: the events that its request wrote."""

    fingerprint: bytes
    first_seq: int
    last_seq: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Tail:
    """A game's events after some version, and its newest version.

    `binding` is of the idempotency key that was asked for, if it is bound.
    """

    version: int
    events: Sequence[Event]
    binding: Binding | None


COLD = """
SELECT secret.secret, secret.sealed_with, line.body
FROM games AS game
JOIN game_secrets AS secret ON secret.game_id = game.id
CROSS JOIN LATERAL (
    SELECT coalesce(max(seq), 1) AS seq FROM events
    WHERE game_id = game.id AND type <> 'move' AND type = 'round_started' AND seq <= %(at)s
) AS round
CROSS JOIN LATERAL (
    SELECT seq, body FROM events
    WHERE game_id = game.id AND seq < round.seq AND type <> 'move'
        AND type NOT IN ('round_started', 'round_ended')
    UNION ALL
    SELECT seq, body FROM events
    WHERE game_id = game.id AND seq BETWEEN round.seq AND %(at)s
) AS line
WHERE game.id = %(game)s
ORDER BY line.seq
"""

TAIL = """
SELECT game.version, bound.fingerprint, bound.first_seq, bound.last_seq, line.body
FROM games AS game
LEFT JOIN idempotency_keys AS bound
    ON bound.game_id = game.id AND bound.player_id = %(player)s AND bound.route = %(route)s
    AND bound.key = %(key)s
LEFT JOIN events AS line ON line.game_id = game.id AND line.seq > %(after)s
WHERE game.id = %(game)s
ORDER BY line.seq
"""

LINES = """
SELECT body FROM events
WHERE game_id = %(game)s AND seq > %(after)s AND seq <= %(upto)s ORDER BY seq LIMIT %(limit)s
"""


def load(
    database: Database, game: str, dealer: DealerFactory = SealedDealer.of, at: int = NEWEST
) -> tuple[Secret, Sequence[Event]] | None:
    """The game's secret, and the events that set it up and those since the last deal up to `at`.

    None if there is no such game.
    """
    parameters = {"game": game, "at": at}
    with raw_connection(database) as raw:
        rows = raw.execute(COLD, parameters).fetchall()
    if not rows:
        return None
    stored, sealed_with, _ = rows[0]
    secret = Secret(database.box.open(stored, sealed_with, game), dealer)
    return secret, [parse_event(body) for _, _, body in rows]


def read_tail(
    database: Database, game: str, after: int, key: RequestKey | None = None
) -> Tail | None:
    """What happened in the game after that version; None if there is no such game."""
    parameters = {
        "game": game,
        "after": after,
        "player": key.player if key else "",
        "route": key.route if key else "",
        "key": key.key if key else "",
    }
    with raw_connection(database) as raw:
        rows = raw.execute(TAIL, parameters).fetchall()
    if not rows:
        return None
    version, fingerprint, first_seq, last_seq, _ = rows[0]
    bound = fingerprint is not None
    return Tail(
        version=version,
        events=[parse_event(row[-1]) for row in rows if row[-1] is not None],
        binding=Binding(fingerprint=fingerprint, first_seq=first_seq, last_seq=last_seq)
        if bound
        else None,
    )


def read_events(
    database: Database, game: str, after: int, upto: int = NEWEST, limit: int = NEWEST
) -> Sequence[Event]:
    """The game's events after one version and up to another, at most that many."""
    parameters = {"game": game, "after": after, "upto": upto, "limit": limit}
    with raw_connection(database) as raw:
        return [parse_event(body) for (body,) in raw.execute(LINES, parameters)]
