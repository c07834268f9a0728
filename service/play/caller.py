"""Who is calling: a player by a live key, remembered for a moment.

A key that is revoked ends at once in the process that revokes it, and within
KEY_SECONDS in every other.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from service.play.bounded import Bounded
from service.play.refusals import InsufficientScope
from service.store.players import ApiKey

READ = "read"
PLAY = "play"
KEYS = "keys"
SCOPES = (READ, PLAY, KEYS)
"""What a key may do: see the player's own games, play in them, manage the player's keys."""

KEY_SECONDS = 2
KEYS_REMEMBERED = 10_000


@dataclass(frozen=True, slots=True)
class Caller:
    """A player, by one of their keys."""

    player: str
    key: str
    scopes: frozenset[str]

    def require(self, scope: str) -> None:
        """Raise InsufficientScope unless the key has the scope."""
        if scope not in self.scopes:
            raise InsufficientScope(scope=scope)


class KeyMemory:
    """The keys that were seen live a moment ago, by the digest of their token."""

    def __init__(self) -> None:
        self._seen: Bounded[bytes, tuple[datetime, ApiKey]] = Bounded(KEYS_REMEMBERED)
        self._live: Bounded[str, datetime] = Bounded(KEYS_REMEMBERED)

    def find(
        self, digest: bytes, now: datetime, look_up: Callable[[], ApiKey | None]
    ) -> ApiKey | None:
        """The live key: remembered, or looked up and remembered for a moment."""
        seen = self._seen.get(digest)
        if seen is not None and seen[0] <= now < seen[0] + timedelta(seconds=KEY_SECONDS):
            return seen[1] if _lives(seen[1], now) else None
        key = look_up()
        if key is not None:
            self._seen.put(digest, (now, key))
            self.confirm(key.id, now)
        return key

    def confirm(self, key: str, now: datetime) -> None:
        """The key of that id was seen live."""
        self._live.put(key, now)

    def is_confirmed(self, key: str, now: datetime) -> bool:
        """Whether the key of that id was seen live a moment ago, and not revoked here since."""
        seen = self._live.get(key)
        return seen is not None and seen <= now < seen + timedelta(seconds=KEY_SECONDS)

    def forget(self, key: str) -> None:
        """Look the key up again at its next use."""
        self._live.drop(key)
        for digest, (_, seen) in self._seen.items():
            if seen.id == key:
                self._seen.drop(digest)

    def forget_player(self, player: str) -> None:
        """Look all keys of the player up again at their next use."""
        known = [entry for _, entry in self._seen.items()]
        for _, seen in known:
            if seen.player_id == player:
                self.forget(seen.id)


def _lives(key: ApiKey, now: datetime) -> bool:
    return key.expires_at is None or now < key.expires_at
