"""What the use cases stand on: made in one place, handed to each as a parameter."""

import random
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from uuid import UUID, uuid4

from ulid import ULID

from service.fairness import SECRET_BYTES, SealedDealer
from service.log.game import DealerFactory, Game
from service.play.bounded import Bounded
from service.play.caller import KeyMemory
from service.play.feed import Feed
from service.play.limits import Limiter
from service.store.database import Database
from service.store.replica import Replica

GAMES_REMEMBERED = 2_000
NAMES_REMEMBERED = 20_000


def utc_now() -> datetime:
    """The time, in UTC."""
    return datetime.now(UTC)


def new_ulid() -> str:
    """A new id: a lower-case ULID."""
    return str(ULID()).lower()


def draw_secret() -> bytes:
    """32 bytes from the operating system."""
    return secrets.token_bytes(SECRET_BYTES)


@dataclass(frozen=True, slots=True, kw_only=True)
class Services:
    """The database, the process's memories, and the sources of time, chance and ids.

    `games` remembers games at the version that this process last saw: a cache,
    and never trusted over the head row. `feed` wakes
    whoever waits for a game, `limiter` counts requests, None for no limits.
    `origin` names the log in its checkpoints; `allows_any_address` lets
    webhooks be at addresses that are not public, for tests; `needs_two_persons`
    says that an admin needs another one's approval to see hands. `replica`
    answers reads where it can, None for no replica.
    """

    database: Database
    replica: Replica | None = None
    origin: str = "localhost/fairdeal"
    now: Callable[[], datetime] = utc_now
    new_id: Callable[[], str] = new_ulid
    new_request_id: Callable[[], UUID] = uuid4
    draw_secret: Callable[[], bytes] = draw_secret
    draw_token: Callable[[], bytes] = draw_secret
    dealer: DealerFactory = SealedDealer.of
    chance: random.Random = field(default_factory=random.SystemRandom)
    limiter: Limiter | None = None
    allows_any_address: bool = False
    needs_two_persons: bool = False
    feed: Feed = field(default_factory=Feed)
    games: Bounded[str, Game] = field(default_factory=lambda: Bounded(GAMES_REMEMBERED))
    names: Bounded[str, str] = field(default_factory=lambda: Bounded(NAMES_REMEMBERED))
    keys: KeyMemory = field(default_factory=KeyMemory)


def timestamp(moment: datetime) -> str:
    """RFC 3339, UTC, three decimals, Z."""
    utc = moment if moment.tzinfo is UTC else moment.astimezone(UTC)
    return f"{utc.replace(tzinfo=None).isoformat(timespec='milliseconds')}Z"


def timestamp_if(moment: datetime | None) -> str | None:
    """The same of a time that there may be; None where there is none."""
    return None if moment is None else timestamp(moment)
