"""Games past their age: which they are, and taking them away, as the owner of the tables.

What is left of one is a row that says what it was: its head stays in the
checkpoints, and its export is a file of whoever runs the service.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime

from sqlalchemy import ColumnElement, delete, exists, insert, or_, select, text

from service.canonical import JsonMap
from service.store.audit import note
from service.store.database import Database, connection, transaction
from service.store.disputes import OPEN
from service.store.tables import (
    ENDED,
    attempts,
    connections,
    dispute_messages,
    disputes,
    events,
    game_secrets,
    games,
    hidden_read_requests,
    hidden_reads,
    idempotency_keys,
    invitations,
    presence,
    rematches,
    retained_games,
    rulings,
    stream_tickets,
    told,
    tree_leaves,
)

OF_A_GAME = (
    attempts,
    connections,
    hidden_read_requests,
    hidden_reads,
    idempotency_keys,
    invitations,
    presence,
    rematches,
    rulings,
    stream_tickets,
    told,
    disputes,
    events,
    game_secrets,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Retained:
    """What is left of a game; `players` are those who knew of it, who opened it among them."""

    game_id: str
    version: int
    head: str
    status: str
    ruleset: str
    ruleset_version: str
    visibility: str
    players: Sequence[str]
    export_sha256: str
    removed_at: datetime


def find_retained(database: Database, game: str) -> Retained | None:
    """What is left of the game, if it was removed."""
    query = select(retained_games).where(retained_games.c.game_id == game)
    with connection(database) as open_connection:
        row = open_connection.execute(query).mappings().one_or_none()
    return Retained(**row) if row else None


def may_remove(database: Database) -> bool:
    """Whether this role may take a game away: the tables' owner may, the service's own may not."""
    query = text("SELECT has_table_privilege('games', 'DELETE')")
    with connection(database) as open_connection:
        return bool(open_connection.execute(query).scalar_one())


def games_past(database: Database, before: datetime, after: str, limit: int) -> Sequence[str]:
    """Games that ended before that time and are settled, by id, from after one of them."""
    query = select(games.c.id).where(games.c.id > after, *_settled(before))
    with connection(database) as open_connection:
        return list(open_connection.execute(query.order_by(games.c.id).limit(limit)).scalars())


def _settled(before: datetime) -> Sequence[ColumnElement[bool]]:
    """What must hold of a game that may go.

    It ended before that time, a checkpoint holds its head, no dispute is open,
    and nothing is left to be told to its players. An appeal needs a game that
    is there, so what was ruled on later than that time stays, too.
    """
    is_disputed = exists().where(
        disputes.c.game_id == games.c.id,
        or_(disputes.c.status.in_(OPEN), disputes.c.closed_at >= before),
    )
    is_untold = exists().where(hidden_reads.c.game_id == games.c.id, ~hidden_reads.c.disclosed)
    is_in_tree = exists().where(
        tree_leaves.c.game_id == games.c.id,
        tree_leaves.c.seq == games.c.version,
        tree_leaves.c.head == games.c.head,
    )
    has_ended = games.c.status.in_(ENDED)
    return (has_ended, games.c.moved_at < before, ~is_disputed, ~is_untold, is_in_tree)


def remove(database: Database, left: Retained, before: datetime, facts: JsonMap) -> bool:
    """Take the game away, but for what is left of it and a line in the trail.

    False, and nothing is done, if it is not any more what was exported, or not
    settled any more: looked at again once nobody can write to it.
    """
    head = select(games.c.version, games.c.head).where(
        games.c.id == left.game_id, *_settled(before)
    )
    lock = select(games.c.id).where(games.c.id == left.game_id).with_for_update()
    own = select(disputes.c.id).where(disputes.c.game_id == left.game_id)
    with transaction(database) as open_connection:
        open_connection.execute(lock)
        row = open_connection.execute(head).one_or_none()
        if row is None or tuple(row) != (left.version, left.head):
            return False
        note(open_connection, facts)
        open_connection.execute(insert(retained_games).values(asdict(left)))
        messages = delete(dispute_messages).where(dispute_messages.c.dispute_id.in_(own))
        open_connection.execute(messages)
        for table in OF_A_GAME:
            open_connection.execute(delete(table).where(table.c.game_id == left.game_id))
        open_connection.execute(delete(games).where(games.c.id == left.game_id))
        return True
