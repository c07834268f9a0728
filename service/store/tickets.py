"""Stream tickets, each taken once."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import delete, insert, select

from service.store.appends import RequestKey
from service.store.database import Database, connection, transaction
from service.store.players import bind_creation
from service.store.tables import stream_tickets


@dataclass(frozen=True, slots=True, kw_only=True)
class Ticket:
    """A ticket without its token: whose, by which key, until when.

    `name` is the id of what it is for: of a game, or of the player themselves.
    """

    id: str
    name: str
    player: str
    key: str
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class Holder:
    """Who holds a ticket, by which key, and for what."""

    name: str
    player: str
    key: str


def add_ticket(
    database: Database, ticket: Ticket, digest: bytes, request: RequestKey | None
) -> None:
    """Write a ticket; raises KeyBound if the request was made before."""
    row = insert(stream_tickets).values(
        digest=digest,
        game_id=ticket.name,
        player_id=ticket.player,
        key_id=ticket.key,
        expires_at=ticket.expires_at,
    )
    with transaction(database) as open_connection:
        open_connection.execute(row)
        bind_creation(open_connection, request, ticket.id)


def find_ticket(database: Database, digest: bytes, now: datetime) -> Holder | None:
    """Who holds the ticket; None if there is none such."""
    query = select(
        stream_tickets.c.game_id, stream_tickets.c.player_id, stream_tickets.c.key_id
    ).where(stream_tickets.c.digest == digest, stream_tickets.c.expires_at > now)
    with connection(database) as open_connection:
        row = open_connection.execute(query).one_or_none()
    return None if row is None else Holder(*row)


def take_ticket(database: Database, digest: bytes) -> bool:
    """Take the ticket away; False if it was gone."""
    query = delete(stream_tickets).where(stream_tickets.c.digest == digest)
    with connection(database) as open_connection:
        return open_connection.execute(query).rowcount == 1


def drop_stale_tickets(database: Database, now: datetime) -> None:
    """Take away what nobody can use any more."""
    with connection(database) as open_connection:
        open_connection.execute(delete(stream_tickets).where(stream_tickets.c.expires_at <= now))
