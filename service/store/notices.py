"""Notices: what players are told, written by one dispatcher at a time, read by number."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, insert, select, text, update
from sqlalchemy.dialects.postgresql import insert as upsert

from service.store.database import Database, connection, drop_old, transaction
from service.store.invitations import INVITATION, Invitation
from service.store.tables import dispatched, games, invitations, mailboxes, notices, told
from service.store.webhooks import Delivery, Webhook, add_deliveries, webhooks_of

DISPATCH_LOCK = 0x46414E4F
"""The advisory lock that lets one dispatcher in at a time."""

_FRESH = """
SELECT game.id, game.version, game.players, game.to_act, game.deadline_at,
    coalesce(told.seq, 0) AS told
FROM games AS game LEFT JOIN told ON told.game_id = game.id
WHERE game.moved_at >= :since AND game.version > coalesce(told.seq, 0)
ORDER BY game.moved_at, game.id LIMIT :limit
"""

_EVENTS = """
SELECT event.game_id, event.body
FROM unnest(CAST(:games AS text[]), CAST(:told AS int[]), CAST(:upto AS int[]))
    AS fresh (id, told, upto)
JOIN events AS event ON event.game_id = fresh.id
    AND event.seq > fresh.told AND event.seq <= fresh.upto
ORDER BY event.game_id, event.seq
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class FreshGame:
    """A game whose players are to be told what happened: `events` are those after the last told.

    `players` are ids by seat, '' where no player sits; `to_act` is the player
    whose turn it is; `lines` are as they are stored.
    """

    id: str
    version: int
    players: Sequence[str]
    to_act: str | None
    deadline_at: datetime | None
    lines: Sequence[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """What a player is told: `data` is JSON. `number` is 0 before it has one."""

    player: str
    type: str
    game: str
    data: str
    at: datetime
    number: int = 0


@dataclass(frozen=True, slots=True)
class Book:
    """The notices in an open transaction of their one writer."""

    connection: Connection

    def looked_at(self) -> datetime | None:
        """When a dispatcher last saw all that there was; None if none ever did."""
        found: datetime | None = self.connection.scalar(select(dispatched.c.at))
        return found

    def note_looked(self, at: datetime) -> None:
        """All that there was until then is told."""
        row = upsert(dispatched).values(id=1, at=at)
        note = row.on_conflict_do_update(index_elements=[dispatched.c.id], set_={"at": at})
        self.connection.execute(note)

    def fresh_games(self, since: datetime, limit: int) -> Sequence[FreshGame]:
        """Games that moved since then and were not told of, at most that many."""
        parameters = {"since": since, "limit": limit}
        rows = self.connection.execute(text(_FRESH), parameters).mappings().all()
        lines: dict[str, list[str]] = defaultdict(list)
        asked = {
            "games": [row["id"] for row in rows],
            "told": [row["told"] for row in rows],
            "upto": [row["version"] for row in rows],
        }
        for game, body in self.connection.execute(text(_EVENTS), asked) if rows else ():
            lines[game].append(body)
        return [
            FreshGame(
                id=row["id"],
                version=row["version"],
                players=row["players"],
                to_act=row["to_act"],
                deadline_at=row["deadline_at"],
                lines=lines[row["id"]],
            )
            for row in rows
        ]

    def fresh_invitations(self, limit: int) -> Sequence[Invitation]:
        """Invitations by name that nobody was told of; they count as told now."""
        first = select(invitations.c.id).where(~invitations.c.told).limit(limit)
        query = (
            update(invitations)
            .where(invitations.c.id.in_(first))
            .values(told=True)
            .returning(*INVITATION)
        )
        return [Invitation(**row) for row in self.connection.execute(query).mappings()]

    def note_told(self, fresh: Sequence[FreshGame]) -> None:
        """All that happened in these games is told."""
        row = upsert(told)
        note = row.on_conflict_do_update(
            index_elements=[told.c.game_id], set_={"seq": row.excluded.seq}
        )
        rows = [{"game_id": game.id, "seq": game.version} for game in fresh]
        self.connection.execute(note, rows)

    def add(self, fresh: Sequence[Notice]) -> Sequence[Notice]:
        """Write the notices, each with its number."""
        counts: dict[str, int] = defaultdict(int)
        for notice in fresh:
            counts[notice.player] += 1
        numbers = {player: self._reserve(player, counts[player]) for player in sorted(counts)}
        numbered = []
        for notice in fresh:
            number = next(numbers[notice.player])
            row = {
                "player_id": notice.player,
                "number": number,
                "type": notice.type,
                "game_id": notice.game,
                "data": notice.data,
                "at": notice.at,
            }
            numbered.append(row)
        self.connection.execute(insert(notices), numbered)
        return [_notice(row) for row in numbered]

    def webhooks_of(self, players: Collection[str]) -> Sequence[Webhook]:
        """The webhooks of these players."""
        return webhooks_of(self.connection, players)

    def add_deliveries(self, deliveries: Sequence[Delivery]) -> None:
        """Write what is to be delivered to webhooks, with the notices."""
        if deliveries:
            add_deliveries(self.connection, deliveries)

    def _reserve(self, player: str, count: int) -> Iterator[int]:
        """The player's next so many numbers."""
        row = upsert(mailboxes).values(player_id=player, newest=count)
        reserve = row.on_conflict_do_update(
            index_elements=[mailboxes.c.player_id],
            set_={"newest": mailboxes.c.newest + row.excluded.newest},
        ).returning(mailboxes.c.newest)
        newest = self.connection.execute(reserve).scalar_one()
        return iter(range(newest - count + 1, newest + 1))


@contextmanager
def book_for_writing(database: Database) -> Iterator[Book | None]:
    """The notices, for the one who may write them; None while somebody else does."""
    with transaction(database) as open_connection:
        lock = text("SELECT pg_try_advisory_xact_lock(:lock)")
        is_ours = open_connection.scalar(lock, {"lock": DISPATCH_LOCK})
        yield Book(open_connection) if is_ours else None


def read_notices(database: Database, player: str, after: int, limit: int) -> Sequence[Notice]:
    """The player's notices after that number, as far as they are kept."""
    query = (
        select(notices)
        .where(notices.c.player_id == player, notices.c.number > after)
        .order_by(notices.c.number)
        .limit(limit)
    )
    with connection(database) as open_connection:
        return [_notice(row) for row in open_connection.execute(query).mappings()]


def newest_notice(database: Database, player: str) -> int:
    """The number of the player's newest notice; 0 before the first."""
    query = select(mailboxes.c.newest).where(mailboxes.c.player_id == player)
    with connection(database) as open_connection:
        return open_connection.scalar(query) or 0


def drop_old_notices(database: Database, before: datetime) -> None:
    """Take away what is too old to be asked for, some of it at a time."""
    drop_old(database, notices.c.at, before)


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """A game that waits for a player."""

    game: str
    version: int
    deadline_at: datetime | None


def turns_of(database: Database, player: str, limit: int) -> Sequence[Turn]:
    """The games that wait for the player, whoever waits longest first."""
    query = (
        select(games.c.id.label("game"), games.c.version, games.c.deadline_at)
        .where(games.c.players.contains([player]), games.c.to_act == player)
        .order_by(games.c.moved_at)
        .limit(limit)
    )
    with connection(database) as open_connection:
        return [Turn(**row) for row in open_connection.execute(query).mappings()]


def _notice(row: Mapping[Any, Any]) -> Notice:
    return Notice(
        player=row["player_id"],
        number=row["number"],
        type=row["type"],
        game=row["game_id"],
        data=row["data"],
        at=row["at"],
    )
