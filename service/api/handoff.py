"""Streams leave the server's worker threads, so that moves never wait for one.

The connection is taken out of gunicorn's hands: its descriptor is put in the
place of a socket that nobody reads, and a thread of the stream's own writes
to the real one. Elsewhere, under another server, a stream is answered as any
other answer is.
"""

import os
import select
import socket
import ssl
import time
from collections.abc import Iterable, Sequence
from email.utils import formatdate
from threading import Thread
from typing import TYPE_CHECKING
from weakref import WeakSet

import structlog

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIEnvironment

STREAM = "fairdeal.stream"
"""Set in a request's environment by an operation that answers with a stream."""

LINK = "fairdeal.link"
"""Where a request's environment keeps the link of its stream."""

_SENDING: "WeakSet[Thread]" = WeakSet()

HUNG_UP = select.POLLRDHUP | select.POLLHUP | select.POLLERR
SEND_SECONDS = 20
"""How long a client may leave what is sent to it unread."""


class Link:
    """The connection of a stream, once it is handed off: whether anybody is still there."""

    def __init__(self) -> None:
        self.connection: socket.socket | None = None

    def is_gone(self) -> bool:
        """Whether the client has closed the connection."""
        if self.connection is None or self.connection.fileno() < 0:
            return False
        look = select.poll()
        look.register(self.connection, HUNG_UP)
        return bool(look.poll(0))


class HandedOff(StopIteration):
    """The connection is somebody else's now; gunicorn lets go of it without a word."""


def can_be_handed_off(environ: "WSGIEnvironment") -> bool:
    """Whether the answer is a stream on a connection that can be taken over."""
    connection = environ.get("gunicorn.socket")
    return (
        bool(environ.get(STREAM))
        and environ["REQUEST_METHOD"] == "GET"
        and isinstance(connection, socket.socket)
        and not isinstance(connection, ssl.SSLSocket)
    )


def hand_off(
    environ: "WSGIEnvironment",
    status: str,
    headers: Sequence[tuple[str, str]],
    parts: Iterable[bytes],
) -> None:
    """Send the answer from a thread of its own, and return at once."""
    connection = _taken(environ["gunicorn.socket"])
    is_chunked = environ["SERVER_PROTOCOL"] != "HTTP/1.0"
    head = _head(status, headers, is_chunked=is_chunked)
    link = environ.get(LINK)
    if isinstance(link, Link):
        link.connection = connection
    arguments = (connection, head, parts, is_chunked)
    thread = Thread(target=_send, args=arguments, name="stream", daemon=True)
    try:
        thread.start()
    except RuntimeError:
        connection.close()
        raise
    _SENDING.add(thread)


def drain(seconds: float) -> None:
    """Let the streams say that they end, for so long at most."""
    until = time.monotonic() + seconds
    for thread in list(_SENDING):
        thread.join(max(0.0, until - time.monotonic()))


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


def _send(
    connection: socket.socket,
    head: bytes,
    parts: Iterable[bytes],
    is_chunked: bool,  # noqa: FBT001  a thread's arguments
) -> None:
    """Send everything, as it comes; stop when the client is gone or reads no more."""
    try:
        with connection:
            connection.settimeout(SEND_SECONDS)
            connection.sendall(head)
            for part in parts:
                connection.sendall(_chunk(part) if is_chunked else part)
            if is_chunked:
                connection.sendall(_chunk(b""))
            connection.shutdown(socket.SHUT_WR)
    except OSError:
        return
    except Exception as error:  # noqa: BLE001  whoever reads it sees that it breaks off
        structlog.get_logger().error("stream_failed", exception=type(error).__name__)
    finally:
        close(parts)


def close(parts: Iterable[bytes]) -> None:
    """End the parts, however many of them were sent."""
    end = getattr(parts, "close", None)
    if end is not None:
        end()


def _chunk(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)
