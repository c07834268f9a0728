"""Who is there, for a few seconds at a time."""

from collections.abc import Collection, Mapping
from datetime import datetime

from sqlalchemy import delete, select, tuple_
from sqlalchemy.dialects.postgresql import insert

from service.store.database import Database, connection
from service.store.tables import presence

Pair = tuple[str, str]
"""A game, and a player who follows it."""


def note_present(
    database: Database, process: str, pairs: Collection[Pair], until: datetime
) -> None:
    """These are there until then, by what this process knows."""
    rows = [
        {"game_id": game, "player_id": player, "process": process, "until": until}
        for game, player in sorted(pairs)
    ]
    row = insert(presence)
    note = row.on_conflict_do_update(
        index_elements=[presence.c.game_id, presence.c.player_id, presence.c.process],
        set_={"until": row.excluded.until},
    )
    with connection(database) as open_connection:
        open_connection.execute(note, rows)


def note_gone(database: Database, process: str, pairs: Collection[Pair]) -> None:
    """These left this process."""
    gone = delete(presence).where(
        presence.c.process == process,
        tuple_(presence.c.game_id, presence.c.player_id).in_(sorted(pairs)),
    )
    with connection(database) as open_connection:
        open_connection.execute(gone)


def find_present(
    database: Database, games: Collection[str], now: datetime
) -> Mapping[str, frozenset[str]]:
    """The players who are there, by game."""
    query = (
        select(presence.c.game_id, presence.c.player_id)
        .where(presence.c.game_id.in_(games), presence.c.until > now)
        .distinct()
    )
    found: dict[str, set[str]] = {game: set() for game in games}
    with connection(database) as open_connection:
        for game, player in open_connection.execute(query):
            found[game].add(player)
    return {game: frozenset(players) for game, players in found.items()}


def drop_stale_presence(database: Database, now: datetime) -> None:
    """Take away what was not renewed."""
    with connection(database) as open_connection:
        open_connection.execute(delete(presence).where(presence.c.until <= now))
