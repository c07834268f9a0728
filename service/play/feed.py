"""Wake-ups: who waits for a game hears that it moved, and reads the log from where they were.

A wake-up carries no event: whoever hears it reads after their own cursor. One
that is lost costs time, not an event.
"""

from collections import deque
from collections.abc import Callable, Hashable, Mapping, Sequence
from threading import Condition, Lock

from service.log.steps import Frame
from service.play.bounded import Bounded

FRAMES_KEPT = 256
"""The last events of a followed game, so that its followers need not each read them."""

TEXTS_KEPT = 64


class Topic:
    """A game that somebody in this process follows, and the version that it is heard to have.

    `present` are the players who are there, None before it is known.
    """

    def __init__(self) -> None:
        self.reading = Lock()
        self.followers = 0
        self.is_closed = False
        self.present: frozenset[str] | None = None
        self._moved = Condition()
        self._version = 0
        self._frames: deque[Frame] = deque(maxlen=FRAMES_KEPT)
        self._texts: Bounded[Hashable, bytes] = Bounded(TEXTS_KEPT)

    @property
    def version(self) -> int:
        """The newest version that was heard of; 0 before the first."""
        return self._version

    def tell(self, version: int) -> None:
        """The game is heard to have that version."""
        with self._moved:
            if version > self._version:
                self._version = version
                self._moved.notify_all()

    def close(self) -> None:
        """Let everybody go who waits."""
        with self._moved:
            self.is_closed = True
            self._moved.notify_all()

    def wait(self, after: int, seconds: float) -> bool:
        """Wait until the game is past a version; whether it is, before the time was up."""
        with self._moved:
            self._moved.wait_for(lambda: self.is_closed or self._version > after, seconds)
            return self._version > after

    def settle(self, heard: int, version: int) -> None:
        """The game was read: what had been heard of a later version was no truth."""
        with self._moved:
            if self._version in (heard, 0):
                self._version = version

    def keep(self, frames: Sequence[Frame]) -> None:
        """Keep the game's newest events; those that are kept already change nothing."""
        with self._moved:
            for frame in frames:
                last = self._frames[-1].event.seq if self._frames else None
                if last is not None and frame.event.seq <= last:
                    continue
                if last is not None and frame.event.seq != last + 1:
                    self._frames.clear()
                self._frames.append(frame)

    def frames(self, after: int, upto: int) -> Sequence[Frame] | None:
        """The events after one version and up to another; None if they are not all kept."""
        with self._moved:
            kept = [frame for frame in self._frames if after < frame.event.seq <= upto]
        return kept if len(kept) == upto - after else None

    def shared(self, key: Hashable, make: Callable[[], bytes]) -> bytes:
        """What is sent to several followers alike, made for the first of them."""
        found = self._texts.get(key)
        if found is None:
            found = make()
            self._texts.put(key, found)
        return found


class Feed:
    """The topics of a process.

    `outlet` tells the other processes, `woken` is called with a game that is
    followed here and moved.
    """

    def __init__(self) -> None:
        self.outlet: Callable[[str, int], None] = lambda _game, _version: None
        self.woken: Callable[[str], None] = lambda _game: None
        self._topics: dict[str, Topic] = {}
        self._lock = Lock()
        self._is_closed = False

    def join(self, game: str) -> Topic:
        """The game's topic, until it is left."""
        with self._lock:
            topic = self._topics.setdefault(game, Topic())
            topic.followers += 1
            if self._is_closed:
                topic.close()
            return topic

    def leave(self, game: str) -> None:
        """One follower less."""
        with self._lock:
            topic = self._topics[game]
            topic.followers -= 1
            if not topic.followers:
                del self._topics[game]

    def moved(self, game: str, frames: Sequence[Frame]) -> None:
        """Tell that the game was moved here, in this process and elsewhere."""
        version = frames[-1].event.seq
        self.read(game, frames)
        self.tell(game, version)
        self.outlet(game, version)

    def read(self, game: str, frames: Sequence[Frame]) -> None:
        """Keep the newest events of a game that were read here, for its followers."""
        topic = self._topics.get(game)
        if topic is not None:
            topic.keep(frames)

    def tell(self, game: str, version: int) -> None:
        """The game is heard to have that version."""
        topic = self._topics.get(game)
        if topic is not None and version > topic.version:
            topic.tell(version)
            self.woken(game)

    def heard(self, game: str) -> int | None:
        """The version that a game is heard to have; None if nobody follows it."""
        topic = self._topics.get(game)
        return None if topic is None else topic.version

    def note_present(self, players: Mapping[str, frozenset[str]]) -> None:
        """The players who are there, by game."""
        for game, present in players.items():
            topic = self._topics.get(game)
            if topic is not None and topic.present != present:
                topic.present = present
                self.woken(game)

    def followed(self) -> Mapping[str, int]:
        """The games that are followed, and the versions that they are heard to have."""
        with self._lock:
            return {game: topic.version for game, topic in self._topics.items()}

    def close(self) -> None:
        """Let everybody go: the process is about to end."""
        with self._lock:
            self._is_closed = True
            topics = dict(self._topics)
        for game, topic in topics.items():
            topic.close()
            self.woken(game)
