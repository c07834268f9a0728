"""Forgetting a player: every word of theirs, and every way to call as them, in one transaction."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import delete, func, or_, select, update

from service.canonical import JsonMap
from service.store.audit import note
from service.store.database import Database, connection, transaction
from service.store.tables import (
    api_keys,
    dispute_messages,
    disputes,
    games,
    invitations,
    notices,
    players,
    stream_tickets,
    webhooks,
)


def forget(database: Database, player: str, now: datetime, facts: JsonMap) -> bool:
    """Take away the player's name, words, keys, webhooks and notices; False if there is no such.

    That it was done stands in the trail, in the same transaction.
    """
    nameless = (
        update(players)
        .where(players.c.id == player)
        .values(name="", forgotten_at=func.coalesce(players.c.forgotten_at, now))
    )
    own_invitations = or_(invitations.c.player_id == player, invitations.c.invitee_id == player)
    steps = (
        update(api_keys)
        .where(api_keys.c.player_id == player)
        .values(label="", revoked_at=func.coalesce(api_keys.c.revoked_at, now)),
        update(disputes).where(disputes.c.player_id == player).values(statement=""),
        update(dispute_messages)
        .where(dispute_messages.c.author_kind == "player", dispute_messages.c.author_id == player)
        .values(body=""),
        update(invitations)
        .where(own_invitations)
        .values(revoked_at=func.coalesce(invitations.c.revoked_at, now)),
        delete(webhooks).where(webhooks.c.player_id == player),
        delete(notices).where(notices.c.player_id == player),
        delete(stream_tickets).where(stream_tickets.c.player_id == player),
    )
    with transaction(database) as open_connection:
        note(open_connection, facts)
        if not open_connection.execute(nameless).rowcount:
            open_connection.rollback()
            return False
        for step in steps:
            open_connection.execute(step)
        return True


def games_under_way(database: Database, player: str) -> Sequence[tuple[str, str]]:
    """The games that the player sits in, open or running, and which of both they are."""
    query = select(games.c.id, games.c.status).where(
        games.c.players.contains([player]), games.c.status.in_(["open", "active", "held"])
    )
    with connection(database) as open_connection:
        return [(row.id, row.status) for row in open_connection.execute(query)]
