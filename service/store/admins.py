"""Keys of admins: made by the command as the tables' owner, looked up by the service."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import create_engine, func, insert, or_, select, update
from sqlalchemy.engine import Engine

from service.store.database import Database, connection, psycopg_url
from service.store.tables import admin_keys

LAST_USE_GRAIN = timedelta(minutes=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class AdminKey:
    """A key of an admin, without its token; `players` are accounts of the same person."""

    id: str
    name: str
    scopes: Sequence[str]
    players: Sequence[str]
    created_at: datetime
    expires_at: datetime | None = None
    last_used_at: datetime | None = None
    revoked_at: datetime | None = None


_KEY = (
    admin_keys.c.id,
    admin_keys.c.name,
    admin_keys.c.scopes,
    admin_keys.c.players,
    admin_keys.c.created_at,
    admin_keys.c.expires_at,
    admin_keys.c.last_used_at,
    admin_keys.c.revoked_at,
)


def owner_engine(url: str) -> Engine:
    """A way to the database as the owner of its tables."""
    return create_engine(psycopg_url(url), isolation_level="AUTOCOMMIT", hide_parameters=True)


def add_admin_key(engine: Engine, key: AdminKey, digest: bytes) -> None:
    """Write a key."""
    row = insert(admin_keys).values(
        id=key.id,
        name=key.name,
        digest=digest,
        scopes=list(key.scopes),
        players=list(key.players),
        created_at=key.created_at,
        expires_at=key.expires_at,
    )
    with engine.connect() as open_connection:
        open_connection.execute(row)


def list_admin_keys(engine: Engine) -> Sequence[AdminKey]:
    """Every key, revoked ones too, the newest first."""
    with engine.connect() as open_connection:
        rows = open_connection.execute(select(*_KEY).order_by(admin_keys.c.id.desc()))
        return [AdminKey(**row) for row in rows.mappings()]


def revoke_admin_key(engine: Engine, key: str, now: datetime) -> bool:
    """End a key, for good; False if there is none such."""
    end = (
        update(admin_keys)
        .where(admin_keys.c.id == key)
        .values(revoked_at=func.coalesce(admin_keys.c.revoked_at, now))
    )
    with engine.connect() as open_connection:
        return open_connection.execute(end).rowcount == 1


def find_admin_key(database: Database, digest: bytes, now: datetime) -> AdminKey | None:
    """The live key with that digest; its use is noted, to the minute."""
    query = select(*_KEY).where(
        admin_keys.c.digest == digest,
        admin_keys.c.revoked_at.is_(None),
        or_(admin_keys.c.expires_at.is_(None), admin_keys.c.expires_at > now),
    )
    with connection(database) as open_connection:
        row = open_connection.execute(query).mappings().one_or_none()
        if row is None:
            return None
        if row["last_used_at"] is None or row["last_used_at"] < now - LAST_USE_GRAIN:
            used = update(admin_keys).where(admin_keys.c.id == row["id"])
            open_connection.execute(used.values(last_used_at=now))
    return AdminKey(**row)
