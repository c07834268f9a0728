"""Invitations: a secret that lets whoever has it sit down at a private table."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta

from service.log.game import Game, Status
from service.play.games import find_game
from service.play.idempotency import shown_once, within_game
from service.play.ids import is_id
from service.play.refusals import (
    FieldError,
    GameNotFound,
    GameNotOpen,
    InvalidBody,
    InvitationNotFound,
    NotSeated,
)
from service.play.services import Services
from service.play.tokens import INVITATION_PREFIX, digest, is_well_formed, make_token
from service.store import invitations
from service.store.appends import RequestKey
from service.store.players import find_player


@dataclass(frozen=True, slots=True)
class NewInvitation:
    """An invitation, whose token is shown this once."""

    id: str
    token: str = field(repr=False)
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class InvitationRequest:
    """How many seconds an invitation is good for, and who is invited by name, if somebody is."""

    seconds: int
    player: str | None = None


def invite(
    services: Services, player: str, game: str, asked: InvitationRequest, key: RequestKey | None
) -> NewInvitation:
    """Invite to an open game that one opened or sits in.

    Who is invited by name is told, and needs no token. Raises GameNotFound,
    NotSeated, GameNotOpen, InvalidBody and SecretAlreadyShown.
    """
    found = find_game(services, game, player)
    key = within_game(key, game)
    with shown_once(services, key):
        return _invite(services, player, found, asked, key)


def _invite(
    services: Services, player: str, found: Game, asked: InvitationRequest, key: RequestKey | None
) -> NewInvitation:
    if player != found.setup.creator and not found.seats_of(player):
        raise NotSeated
    if found.status is not Status.OPEN:
        raise GameNotOpen(game_status=found.status.value)
    if asked.player is not None and find_player(services.database, asked.player) is None:
        raise InvalidBody([FieldError("/player", "There is no such player.")])
    token = make_token(services.draw_token(), INVITATION_PREFIX)
    made = invitations.Invitation(
        id=services.new_id(),
        game=found.id,
        player=player,
        expires_at=services.now() + timedelta(seconds=asked.seconds),
        invitee=asked.player,
    )
    invitations.add_invitation(services.database, made, digest(token), key)
    return NewInvitation(made.id, token, made.expires_at)


def revoke_invitation(services: Services, player: str, game: str, invitation: str) -> None:
    """End an invitation of one's own; doing it twice is no fault. Raises InvitationNotFound."""
    is_there = is_id(invitation) and invitations.revoke_invitation(
        services.database, game, invitation, player, services.now()
    )
    if not is_there:
        raise InvitationNotFound


def admit(services: Services, player: str, game: str, invitation: object) -> None:
    """Raise GameNotFound unless the player may know of the game, or is invited to it."""
    try:
        find_game(services, game, player)
    except GameNotFound:
        is_token = isinstance(invitation, str) and is_well_formed(invitation, INVITATION_PREFIX)
        shown = digest(str(invitation)) if is_token else None
        if not is_id(game) or not invitations.is_invited(
            services.database, game, player, shown, services.now()
        ):
            raise
