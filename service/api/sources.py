"""What streams are made of: where they get their parts, and what is done for all of them."""

import time
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from threading import Lock
from typing import Protocol, TypeAlias

from service.api.handoff import LOOK_SECONDS, STREAM, Parts, Stream
from service.api.operation import EVENT_STREAM, NDJSON, NO_STORE, Answer, Call, asker
from service.canonical import Json, JsonMap, dump_json
from service.play.feed import Topic
from service.play.games import catch_up_all
from service.play.limits import FAILED_AUTHENTICATION, STREAMS
from service.play.presence import Present, say_present, who_is_present
from service.play.refusals import TooManyStreams, Unauthenticated
from service.play.services import Services, timestamp
from service.play.streaming import (
    Batch,
    Follower,
    Following,
    MustRead,
    confirm_all,
    is_behind,
)
from service.play.tickets import holder_of_ticket, issue_ticket

FRESH = {"Cache-Control": "private, no-store", "Vary": "Accept, Authorization"}

QUIET_SECONDS: Mapping[str, float] = {NDJSON: 7.0, EVENT_STREAM: 15.0}
"""After how long without an event a sign of life is sent."""

QUIET_SIGNS: Mapping[str, bytes] = {NDJSON: b"\n", EVENT_STREAM: b": hb\n\n"}

STREAMS_EACH = 20
STREAMS_A_PROCESS = 2_000
RETRY_MS = 3_000


class Streams:
    """How many streams there are in this process, by who asked for them."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._open: Counter[str] = Counter()

    def enter(self, who: str) -> Callable[[], None]:
        """Count one more, until what is returned is called; raises TooManyStreams."""
        with self._lock:
            if self._open[who] >= STREAMS_EACH or self._open.total() >= STREAMS_A_PROCESS:
                raise TooManyStreams(limit=STREAMS_EACH)
            self._open[who] += 1
        left = False

        def leave() -> None:
            nonlocal left
            with self._lock:
                if left:
                    return
                left = True
                self._open[who] -= 1
                if not self._open[who]:
                    del self._open[who]

        return leave


class Followed(Protocol):
    """A follower's place in something that grows."""

    name: str
    follower: Follower
    is_over: bool

    def read(self) -> None:
        """Read what comes next."""

    def wait(self, seconds: float) -> None:
        """Wait until there may be something, at most so long."""


class Source:
    """A stream of what somebody follows, in one of its two representations.

    `first` is what it begins with; `leave` leaves its place to others.
    """

    def __init__(
        self, following: Followed, media: str, first: str, leave: Callable[[], None]
    ) -> None:
        self.topic = following.name
        self.following = following
        self.media = media
        self._first = first.encode()
        self._leave = leave
        self._quiet_until = time.monotonic() + QUIET_SECONDS[media]

    @property
    def is_over(self) -> bool:
        """Whether nothing comes any more."""
        return self.following.is_over

    def ready(self) -> bytes | None:
        """What comes next, or a sign of life; raises MustRead."""
        if self._first:
            first, self._first = self._first, b""
            return first
        part, now = self.next_part(), time.monotonic()
        if part is None and (now < self._quiet_until or self.is_over):
            return None
        self._quiet_until = now + QUIET_SECONDS[self.media]
        return QUIET_SIGNS[self.media] if part is None else part

    def next_part(self) -> bytes | None:
        """What comes next; raises MustRead."""
        raise NotImplementedError

    def read(self) -> None:
        """Read what comes next."""
        self.following.read()

    def wait(self) -> None:
        """Wait for it, or for the next sign of life."""
        self.following.wait(min(LOOK_SECONDS, max(0.0, self._quiet_until - time.monotonic())))

    def close(self) -> None:
        """End."""
        self._leave()


class EventSource(Source):
    """A game's events."""

    def __init__(
        self, following: Following, media: str, first: str, leave: Callable[[], None]
    ) -> None:
        super().__init__(following, media, first, leave)
        self.events = following
        self._seats: list[Json] | None = None

    def next_part(self) -> bytes | None:
        """The next events; where there are none, who is there, if that has changed."""
        batch = self.events.ready()
        if batch is not None:
            return self._text(batch)
        return None if self.is_over else self._presence()

    def _presence(self) -> bytes | None:
        seats = self.events.present_seats() if self.media == EVENT_STREAM else None
        if seats in (None, self._seats):
            return None
        self._seats = seats
        return f"event: presence\ndata: {dump_json({'seats': seats})}\n\n".encode()

    def _text(self, batch: Batch) -> bytes:
        """The events as the follower's eyes see them, written once for all that see the same."""
        encode = as_lines if self.media == NDJSON else as_event_stream
        end = b"event: end\ndata: {}\n\n" if self.media == EVENT_STREAM and batch.is_end else b""
        if not batch.frames:
            return end
        key = (self.media, *batch.key)
        return self.events.topic.shared(key, lambda: encode(batch.lines()).encode()) + end


class LongPoll:
    """The answer to who waits: a page, once there is something on it or the time is up.

    `page` gives its text, None where there is nothing to answer before the
    time; it is asked whether the time is up. `seen` is the version at which
    there was nothing.
    """

    def __init__(
        self,
        name: str,
        topic: Topic,
        page: Callable[[bool], str | None],
        seen: int,
        seconds: float,
        leave: Callable[[], None],
    ) -> None:
        self.topic = name
        self.is_over = False
        self._topic = topic
        self._page = page
        self._text = b""
        self._leave = leave
        self._looked_at = seen
        self._until = time.monotonic() + seconds

    def ready(self) -> bytes | None:
        """The page, if it is read; raises MustRead when it is to be read."""
        if self._text:
            self.is_over = True
            text, self._text = self._text, b""
            return text
        if not self.is_over and (self._is_time() or self._topic.version > self._looked_at):
            raise MustRead
        return None

    def read(self) -> None:
        """Read the page."""
        self._looked_at = self._topic.version
        self._text = (self._page(self._is_time()) or "").encode()

    def wait(self) -> None:
        """Wait for something."""
        seconds = min(LOOK_SECONDS, max(0.0, self._until - time.monotonic()))
        self._topic.wait(self._looked_at, seconds)

    def close(self) -> None:
        """End."""
        self._leave()

    def _is_time(self) -> bool:
        return self._topic.is_closed or time.monotonic() >= self._until


class House:
    """What is done for all the streams of a process."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._present = Present(process=services.new_id())

    def is_behind(self, topic: str) -> bool:
        """Whether the game moved on since it was remembered."""
        return is_behind(self._services, topic)

    def catch_up(self, topics: Collection[str]) -> None:
        """Read on in all these games."""
        catch_up_all(self._services, topics)

    def keep_up(self, streams: Sequence[object]) -> None:
        """End the streams whose keys are live no more; say and hear who is there."""
        sources = [stream for stream in streams if isinstance(stream, Source)]
        followings = [source.following for source in sources]
        games = [source.events for source in sources if isinstance(source, EventSource)]
        live = confirm_all(self._services, [following.follower for following in followings])
        for following in followings:
            if following.follower.key not in (None, *live):
                following.is_over = True
        pairs = {(one.name, player) for one in games if (player := one.seated_player())}
        say_present(self._services, self._present, pairs)
        told = {one.name for one in games}
        self._services.feed.note_present(who_is_present(self._services, told))


Line: TypeAlias = tuple[str | int, str, str]
"""Of what is sent: where to resume after it, its type, its JSON text."""


def as_lines(lines: Sequence[Line]) -> str:
    """The texts as JSON Lines."""
    return "".join(f"{line}\n" for _, _, line in lines)


def as_event_stream(lines: Sequence[Line]) -> str:
    """The texts as server-sent events."""
    return "".join(f"id: {at}\nevent: {kind}\ndata: {line}\n\n" for at, kind, line in lines)


def enter(call: Call, follower: Follower) -> Callable[[], None]:
    """Take a place for a stream; raises TooManyStreams."""
    call.count(STREAMS)
    return call.streams.enter(follower.player or asker(call.request, None))


def follower_of(call: Call, name: str | None = None) -> Follower:
    """Who follows: by a ticket for what has that name, by a key, or nobody in particular."""
    ticket, caller = call.query["ticket"], call.caller
    if ticket is None:
        return Follower() if caller is None else Follower(player=caller.player, key=caller.key)
    try:
        return holder_of_ticket(call.services, ticket, name)
    except Unauthenticated:
        call.count(FAILED_AUTHENTICATION)
        raise


def stream_answer(call: Call, stream: Stream, media: str) -> Answer:
    """The stream's parts as they come, from outside the server's worker threads."""
    headers = {**FRESH, "X-Accel-Buffering": "no"}
    if call.request.method == "HEAD":
        stream.close()
        return Answer(200, "", headers, media)
    call.request.environ[STREAM] = stream
    return Answer(200, Parts(stream), headers, media)


def ticket_answer(call: Call, name: str, body: JsonMap) -> Answer:
    """A ticket to follow what has that name; raises SecretAlreadyShown."""
    ticket = issue_ticket(call.services, call.known_caller, name, call.key(body))
    answer: JsonMap = {"ticket": ticket.token, "expires_at": timestamp(ticket.expires_at)}
    return Answer(201, answer, NO_STORE)
