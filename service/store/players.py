"""Players and their keys."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta

from psycopg.errors import UniqueViolation
from sqlalchemy import ColumnElement, Connection, and_, func, insert, or_, select, update
from sqlalchemy.exc import IntegrityError

from service.store.appends import KeyBound, RequestKey
from service.store.database import Database, connection, transaction
from service.store.tables import api_keys, creation_keys, players

LAST_USE_GRAIN = timedelta(minutes=1)
"""The last use of a key is written down at most this often."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Player:
    """An account; `kind` is `human` or `bot`. Without a name once it was forgotten."""

    id: str
    name: str
    kind: str
    created_at: datetime
    forgotten_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiKey:
    """A key of a player, without its token.

    None where it does not expire, was not used yet, is not revoked.
    """

    id: str
    player_id: str
    label: str
    scopes: Sequence[str]
    created_at: datetime
    expires_at: datetime | None = None
    last_used_at: datetime | None = None
    revoked_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Creation:
    """What an idempotency key is bound to where a request made something new."""

    fingerprint: bytes
    resource_id: str
    version: int


_KEY = (
    api_keys.c.id,
    api_keys.c.player_id,
    api_keys.c.label,
    api_keys.c.scopes,
    api_keys.c.created_at,
    api_keys.c.expires_at,
    api_keys.c.last_used_at,
    api_keys.c.revoked_at,
)


def add_player(database: Database, player: Player, key: ApiKey, digest: bytes) -> None:
    """Write a new player and their first key."""
    with transaction(database) as open_connection:
        open_connection.execute(insert(players).values(asdict(player)))
        open_connection.execute(insert(api_keys).values(**asdict(key), digest=digest))


def add_key(
    database: Database, key: ApiKey, digest: bytes, request: RequestKey | None = None
) -> None:
    """Write another key of a player; raises KeyBound if the request was made before."""
    with transaction(database) as open_connection:
        open_connection.execute(insert(api_keys).values(**asdict(key), digest=digest))
        bind_creation(open_connection, request, key.id)


def bind_creation(open_connection: Connection, request: RequestKey | None, resource: str) -> None:
    """Bind the request's key, if it has one, to what it made; raises KeyBound."""
    if request is None:
        return
    binding = insert(creation_keys).values(
        player_id=request.player,
        route=request.route,
        key=request.key,
        fingerprint=request.fingerprint,
        resource_id=resource,
        version=0,
    )
    try:
        open_connection.execute(binding)
    except IntegrityError as error:
        if isinstance(error.orig, UniqueViolation):
            raise KeyBound from error
        raise


def live_keys(database: Database, keys: Collection[str], now: datetime) -> set[str]:
    """Those of the keys, by their ids, that are neither revoked nor expired."""
    query = select(api_keys.c.id).where(api_keys.c.id.in_(keys), _is_live(now))
    with connection(database) as open_connection:
        return set(open_connection.execute(query).scalars())


def find_creation(database: Database, request: RequestKey) -> Creation | None:
    """What the request's key is bound to, if it is."""
    query = select(
        creation_keys.c.fingerprint, creation_keys.c.resource_id, creation_keys.c.version
    ).where(
        creation_keys.c.player_id == request.player,
        creation_keys.c.route == request.route,
        creation_keys.c.key == request.key,
    )
    with connection(database) as open_connection:
        row = open_connection.execute(query).mappings().one_or_none()
    return Creation(**row) if row else None


def find_key(database: Database, digest: bytes, now: datetime) -> ApiKey | None:
    """The live key with that digest; its use is noted, to the minute."""
    query = select(*_KEY).where(api_keys.c.digest == digest, _is_live(now))
    with connection(database) as open_connection:
        row = open_connection.execute(query).mappings().one_or_none()
        if row is None:
            return None
        if row["last_used_at"] is None or row["last_used_at"] < now - LAST_USE_GRAIN:
            note = update(api_keys).where(api_keys.c.id == row["id"]).values(last_used_at=now)
            open_connection.execute(note)
    return ApiKey(**row)


def find_player(database: Database, player: str) -> Player | None:
    """The player with that id."""
    with connection(database) as open_connection:
        query = select(players).where(players.c.id == player)
        row = open_connection.execute(query).mappings().one_or_none()
    return Player(**row) if row else None


def player_names(database: Database, ids: Sequence[str]) -> Mapping[str, str]:
    """The names of those players, by id."""
    query = select(players.c.id, players.c.name).where(players.c.id.in_(ids))
    with connection(database) as open_connection:
        return {row.id: row.name for row in open_connection.execute(query)}


def list_keys(database: Database, player: str, before: str | None, limit: int) -> Sequence[ApiKey]:
    """The player's keys, revoked ones too, newest first."""
    query = (
        select(*_KEY)
        .where(api_keys.c.player_id == player)
        .order_by(api_keys.c.id.desc())
        .limit(limit)
    )
    if before is not None:
        query = query.where(api_keys.c.id < before)
    with connection(database) as open_connection:
        return [ApiKey(**row) for row in open_connection.execute(query).mappings()]


def count_live_keys(database: Database, player: str, now: datetime) -> int:
    """How many of the player's keys are live."""
    query = select(func.count()).where(api_keys.c.player_id == player, _is_live(now))
    with connection(database) as open_connection:
        return open_connection.execute(query).scalar_one()


def revoke_key(database: Database, player: str, key: str, now: datetime) -> bool:
    """Revoke the player's key, for good; False if they have no such key."""
    query = (
        update(api_keys)
        .where(api_keys.c.player_id == player, api_keys.c.id == key)
        .values(revoked_at=func.coalesce(api_keys.c.revoked_at, now))
    )
    with connection(database) as open_connection:
        return open_connection.execute(query).rowcount == 1


def _is_live(now: datetime) -> ColumnElement[bool]:
    return and_(
        api_keys.c.revoked_at.is_(None),
        or_(api_keys.c.expires_at.is_(None), api_keys.c.expires_at > now),
    )
