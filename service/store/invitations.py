"""Invitations, in their table."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import ColumnElement, and_, insert, or_, select, update

from service.store.appends import RequestKey
from service.store.database import Database, connection, transaction
from service.store.players import bind_creation
from service.store.tables import games, invitations

INVITATIONS_AT_MOST = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Invitation:
    """An invitation without its token: to which game, by whom, until when, and to whom by name."""

    id: str
    game: str
    player: str
    expires_at: datetime
    invitee: str | None = None


INVITATION = (
    invitations.c.id,
    invitations.c.game_id.label("game"),
    invitations.c.player_id.label("player"),
    invitations.c.expires_at,
    invitations.c.invitee_id.label("invitee"),
)
"""What of a row makes an Invitation."""


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
        invitee_id=invitation.invitee,
        told=invitation.invitee is None,
    )
    with transaction(database) as open_connection:
        open_connection.execute(row)
        bind_creation(open_connection, request, invitation.id)


def is_invited(
    database: Database, game: str, player: str, digest: bytes | None, now: datetime
) -> bool:
    """Whether there is a live invitation to the game: of that digest, or to the player by name."""
    query = select(invitations.c.id).where(
        invitations.c.game_id == game,
        or_(invitations.c.digest == digest, invitations.c.invitee_id == player),
        _is_live(now),
    )
    with connection(database) as open_connection:
        return open_connection.scalar(query.limit(1)) is not None


def invitations_of(database: Database, player: str, now: datetime) -> Sequence[Invitation]:
    """The live invitations to the player by name, to games that still wait for players."""
    query = (
        select(*INVITATION)
        .join(games, games.c.id == invitations.c.game_id)
        .where(
            invitations.c.invitee_id == player,
            games.c.status == "open",
            ~games.c.players.contains([player]),
            _is_live(now),
        )
        .order_by(invitations.c.id.desc())
        .limit(INVITATIONS_AT_MOST)
    )
    with connection(database) as open_connection:
        return [Invitation(**row) for row in open_connection.execute(query).mappings()]


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


def _is_live(now: datetime) -> ColumnElement[bool]:
    return and_(invitations.c.expires_at > now, invitations.c.revoked_at.is_(None))
