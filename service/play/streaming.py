"""Following a game: every event once and in order, as the follower may see it, from any seq on."""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from service.log.game import Game
from service.log.projection import event_line
from service.log.steps import Frame
from service.log.viewer import Viewer, everybody, viewer_of
from service.play.feed import Topic
from service.play.games import catch_up, frames_of, refuse_strangers
from service.play.refusals import GameNotFound, Unauthenticated
from service.play.services import Services
from service.store.database import StoreUnavailable

NEVER = 2**31
LOOK_SECONDS = 1.0
"""How often a follower who waits is looked for."""
TROUBLE_SECONDS = 1.0
"""How long a follower waits for a database that is away."""

EVENTS_AT_ONCE = 200
"""How many events of a backlog are read and sent at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """An event as its follower sees it: its seq, its type, its canonical line."""

    seq: int
    type: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """Some events that follow each other, none if nothing happened for a while.

    `is_end` says that the game has ended and this is all.
    """

    lines: Sequence[Line]
    is_end: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Follower:
    """Who follows: `player` gives their id, None for nobody in particular.

    It is asked again and again, and raises Unauthenticated once the key is
    revoked. `is_gone` says whether they have hung up.
    """

    player: Callable[[], str | None]
    is_gone: Callable[[], bool] = lambda: False


def follow(
    services: Services, follower: Follower, game: str, after: int, quiet_seconds: float
) -> Iterator[Batch]:
    """The events after a seq as they happen, and an empty batch after each quiet while.

    Ends when the game has, when the follower may not see it any more, and
    when the process is about to end.
    """
    with services.feed.follow(game) as topic:
        while not topic.is_closed and not follower.is_gone():
            try:
                present = _present(services, game, topic, after)
                player = follower.player()
                refuse_strangers(present, player)
                upto = min(present.version, after + EVENTS_AT_ONCE)
                frames = _frames(services, present, topic, after, upto)
            except (Unauthenticated, GameNotFound):
                return
            except StoreUnavailable:
                topic.wait(NEVER, TROUBLE_SECONDS)
                yield Batch(lines=())
                continue
            is_end = present.status.is_over and upto == present.version
            if frames or is_end:
                yield Batch(lines=_lines(present, frames, player), is_end=is_end)
            if is_end:
                return
            after = upto
            if upto == present.version and not _wait(topic, follower, after, quiet_seconds):
                yield Batch(lines=())


def wait_for_event(
    services: Services, follower: Follower, game: str, after: int, seconds: float
) -> None:
    """Return when the game is past that version, or when the time is up, or nobody waits."""
    with services.feed.follow(game) as topic:
        present, _ = catch_up(services, game)
        if present.version <= after and not present.status.is_over:
            _wait(topic, follower, after, seconds)


def _wait(topic: Topic, follower: Follower, after: int, seconds: float) -> bool:
    """Whether the game moved past that version in that time; a follower who left is let go."""
    until = time.monotonic() + seconds
    while not topic.is_closed and not follower.is_gone():
        left = until - time.monotonic()
        if left <= 0:
            return False
        if topic.wait(after, min(left, LOOK_SECONDS)):
            return True
    return False


def _present(services: Services, game: str, topic: Topic, after: int) -> Game:
    """The game at least as new as was heard of; one follower reads it for all of this process."""
    present = _remembered(services, game, topic, after)
    if present is not None:
        return present
    with topic.reading:
        present = _remembered(services, game, topic, after)
        if present is None:
            present, _ = catch_up(services, game)
            topic.settle(present.version)
        return present


def _remembered(services: Services, game: str, topic: Topic, after: int) -> Game | None:
    """What is remembered of the game, if that is new enough."""
    present = services.games.get(game)
    is_new = present is not None and present.version >= max(topic.version, after, 1)
    return present if is_new and topic.version else None


def _frames(
    services: Services, present: Game, topic: Topic, after: int, upto: int
) -> Sequence[Frame]:
    if upto <= after:
        return ()
    kept = topic.frames(after, upto)
    return list(frames_of(services, present, after + 1, upto)) if kept is None else kept


def _lines(present: Game, frames: Sequence[Frame], player: str | None) -> Sequence[Line]:
    viewer = viewer_of(present, player)
    eyes: Viewer = everybody(present, viewer) if present.status.is_over else viewer
    return [
        Line(seq=frame.event.seq, type=frame.event.type, text=event_line(frame, eyes))
        for frame in frames
    ]
