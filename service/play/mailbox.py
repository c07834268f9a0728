"""What a player was told of their games, and what waits for them now."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from service.canonical import Json, JsonMap
from service.play.noticing import invitation_json
from service.play.refusals import Unauthenticated
from service.play.services import Services, timestamp_if
from service.play.streaming import (
    EVENTS_AT_ONCE,
    TROUBLE_SECONDS,
    Follower,
    MustRead,
    confirm,
)
from service.store.database import StoreUnavailable
from service.store.invitations import invitations_of
from service.store.notices import Notice, newest_notice, read_notices, turns_of

NOTICES_KEPT = timedelta(days=30)
TURNS_AT_MOST = 200


@dataclass(frozen=True, slots=True)
class Mail:
    """Some of a player's notices, and the number of the newest there is."""

    notices: Sequence[Notice]
    newest: int


def mail(services: Services, player: str, after: int, limit: int) -> Mail:
    """The notices after that number, as far as they are kept."""
    newest = newest_notice(services.database, player)
    return Mail(read_notices(services.database, player, after, limit), newest)


def waiting(services: Services, player: str) -> JsonMap:
    """What waits for the player: their turns, whoever waits longest first, and invitations."""
    turns: list[Json] = [
        {
            "game": turn.game,
            "seq": turn.version,
            "deadline_at": timestamp_if(turn.deadline_at),
        }
        for turn in turns_of(services.database, player, TURNS_AT_MOST)
    ]
    invitations = invitations_of(services.database, player, services.now())
    return {"turns": turns, "invitations": [invitation_json(one) for one in invitations]}


class Mailing:
    """A player's place in what they are told.

    `is_over` says that nothing comes any more: the key is live no longer, or
    the process is about to end.
    """

    def __init__(self, services: Services, follower: Follower, player: str, after: int) -> None:
        self.topic = services.feed.join(player)
        self.name = player
        self.follower = follower
        self.after = after
        self.is_over = False
        self._services = services
        self._ahead: Sequence[Notice] = ()
        self._looked_at = -1
        self._rests_until = 0.0

    def close(self) -> None:
        """Follow no more."""
        self._services.feed.leave(self.name)

    def ready(self) -> Sequence[Notice]:
        """What comes next, nothing if nothing does; raises MustRead."""
        if self._ahead:
            notices, self._ahead = self._ahead, ()
            self.after = notices[-1].number
            return notices
        if self.topic.is_closed:
            self.is_over = True
        if self.is_over or time.monotonic() < self._rests_until:
            return ()
        if self._looked_at < max(self.topic.version, self.after):
            raise MustRead
        return ()

    def read(self) -> None:
        """Read what comes next; a database that is away is tried again later."""
        heard = self.topic.version
        try:
            confirm(self._services, self.follower)
            database = self._services.database
            self._ahead = read_notices(database, self.name, self.after, EVENTS_AT_ONCE)
            is_whole = len(self._ahead) < EVENTS_AT_ONCE
            newest = self._ahead[-1].number if self._ahead else self.after
            self._looked_at = max(heard, newest) if is_whole else -1
        except Unauthenticated:
            self.is_over = True
        except StoreUnavailable:
            self._rests_until = time.monotonic() + TROUBLE_SECONDS

    def wait(self, seconds: float) -> None:
        """Wait until something may have happened, at most so long."""
        self.topic.wait(max(self.after, self._looked_at), seconds)
