"""Streams leave the server's worker threads, so that moves never wait for one.

The connection is taken out of gunicorn's hands: its descriptor is put in the
place of a socket that nobody reads, and one thread of the process writes to
all the real ones, a part at a time, without waiting for any. What must be
read for a stream is read by a few threads more. Under another server a
stream is answered as any other answer is.
"""

import os
import selectors
import socket
import ssl
import time
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import suppress
from email.utils import formatdate
from functools import partial
from queue import SimpleQueue
from threading import Condition, Lock, Thread
from typing import TYPE_CHECKING, Protocol

import structlog

from service.metrics import STREAMS
from service.play.streaming import MustRead

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIEnvironment

STREAM = "fairdeal.stream"
"""Where a request's environment keeps the stream that it is answered with."""

SEND_SECONDS = 20
"""How long a client may leave what is sent to it unread."""

LOOK_SECONDS = 0.5
"""How often every stream is looked at, whether something happened or not."""

GATHER_SECONDS = 0.003, 0.05
"""How long the sender lets things happen, at least and at most.

Who moved is answered before who looks on; and the busier the process is, the
more is sent at once.
"""

REST = 12
"""How many times as long as it was busy the sender rests."""

UPKEEP_SECONDS = 1.0
READERS = 2
RECEIVED_AT_ONCE = 4_096
RECEIVED_AT_MOST = 65_536
"""Whoever says more than that over a connection that they only listen to is let go."""


class Stream(Protocol):
    """What is sent over a connection, part by part, for as long as it lasts."""

    topic: str

    @property
    def is_over(self) -> bool:
        """Whether nothing comes any more."""

    def ready(self) -> bytes | None:
        """The next part if there is one; raises MustRead if that takes a look elsewhere."""

    def read(self) -> None:
        """Look there, however long it takes."""

    def wait(self) -> None:
        """Wait until there may be a part."""

    def close(self) -> None:
        """End, early or late; doing it twice is no fault."""


class Parts:
    """A stream's parts for a server whose thread waits for each of them."""

    def __init__(self, stream: Stream) -> None:
        self._stream = stream

    def __iter__(self) -> "Parts":
        """Itself."""
        return self

    def __next__(self) -> bytes:
        """The next part, once there is one."""
        while True:
            try:
                part = self._stream.ready()
            except MustRead:
                self._stream.read()
                continue
            if part:
                return part
            if self._stream.is_over:
                self.close()
                raise StopIteration
            self._stream.wait()

    def close(self) -> None:
        """End, early or late."""
        self._stream.close()


class HandedOff(StopIteration):
    """The connection is somebody else's now; gunicorn lets go of it without a word."""


class Outgoing:
    """A connection and what goes out over it."""

    def __init__(self, connection: socket.socket, head: bytes, stream: Stream) -> None:
        self.connection = connection
        self.stream = stream
        self.is_reading = False
        self.is_broken = False
        self.is_writable = True
        self.is_chunked = False
        self._pending = memoryview(head)
        self._moved_at = time.monotonic()
        self._received = 0

    @property
    def is_stuck(self) -> bool:
        """Whether the client has read nothing for too long."""
        return bool(self._pending) and time.monotonic() - self._moved_at > SEND_SECONDS

    def send(self) -> bool:
        """Send what is ready; whether it is all sent, for ever. Raises MustRead and OSError."""
        while True:
            while self._pending:
                try:
                    sent = self.connection.send(self._pending)
                except BlockingIOError:
                    self.is_writable = False
                    return False
                self.is_writable = True
                self._pending = self._pending[sent:]
                self._moved_at = time.monotonic()
            part = self.stream.ready()
            if part:
                self._pending = memoryview(self._framed(part))
            elif not self.stream.is_over:
                return False
            elif self.is_chunked:
                self.is_chunked = False
                self._pending = memoryview(_chunk(b""))
            else:
                return True

    def is_gone(self) -> bool:
        """Whether the client has hung up; what else it says is not listened to."""
        try:
            received = len(self.connection.recv(RECEIVED_AT_ONCE))
        except BlockingIOError:
            return False
        except OSError:
            return True
        self._received += received
        return not received or self._received > RECEIVED_AT_MOST

    def _framed(self, part: bytes) -> bytes:
        return _chunk(part) if self.is_chunked else part


class Housekeeping(Protocol):
    """What the sender has done for its streams, by a thread that can wait for a database."""

    def is_behind(self, topic: str) -> bool:
        """Whether what is remembered of the topic is older than what was heard."""

    def catch_up(self, topics: Collection[str]) -> None:
        """Read what happened, of all these topics at once."""

    def keep_up(self, streams: Sequence[Stream]) -> None:
        """Called every second with the streams that there are."""


class Sender:
    """The thread that sends all the streams of a process, begun with the first of them."""

    def __init__(self, house: Housekeeping) -> None:
        self._house = house
        self._outgoing: set[Outgoing] = set()
        self._by_topic: defaultdict[str, set[Outgoing]] = defaultdict(set)
        self._lock = Lock()
        self._idle = Condition()
        self._fresh: list[Outgoing] = []
        self._read: list[Outgoing] = []
        self._woken: set[str] = set()
        self._caught_up: set[str] = set()
        self._thread: Thread | None = None
        self._is_catching_up = False
        self._is_kept_up = True
        self._woken_at = self._wakes_at = self._rests_until = 0.0
        self._looked = self._kept_up = 0.0

    def add(self, outgoing: Outgoing) -> None:
        """Send this, too."""
        with self._lock:
            if self._thread is None:
                self._begin()
            self._fresh.append(outgoing)
        self._ring()

    def wake(self, topic: str) -> None:
        """Something happened that the streams of this topic wait for."""
        if self._thread is not None:
            with self._lock:
                if not self._woken:
                    self._woken_at = time.monotonic()
                    self._wakes_at = max(self._rests_until, self._woken_at + GATHER_SECONDS[0])
                self._woken.add(topic)
            self._ring()

    def drain(self, seconds: float) -> None:
        """Let the streams say that they end, for so long at most."""
        if self._thread is not None:
            with self._idle:
                self._idle.wait_for(lambda: not (self._outgoing or self._fresh), seconds)

    def _begin(self) -> None:
        self._bell, self._hand = socket.socketpair()
        self._bell.settimeout(0)
        self._hand.settimeout(0)
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._bell, selectors.EVENT_READ, None)
        self._jobs: SimpleQueue[Callable[[], None]] = SimpleQueue()
        for number in range(READERS):
            Thread(target=self._work, name=f"stream-reader-{number}", daemon=True).start()
        self._thread = Thread(target=self._run, name="streams", daemon=True)
        self._thread.start()

    def _ring(self) -> None:
        try:
            self._hand.send(b"!")
        except BlockingIOError:
            return  # it rings already

    def _work(self) -> None:
        """A reader: does what may take a while, one thing after the other.

        Daemons of our own: they outlive the end of the main thread, in which
        the streams are still to be told that they end.
        """
        while True:
            self._jobs.get()()

    def _run(self) -> None:
        """Send, for ever: whatever goes wrong with one round does not end it."""
        while True:
            try:
                self._round()
            except Exception as error:  # noqa: BLE001  the others' streams go on
                _complain(error)
                time.sleep(LOOK_SECONDS)

    def _round(self) -> None:
        for key, events in self._selector.select(self._seconds_left()):
            if key.data is None:
                self._silence()
            else:
                self._serve(key.data, events)
        began = time.monotonic()
        for outgoing in self._to_look_at():
            self._send(outgoing)
        if began - self._looked >= LOOK_SECONDS:
            self._looked = began
            for outgoing in list(self._outgoing):
                self._send(outgoing)
        if self._outgoing and self._is_kept_up and began - self._kept_up >= UPKEEP_SECONDS:
            self._kept_up, self._is_kept_up = began, False
            self._jobs.put(partial(self._keep_up, [one.stream for one in self._outgoing]))
        self._rest_from(began)

    def _seconds_left(self) -> float:
        """How long nothing need be looked at."""
        if not self._woken:
            return LOOK_SECONDS
        return max(0.0, min(LOOK_SECONDS, self._wakes_at - time.monotonic()))

    def _rest_from(self, began: float) -> None:
        """Who was busy rests a while before it listens again: others want the processor, too."""
        ended = time.monotonic()
        least, most = GATHER_SECONDS
        self._rests_until = max(self._rests_until, ended + min(most, REST * (ended - began)))
        self._wakes_at = max(self._rests_until, self._woken_at + least)

    def _silence(self) -> None:
        with suppress(BlockingIOError):
            self._bell.recv(RECEIVED_AT_ONCE)

    def _to_look_at(self) -> set[Outgoing]:
        """The streams that are new, that were read for, or whose topic was woken."""
        woken: set[str] = set()
        with self._lock:
            fresh, self._fresh = self._fresh, []
            read, self._read = self._read, []
            topics, self._caught_up = self._caught_up, set()
            if time.monotonic() >= self._wakes_at and not self._is_catching_up:
                woken, self._woken = self._woken, set()
        for outgoing in fresh:
            self._outgoing.add(outgoing)
            self._by_topic[outgoing.stream.topic].add(outgoing)
            self._selector.register(outgoing.connection, selectors.EVENT_READ, outgoing)
        for outgoing in read:
            outgoing.is_reading = False
        behind = {topic for topic in woken if self._house.is_behind(topic)}
        if behind:
            self._is_catching_up = True
            self._jobs.put(partial(self._catch_up, behind))
        found = {*fresh, *read}
        for topic in topics | (woken - behind):
            found |= self._by_topic.get(topic, set())
        return found & self._outgoing

    def _serve(self, outgoing: Outgoing, events: int) -> None:
        if outgoing not in self._outgoing:
            return
        if events & selectors.EVENT_READ and outgoing.is_gone():
            self._end(outgoing)
        elif events & selectors.EVENT_WRITE:
            self._send(outgoing)

    def _send(self, outgoing: Outgoing) -> None:
        """Send what can be sent now; whoever is gone, or reads nothing, is let go."""
        if outgoing.is_reading:
            return
        was_writable = outgoing.is_writable
        try:
            if outgoing.is_broken or outgoing.is_stuck or outgoing.send():
                self._end(outgoing)
                return
        except MustRead:
            outgoing.is_reading = True
            self._jobs.put(partial(self._read_for, outgoing))
        except OSError:
            self._end(outgoing)
            return
        except Exception as error:  # noqa: BLE001  whoever reads it sees that it breaks off
            _complain(error)
            self._end(outgoing)
            return
        if outgoing.is_writable is not was_writable:
            also = 0 if outgoing.is_writable else selectors.EVENT_WRITE
            events = selectors.EVENT_READ | also
            self._selector.modify(outgoing.connection, events, outgoing)

    def _read_for(self, outgoing: Outgoing) -> None:
        try:
            outgoing.stream.read()
        except Exception as error:  # noqa: BLE001  whoever reads it sees that it breaks off
            _complain(error)
            outgoing.is_broken = True
        with self._lock:
            self._read.append(outgoing)
        self._ring()

    def _catch_up(self, topics: Collection[str]) -> None:
        """Read of several topics at once; those that it fails for are read for one by one."""
        began = time.monotonic()
        try:
            self._house.catch_up(topics)
        except Exception as error:  # noqa: BLE001  their streams say for themselves what is wrong
            _complain(error)
        with self._lock:
            self._caught_up |= set(topics)
            self._is_catching_up = False
            self._rest_from(began)
        self._ring()

    def _keep_up(self, streams: Sequence[Stream]) -> None:
        STREAMS.set(len(streams))
        try:
            self._house.keep_up(streams)
        except Exception as error:  # noqa: BLE001  the next time may go well
            _complain(error)
        finally:
            self._is_kept_up = True

    def _end(self, outgoing: Outgoing) -> None:
        self._selector.unregister(outgoing.connection)
        topic = outgoing.stream.topic
        self._by_topic[topic].discard(outgoing)
        if not self._by_topic[topic]:
            del self._by_topic[topic]
        with outgoing.connection as connection:
            if outgoing.stream.is_over:
                with suppress(OSError):
                    connection.shutdown(socket.SHUT_WR)
        outgoing.stream.close()
        with self._idle:
            self._outgoing.discard(outgoing)
            self._idle.notify_all()


def _complain(error: Exception) -> None:
    structlog.get_logger().error("stream_failed", exception=type(error).__name__)


def can_be_handed_off(environ: "WSGIEnvironment") -> bool:
    """Whether the answer is a stream on a connection that can be taken over."""
    connection = environ.get("gunicorn.socket")
    return (
        STREAM in environ
        and environ["REQUEST_METHOD"] == "GET"
        and isinstance(connection, socket.socket)
        and not isinstance(connection, ssl.SSLSocket)
    )


def hand_off(
    environ: "WSGIEnvironment", status: str, headers: Sequence[tuple[str, str]], sender: Sender
) -> None:
    """Leave the answer to the sender, and return at once."""
    is_chunked = environ["SERVER_PROTOCOL"] != "HTTP/1.0"
    head = _head(status, headers, is_chunked=is_chunked)
    connection = _taken(environ["gunicorn.socket"])
    try:
        connection.settimeout(0)
        outgoing = Outgoing(connection, head, environ[STREAM])
        outgoing.is_chunked = is_chunked
        sender.add(outgoing)
    except BaseException:
        connection.close()
        raise


def _taken(theirs: socket.socket) -> socket.socket:
    """The connection under another descriptor; under theirs a socket whose other end is closed."""
    dead, other = socket.socketpair()
    try:
        mine = socket.socket(fileno=os.dup(theirs.fileno()))
    except OSError:
        dead.close()
        other.close()
        raise
    os.dup2(dead.fileno(), theirs.fileno())
    dead.close()
    other.close()
    return mine


def _head(status: str, headers: Sequence[tuple[str, str]], *, is_chunked: bool) -> bytes:
    lines = [
        f"HTTP/1.1 {status}",
        f"Date: {formatdate(usegmt=True)}",
        "Connection: close",
        *(f"{name}: {value}" for name, value in headers),
    ]
    if is_chunked:
        lines.append("Transfer-Encoding: chunked")
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


def close(parts: Iterable[bytes]) -> None:
    """End the parts, however many of them were sent."""
    end = getattr(parts, "close", None)
    if end is not None:
        end()


def _chunk(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)
