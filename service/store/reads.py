"""Reading a game's log: whole, since a version, or just enough to go on.

Each read is one statement, so what it gives is of one moment.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from service.fairness import SealedDealer
from service.log.events import Event, parse_event
from service.log.game import DealerFactory, Secret
from service.proof.receipts import Receipt
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


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredGame:
    """A game as its rows say it, unread: for who checks them against each other.

    `rows` are the events' seq, type and line; `secret` is None where its row is missing.
    """

    version: int
    head: str
    ruleset: str
    ruleset_version: str
    secret: bytes | None = field(repr=False)
    rows: Sequence[tuple[int, str, str]] = field(repr=False)


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
    WHERE game_id = game.id AND seq < round.seq AND type <> 'move' AND type <> 'round_ended'
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

SIGNED = """
SELECT body, signed_with, signature FROM events WHERE game_id = %(game)s AND seq = %(seq)s
"""

HEAD = """
SELECT seq FROM events
WHERE game_id = %(game)s AND strpos(body, %(member)s) > 0 AND signature IS NOT NULL
"""
"""A hash is a member of that name in no event but its own; only signed events were heads."""

STORED = """
SELECT game.version, game.head, game.ruleset, game.ruleset_version, secret.secret,
    secret.sealed_with
FROM games AS game
LEFT JOIN game_secrets AS secret ON secret.game_id = game.id
WHERE game.id = %(game)s
"""

ROWS = """
SELECT seq, type, body FROM events WHERE game_id = %(game)s ORDER BY seq
"""

HEADS = """
SELECT id, head FROM games WHERE id > %(after)s ORDER BY id LIMIT %(limit)s
"""

TAILS = """
SELECT game.id, game.version, event.body
FROM unnest(%(games)s::text[], %(after)s::int[]) AS known (id, version)
JOIN games AS game ON game.id = known.id
LEFT JOIN events AS event ON event.game_id = game.id AND event.seq > known.version
    AND event.seq <= game.version
ORDER BY game.id, event.seq
"""

MILESTONES = """
SELECT body FROM events
WHERE game_id = %(game)s AND type = ANY(%(kinds)s) AND type <> 'move' ORDER BY seq
"""

FINISHED = """
SELECT id FROM games
WHERE status = 'finished' AND NOT sandbox AND id > %(after)s ORDER BY id LIMIT %(limit)s
"""

ORPHANS = """
SELECT DISTINCT game_id FROM events AS event
WHERE NOT EXISTS (SELECT FROM games WHERE id = event.game_id) ORDER BY game_id
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


def read_tails(database: Database, after: Mapping[str, int]) -> Mapping[str, Tail]:
    """What happened in each game after the version given for it; games that aren't are left out."""
    parameters = {"games": list(after), "after": list(after.values())}
    with raw_connection(database) as raw:
        rows = raw.execute(TAILS, parameters).fetchall()
    versions = {game: version for game, version, _ in rows}
    events: dict[str, list[Event]] = {game: [] for game in versions}
    for game, _, body in rows:
        if body is not None:
            events[game].append(parse_event(body))
    return {
        game: Tail(version=version, events=events[game], binding=None)
        for game, version in versions.items()
    }


def read_events(
    database: Database, game: str, after: int, upto: int = NEWEST, limit: int = NEWEST
) -> Sequence[Event]:
    """The game's events after one version and up to another, at most that many."""
    return [parse_event(line) for line in read_lines(database, game, after, upto, limit)]


def read_lines(
    database: Database, game: str, after: int, upto: int = NEWEST, limit: int = NEWEST
) -> Sequence[str]:
    """The same as the lines that are stored."""
    parameters = {"game": game, "after": after, "upto": upto, "limit": limit}
    with raw_connection(database) as raw:
        return [body for (body,) in raw.execute(LINES, parameters)]


def read_milestones(database: Database, game: str, *kinds: str) -> Sequence[Event]:
    """The game's events of these types, in order; `move` is none of them."""
    parameters = {"game": game, "kinds": list(kinds)}
    with raw_connection(database) as raw:
        return [parse_event(body) for (body,) in raw.execute(MILESTONES, parameters)]


def finished_games(database: Database, after: str, limit: int) -> Sequence[str]:
    """Games that were played to their end, sandbox games excepted, by their ids."""
    parameters = {"after": after, "limit": limit}
    with raw_connection(database) as raw:
        return [game for (game,) in raw.execute(FINISHED, parameters)]


def read_receipt(database: Database, game: str, seq: int) -> Receipt | None:
    """The receipt for an event that was the last of its append; LookupError if there is no event.

    None for what was written before receipts were, and for what somebody
    slipped in: nothing is ever signed because it stands in the database.
    """
    with raw_connection(database) as raw:
        row = raw.execute(SIGNED, {"game": game, "seq": seq}).fetchone()
    if row is None:
        message = f"game {game} has no event {seq}"
        raise LookupError(message)
    body, signed_with, signature = row
    if signed_with is None or signature is None:
        return None
    head = parse_event(body).hash
    return Receipt(game=game, seq=seq, hash=head, key=signed_with, signature=signature)


def find_head(database: Database, game: str, head: str) -> int | None:
    """The seq of the event with that hash, if it was ever the game's last."""
    with raw_connection(database) as raw:
        row = raw.execute(HEAD, {"game": game, "member": f'"hash":"{head}"'}).fetchone()
    return None if row is None else int(row[0])


def stored_game(database: Database, game: str) -> StoredGame | None:
    """The game's rows, as they are; None if its head row is missing."""
    with raw_connection(database) as raw:
        head_row = raw.execute(STORED, {"game": game}).fetchone()
        rows = raw.execute(ROWS, {"game": game}).fetchall()
    if head_row is None:
        return None
    version, head, ruleset, ruleset_version, secret, sealed_with = head_row
    opened = None if secret is None else database.box.open(secret, sealed_with, game)
    return StoredGame(
        version=version,
        head=head,
        ruleset=ruleset,
        ruleset_version=ruleset_version,
        secret=opened,
        rows=[(seq, kind, body) for seq, kind, body in rows],
    )


def heads_after(database: Database, game: str, limit: int) -> Sequence[tuple[str, str]]:
    """Ids and heads of the next games by id, at most that many."""
    with raw_connection(database) as raw:
        rows = raw.execute(HEADS, {"after": game, "limit": limit}).fetchall()
    return [(found, head) for found, head in rows]


def orphans(database: Database) -> Sequence[str]:
    """Ids under which there are events and no game."""
    with raw_connection(database) as raw:
        return [game for (game,) in raw.execute(ORPHANS)]


def count_games(database: Database) -> int:
    """How many games there are."""
    with raw_connection(database) as raw:
        row = raw.execute("SELECT count(*) FROM games").fetchone()
    return int(row[0]) if row else 0
