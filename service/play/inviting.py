"""Invitations: a secret that lets whoever has it sit down at a private table."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta

from service.log.game import Game, Status
from service.play.games import find_game
from service.play.idempotency import shown_once, within_game
from service.play.ids import is_id
from service.play.refusals import GameNotFound, GameNotOpen, InvitationNotFound, NotSeated
from service.play.services import Services
from service.play.tokens import INVITATION_PREFIX, digest, is_well_formed, make_token
from service.store import invitations
from service.store.appends import RequestKey


@dataclass(frozen=True, slots=True)
class NewInvitation:
    """An invitation, whose token is shown this once."""

    id: str
    token: str = field(repr=False)
    expires_at: datetime


def invite(
    services: Services, player: str, game: str, seconds: int, request: RequestKey | None
) -> NewInvitation:
    """Invite to an open game that one opened or sits in.

    Raises GameNotFound, NotSeated, GameNotOpen and SecretAlreadyShown.
    """
    found = find_game(services, game, player)
    request = within_game(request, game)
    with shown_once(services, request):
        return _invite(services, player, found, seconds, request)


def _invite(
    services: Services, player: str, found: Game, seconds: int, request: RequestKey | None
) -> NewInvitation:
    if player != found.setup.creator and not found.seats_of(player):
        raise NotSeated
    if found.status is not Status.OPEN:
        raise GameNotOpen(game_status=found.status.value)
    token = make_token(services.draw_token(), INVITATION_PREFIX)
    made = invitations.Invitation(
        id=services.new_id(),
        game=found.id,
        player=player,
        expires_at=services.now() + timedelta(seconds=seconds),
    )
    invitations.add_invitation(services.database, made, digest(token), request)
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
        if not is_token or not invitations.is_invited(
            services.database, digest(str(invitation)), game, services.now()
        ):
            raise
