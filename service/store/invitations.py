"""Invitations, in their table."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import insert, select, update

from service.store.appends import RequestKey
from service.store.database import Database, connection, transaction
from service.store.players import bind_creation
from service.store.tables import invitations


@dataclass(frozen=True, slots=True, kw_only=True)
class Invitation:
    """An invitation without its token: to which game, by whom, until when."""

    id: str
    game: str
    player: str
    expires_at: datetime


def add_invitation(
    database: Database, invitation: Invitation, digest: bytes, request: RequestKey | None
) -> None:
    """Write an invitation; raises KeyBound if the request was made before."""
    row = insert(invitations).values(
        digest=digest,
        id=invitation.id,
        game_id=invitation.game,
        player_id=invitation.player,
        expires_at=invitation.expires_at,
    )
    with transaction(database) as open_connection:
        open_connection.execute(row)
        bind_creation(open_connection, request, invitation.id)


def is_invited(database: Database, digest: bytes, game: str, now: datetime) -> bool:
    """Whether there is a live invitation of that digest to the game."""
    query = select(invitations.c.id).where(
        invitations.c.digest == digest,
        invitations.c.game_id == game,
        invitations.c.expires_at > now,
        invitations.c.revoked_at.is_(None),
    )
    with connection(database) as open_connection:
        return open_connection.scalar(query) is not None


def revoke_invitation(
    database: Database, game: str, invitation: str, player: str, now: datetime
) -> bool:
    """End the player's invitation, for good; False if they never made one of that id."""
    mine = (
        (invitations.c.id == invitation)
        & (invitations.c.game_id == game)
        & (invitations.c.player_id == player)
    )
    end = update(invitations).where(mine, invitations.c.revoked_at.is_(None))
    with connection(database) as open_connection:
        open_connection.execute(end.values(revoked_at=now))
        return open_connection.scalar(select(invitations.c.id).where(mine)) is not None
