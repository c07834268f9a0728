"""The web processes' worker: a thread is given to a request that has come, not to one that may.

gunicorn gives a thread to every connection, and the thread waits for what is
sent over it: a few clients that send a byte now and then keep all threads from
everybody else. Here a connection waits in the kernel until its request is
there, which costs no thread, and is closed if that takes too long.
"""

import re
import select
import socket
import time
from contextlib import suppress
from functools import partial
from selectors import EVENT_READ
from typing import Any

from gunicorn.workers.gthread import TConn, ThreadWorker

from service.canonical import canonical_bytes

ARRIVAL_SECONDS = 10.0
"""How long a request may take to come; of a large body, its head."""

HEAD_AT_MOST = 32 * 1024
BODY_AT_MOST = 64 * 1024
"""A body up to this size is waited for as a whole: any JSON that is taken."""

READ_AT_MOST = HEAD_AT_MOST + BODY_AT_MOST
END_OF_HEAD = b"\r\n\r\n"
LENGTH = re.compile(rb"\r\ncontent-length:[ \t]*([0-9]{1,9})[ \t]*\r\n", re.IGNORECASE)
EXPECTS = re.compile(rb"\r\nexpect:", re.IGNORECASE)
PEEK = socket.MSG_PEEK | socket.MSG_DONTWAIT


def _answer_of(status: int, title: str, code: str, detail: str) -> bytes:
    """An answer to what is no request yet: a problem, and the end of the connection."""
    problem = canonical_bytes(
        {"type": "about:blank", "title": title, "status": status, "detail": detail, "code": code}
    )
    head = (
        f"HTTP/1.1 {status} {title}\r\nConnection: close\r\n"
        f"Content-Type: application/problem+json\r\nContent-Length: {len(problem)}\r\n\r\n"
    )
    return head.encode() + problem


TOO_SLOW = _answer_of(
    408, "Request Timeout", "request_timeout", "The request did not come in time: send it again."
)
TOO_LARGE = _answer_of(
    431,
    "Request Header Fields Too Large",
    "head_too_large",
    "The request line and the header fields are too large.",
)


class PatientWorker(ThreadWorker):  # type: ignore[misc]  # gunicorn has no types
    """gunicorn's worker of threads, patient for the sake of its threads."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401
        super().__init__(*args, **kwargs)
        self._arriving: dict[TConn, float] = {}

    def enqueue_req(self, conn: TConn) -> None:
        """Give the connection a thread as soon as its request has come."""
        if self.cfg.is_ssl:  # what comes can't be read here
            super().enqueue_req(conn)
            return
        if _lacking(_peeked(conn)) == 0:
            self._hand_over(conn)
            return
        self._arriving[conn] = time.monotonic() + ARRIVAL_SECONDS
        self.poller.register(conn.sock, EVENT_READ, partial(self._on_more, conn))
        self._look(conn)

    def _on_more(self, conn: TConn, _socket: socket.socket) -> None:
        """More of a request came, or its sender has said all: the thread answers to that."""
        if _is_over(conn):
            self._forget(conn)
            self._hand_over(conn)
        else:
            self._look(conn)

    def _look(self, conn: TConn) -> None:
        """Hand over what is there, wait for what is not, refuse what is too much."""
        known = _peeked(conn)
        lacking = _lacking(known)
        if lacking is None:
            self._refuse(conn, TOO_LARGE)
        elif lacking == 0:
            self._forget(conn)
            self._hand_over(conn)
        else:
            _wake_at(conn, len(known) - len(_read_ahead(conn)) + lacking)

    def murder_pending(self) -> None:
        """Close what takes too long to come."""
        super().murder_pending()
        now = time.monotonic()
        for conn in [conn for conn, until in self._arriving.items() if until <= now]:
            self._refuse(conn, TOO_SLOW if _peeked(conn) else b"")

    def _cap_keepalive(self, deadline: float) -> None:
        """A worker that stops waits no longer than this for anything to come."""
        super()._cap_keepalive(deadline)
        for conn, until in self._arriving.items():
            self._arriving[conn] = min(until, deadline)

    def _hand_over(self, conn: TConn) -> None:
        conn.data_ready = True
        super().enqueue_req(conn)

    def _forget(self, conn: TConn) -> None:
        del self._arriving[conn]
        self.poller.unregister(conn.sock)
        _wake_at(conn, 1)

    def _refuse(self, conn: TConn, answer: bytes) -> None:
        """Say why, and close; what was sent is read, or the line is cut before the answer."""
        self._forget(conn)
        with suppress(OSError):
            conn.sock.recv(READ_AT_MOST, socket.MSG_DONTWAIT)
            conn.sock.send(answer, socket.MSG_DONTWAIT)
        self.nr_conns -= 1
        conn.close()


def _lacking(known: bytes) -> int | None:
    """How many more bytes, at least, until a thread has something to do; 0 if it has.

    None for a head that is too large.

    A body in chunks, one that is too large to be waited for, or one whose
    sender waits to be asked for it, is read by the thread.
    """
    end = known.find(END_OF_HEAD)
    if end < 0:
        return 1 if len(known) < HEAD_AT_MOST else None
    found = LENGTH.search(known, 0, end + 2)
    size = int(found[1]) if found else 0
    if size > BODY_AT_MOST or EXPECTS.search(known, 0, end + 2):
        return 0
    return max(0, end + len(END_OF_HEAD) + size - len(known))


def _read_ahead(conn: TConn) -> bytes:
    """What the parser took already of the next request."""
    return b"" if conn.parser is None else bytes(conn.parser.unreader.buf.getvalue())


def _peeked(conn: TConn) -> bytes:
    """What has come of the request, left where it is."""
    try:
        waiting = conn.sock.recv(READ_AT_MOST, PEEK)
    except OSError:
        waiting = b""
    return _read_ahead(conn) + bytes(waiting)


def _is_over(conn: TConn) -> bool:
    """Whether the sender is gone, or has said that nothing more comes."""
    poll = select.poll()
    poll.register(conn.sock, getattr(select, "POLLRDHUP", 0))
    return bool(poll.poll(0))


def _wake_at(conn: TConn, size: int) -> None:
    """Be told only when so many bytes wait in the kernel."""
    conn.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT, size)
