"""Stream tickets: a key for one stream, used once, for who can't send a header."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta

from service.play.caller import Caller
from service.play.idempotency import shown_once, within_game
from service.play.refusals import Unauthenticated
from service.play.services import Services
from service.play.streaming import Follower
from service.play.tokens import TICKET_PREFIX, digest, is_well_formed, make_token
from service.store import tickets
from service.store.appends import RequestKey

TICKET_LIVES = timedelta(seconds=60)


@dataclass(frozen=True, slots=True)
class NewTicket:
    """A ticket, which is shown this once."""

    token: str = field(repr=False)
    expires_at: datetime


def issue_ticket(
    services: Services, caller: Caller, name: str, request: RequestKey | None
) -> NewTicket:
    """A ticket for the caller to follow a game, or what they are told, by its id.

    Raises SecretAlreadyShown.
    """
    request = within_game(request, name)
    token = make_token(services.draw_token(), TICKET_PREFIX)
    ticket = tickets.Ticket(
        id=services.new_id(),
        name=name,
        player=caller.player,
        key=caller.key,
        expires_at=services.now() + TICKET_LIVES,
    )
    with shown_once(services, request):
        tickets.add_ticket(services.database, ticket, digest(token), request)
    return NewTicket(token, ticket.expires_at)


def use_ticket(services: Services, token: str) -> None:
    """Use the ticket up; raises Unauthenticated if somebody was faster."""
    if not tickets.take_ticket(services.database, digest(token)):
        raise Unauthenticated


def holder_of_ticket(services: Services, token: str, name: str | None = None) -> Follower:
    """Who holds the ticket for what has that name, their own id unless given.

    Raises Unauthenticated.
    """
    found = None
    if is_well_formed(token, TICKET_PREFIX):
        found = tickets.find_ticket(services.database, digest(token), services.now())
    if found is None or found.name != (name or found.player):
        raise Unauthenticated
    return Follower(player=found.player, key=found.key)
