"""Lists of games: the lobby, a player's own games, and those in which a bot is to act."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import func, literal, or_, select

from service.store.database import Database, connection
from service.store.tables import games


@dataclass(frozen=True, slots=True, kw_only=True)
class GameRow:
    """A game as lists show it; `players` are ids by seat, '' where no player sits."""

    id: str
    version: int
    status: str
    ruleset: str
    ruleset_version: str
    visibility: str
    spectators: str
    sandbox: bool
    seats: int
    creator: str
    players: Sequence[str]
    to_act: str | None
    created_at: datetime
    moved_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class GameFilter:
    """Which games to list, as `viewer` may see them; None asks for nothing in particular.

    `before` is the id that the page begins after, newest first.
    """

    viewer: str | None
    status: str | None = None
    ruleset: str | None = None
    player: str | None = None
    turn: str | None = None
    sandbox: bool = False
    before: str | None = None
    limit: int


_COLUMNS = (
    games.c.id,
    games.c.version,
    games.c.status,
    games.c.ruleset,
    games.c.ruleset_version,
    games.c.visibility,
    games.c.spectators,
    games.c.sandbox,
    games.c.seats,
    games.c.creator,
    games.c.players,
    games.c.to_act,
    games.c.created_at,
    games.c.moved_at,
)


def list_games(database: Database, wanted: GameFilter) -> Sequence[GameRow]:
    """The games that the filter asks for, newest first."""
    viewer = wanted.viewer or ""
    query = select(*_COLUMNS).order_by(games.c.id.desc()).limit(wanted.limit)
    query = query.where(
        games.c.sandbox == wanted.sandbox,
        or_(
            games.c.visibility == "public",
            games.c.players.contains([viewer]) if viewer else literal(value=False),
            games.c.creator == viewer,
        ),
    )
    if wanted.status is not None:
        query = query.where(games.c.status == wanted.status)
    if wanted.ruleset is not None:
        query = query.where(games.c.ruleset == wanted.ruleset)
    if wanted.player is not None:
        query = query.where(games.c.players.contains([wanted.player]))
    if wanted.turn is not None:
        query = query.where(games.c.to_act == wanted.turn)
    if wanted.before is not None:
        query = query.where(games.c.id < wanted.before)
    with connection(database) as open_connection:
        return [GameRow(**row) for row in open_connection.execute(query).mappings()]


def games_waiting_for_bots(database: Database, quiet_since: datetime, limit: int) -> Sequence[str]:
    """Games in which a bot is to act and nothing has happened since then."""
    query = (
        select(games.c.id)
        .where(games.c.bot_to_act, games.c.moved_at < quiet_since)
        .order_by(func.random())  # several workers begin at different ones
        .limit(limit)
    )
    with connection(database) as open_connection:
        return open_connection.execute(query).scalars().all()
