"""Following a game: every event once and in order, as the follower may see it, from any seq on.

What this process remembers is taken from there, at once; what must be read is
said to be so, and is read by whoever can wait for it.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass

from service.canonical import Json
from service.log.game import Game
from service.log.projection import event_line
from service.log.steps import Frame
from service.log.viewer import Viewer, everybody, viewer_of
from service.play.games import catch_up, frames_of, horizon
from service.play.presence import seats_present
from service.play.reading import read
from service.play.refusals import GameNotFound, NoSpectators, Unauthenticated
from service.play.services import Services
from service.store.database import StoreUnavailable
from service.store.players import live_keys

TROUBLE_SECONDS = 1.0
"""How long a follower waits for a database that is away."""

HIDDEN = (GameNotFound, NoSpectators)
"""What hides a game from a follower who might have seen it before."""

EVENTS_AT_ONCE = 200
"""How many events of a backlog are read and sent at once."""


class MustRead(Exception):
    """What comes next does not stand in memory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Follower:
    """Who follows: a player by a key, or nobody in particular; ids, None for nobody's."""

    player: str | None = None
    key: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """Some events that follow each other, seen by the same eyes.

    `is_end` says that the game has ended and this is all.
    """

    frames: Sequence[Frame]
    eyes: Viewer
    is_end: bool = False

    @property
    def key(self) -> tuple[int, int, frozenset[int]]:
        """What tells its text from any other of the game; only for a batch with events."""
        seqs = (self.frames[0].event.seq, self.frames[-1].event.seq)
        return (*seqs, frozenset(self.eyes.sees))

    def lines(self) -> list[tuple[int, str, str]]:
        """Of each event its seq, its type, and its canonical line as these eyes see it."""
        return [
            (frame.event.seq, frame.event.type, event_line(frame, self.eyes))
            for frame in self.frames
        ]


class Following:
    """A follower's place in a game's log.

    `is_over` says that nothing comes any more: the game has ended, or the
    process is about to, or the follower may not see it any longer.
    """

    def __init__(self, services: Services, follower: Follower, game: str, after: int) -> None:
        self.topic = services.feed.join(game)
        self.name = game
        self.follower = follower
        self.after = after
        self.is_over = False
        self._services = services
        self._ahead: Batch | None = None
        self._rests_until = 0.0
        self._looked_at = 0

    def close(self) -> None:
        """Follow no more."""
        self._services.feed.leave(self.name)

    def ready(self) -> Batch | None:
        """What comes next, if it is remembered, None if nothing does; raises MustRead."""
        if self._ahead is not None:
            batch, self._ahead = self._ahead, None
            return self._passed(batch)
        if self.topic.is_closed:
            self.is_over = True
        if self.is_over or time.monotonic() < self._rests_until:
            return None
        present = self._remembered()
        if present is None:
            raise MustRead
        try:
            upto = self._upto(present)
            if upto == self.after and not present.status.is_over:
                self._looked_at = present.version
                return None
            if not is_confirmed(self._services, self.follower):
                raise MustRead
            frames = self.topic.frames(self.after, upto)
            if frames is None:
                raise MustRead
            return self._passed(self._next(present, frames))
        except HIDDEN:
            self.is_over = True
            return None

    def read(self) -> None:
        """Read what comes next; it is ready then. A database that is away is tried again later."""
        try:
            present = self._present()
            confirm(self._services, self.follower)
            upto = self._upto(present)
            frames = self.topic.frames(self.after, upto)
            if frames is None:
                frames = read(
                    self._services,
                    self.name,
                    present.version,
                    lambda source: list(frames_of(source, present, self.after + 1, upto)),
                )
            if frames or present.status.is_over:
                self._ahead = self._next(present, frames)
        except (Unauthenticated, *HIDDEN):
            self.is_over = True
        except StoreUnavailable:
            self._rests_until = time.monotonic() + TROUBLE_SECONDS

    def seated_player(self) -> str | None:
        """The follower, if they have a seat by what is remembered of the game."""
        present, player = self._services.games.get(self.name), self.follower.player
        return player if present and player and present.seats_of(player) else None

    def present_seats(self) -> list[Json] | None:
        """The seats whose players are there; None before it is known."""
        present, players = self._services.games.get(self.name), self.topic.present
        if self.is_over or present is None or players is None:
            return None
        return [*seats_present(present, players)]

    def wait(self, seconds: float) -> None:
        """Wait until something may have happened, at most so long."""
        self.topic.wait(max(self.after, self._looked_at), seconds)

    def _remembered(self) -> Game | None:
        """What is remembered of the game, if it is as new as what was heard."""
        present = self._services.games.get(self.name)
        newest = max(self.topic.version, self.after)
        if not self.topic.version or present is None or present.version < newest:
            return None
        return present

    def _present(self) -> Game:
        """The game at least as new as was heard of; one follower reads it for all of them."""
        with self.topic.reading:
            present = self._remembered()
            if present is None:
                heard = self.topic.version
                present, _ = read(
                    self._services,
                    self.name,
                    max(heard, self.after) if heard else None,
                    lambda source: catch_up(source, self.name),
                )
                self.topic.settle(heard, present.version)
            return present

    def _next(self, present: Game, frames: Sequence[Frame]) -> Batch:
        viewer = viewer_of(present, self.follower.player)
        eyes = everybody(present, viewer) if present.status.is_over else viewer
        is_end = present.status.is_over and self._upto(present) == present.version
        return Batch(frames=frames, eyes=eyes, is_end=is_end)

    def _upto(self, present: Game) -> int:
        """Up to which seq the follower may be told now; raises what hides the game from them."""
        newest = horizon(present, self.follower.player)
        return max(self.after, min(newest, self.after + EVENTS_AT_ONCE))

    def _passed(self, batch: Batch) -> Batch:
        """The batch, and the place after it."""
        if batch.frames:
            self.after = batch.frames[-1].event.seq
        self.is_over = batch.is_end
        return batch


def is_behind(services: Services, game: str) -> bool:
    """Whether the game is heard to have moved on since it was remembered here."""
    present = services.games.get(game)
    heard = services.feed.heard(game)
    return present is not None and heard is not None and present.version < heard


def confirm(services: Services, follower: Follower) -> None:
    """Raise Unauthenticated unless the follower's key is live."""
    if is_confirmed(services, follower):
        return
    if follower.key not in confirm_all(services, [follower]):
        raise Unauthenticated


def confirm_all(services: Services, followers: Sequence[Follower]) -> set[str]:
    """Which of the followers' keys are live; looked up once, and remembered for a moment."""
    keys = {follower.key for follower in followers if follower.key is not None}
    live = live_keys(services.database, keys, services.now()) if keys else set()
    now = services.now()
    for key in keys:
        if key in live:
            services.keys.confirm(key, now)
        else:
            services.keys.forget(key)
    return live


def is_confirmed(services: Services, follower: Follower) -> bool:
    """Whether the follower's key was seen live a moment ago."""
    return follower.key is None or services.keys.is_confirmed(follower.key, services.now())
