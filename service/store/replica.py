"""A replica that answers reads: whoever names a version is never shown an older one.

Replication carries a game's events in their order, so a replica that has a
version of a game has everything up to it.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from service.store.database import Database, raw_connection

REST_SECONDS = 5.0
"""How long a replica that did not answer is left alone."""

VERSION = "SELECT version FROM games WHERE id = %(game)s AND spectators = 'public'"
"""Of a game that is shown late to some, its version does not say what they have seen."""


@dataclass(slots=True)
class Replica:
    """The replica of a process; `now` is a clock that only goes forward, in seconds."""

    database: Database
    now: Callable[[], float] = time.monotonic
    _rests_until: float = field(default=0.0, init=False)

    def has(self, game: str, version: int) -> bool:
        """Whether it has the game at least at that version; raises StoreUnavailable."""
        if self.now() < self._rests_until:
            return False
        with raw_connection(self.database) as raw:
            row = raw.execute(VERSION, {"game": game}).fetchone()
        return row is not None and int(row[0]) >= version

    def rest(self) -> None:
        """It did not answer: ask it nothing for a while."""
        self._rests_until = self.now() + REST_SECONDS
