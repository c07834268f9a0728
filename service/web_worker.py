"""The web processes' worker: a thread is given to a request that has come, not to one that may.

gunicorn gives a thread to every connection, and the thread waits for what is
sent over it: a few clients that send a byte now and then keep all threads from
everybody else. Here a connection waits in the kernel until its request is
there, which costs no thread, and is closed if that takes too long.
"""

import re
import select
import socket
import struct
import time
from concurrent.futures import Future
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
SEND_TIMEOUT = struct.pack("ll", 3, 0)
"""How long a client may take to read some of its answer: seconds, and microseconds."""

DRAIN_SECONDS = 1.0
PARTING_SECONDS = 2.0
REST_SECONDS = 0.5
CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"
BARE_END = b"\n\n"
END_OF_HEAD = b"\r\n\r\n"
LENGTH = re.compile(rb"\r\ncontent-length:[ \t]*([0-9]{1,40})[ \t]*\r\n", re.IGNORECASE)
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
        self._sizes: dict[TConn, int] = {}
        self._resting: dict[TConn, float] = {}
        self._asked: set[TConn] = set()
        self._leaving: dict[TConn, float] = {}

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
            if _is_waiting_to_be_asked(known) and conn not in self._asked:
                self._asked.add(conn)
                _send(conn, CONTINUE)
            _wake_at(conn, len(known) - len(_read_ahead(conn)) + lacking)
            self._rest_if(conn, is_idle=self._sizes.get(conn) == len(known))
            self._sizes[conn] = len(known)

    def _rest_if(self, conn: TConn, *, is_idle: bool) -> None:
        """Look only now and then at what wakes for nothing, as it does by an urgent byte."""
        if is_idle:
            self._resting[conn] = time.monotonic() + REST_SECONDS
            self.poller.unregister(conn.sock)

    def finish_request(self, conn: TConn, fs: "Future[Any]") -> None:
        """Keep the connection, or see it off; gunicorn would wait here for the client to go."""
        if not fs.cancelled() and fs.exception() is None and fs.result():
            super().finish_request(conn, fs)
        else:
            self._see_off(conn)

    def _keepalive_after(self, conn: TConn, keepalive: object) -> bool:
        """Whether another request may follow: not if some of the body is still to come."""
        if not keepalive:
            return False
        conn.sock.settimeout(0)
        try:
            return bool(conn.parser.finish_body(deadline=time.monotonic() + DRAIN_SECONDS))
        except Exception:  # noqa: BLE001  whatever it is, the connection ends
            return False

    def murder_pending(self) -> None:
        """Close what takes too long to come."""
        super().murder_pending()
        now = time.monotonic()
        for conn in [conn for conn, until in self._resting.items() if until <= now]:
            del self._resting[conn]
            self.poller.register(conn.sock, EVENT_READ, partial(self._on_more, conn))
        for conn in [conn for conn, until in self._arriving.items() if until <= now]:
            self._refuse(conn, TOO_SLOW if _peeked(conn) else b"")
        for conn in [conn for conn, until in self._leaving.items() if until <= now]:
            self._end(conn)

    def _cap_keepalive(self, deadline: float) -> None:
        """A worker that stops waits no longer than this for anything to come."""
        super()._cap_keepalive(deadline)
        for conn, until in self._arriving.items():
            self._arriving[conn] = min(until, deadline)

    def _hand_over(self, conn: TConn) -> None:
        conn.data_ready = True
        conn.sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, SEND_TIMEOUT)
        super().enqueue_req(conn)

    def _forget(self, conn: TConn) -> None:
        del self._arriving[conn]
        self._sizes.pop(conn, None)
        self._asked.discard(conn)
        if self._resting.pop(conn, None) is None:
            self.poller.unregister(conn.sock)
        _wake_at(conn, 1)

    def _refuse(self, conn: TConn, answer: bytes) -> None:
        """Say why, and close."""
        self._forget(conn)
        _send(conn, answer)
        self._see_off(conn)

    def _see_off(self, conn: TConn) -> None:
        """Say that no more is said, and wait a moment for the client to have read it.

        What it still sends is read: a line with something unread on it is cut
        at once, with the end of the answer.
        """
        try:
            conn.sock.shutdown(socket.SHUT_WR)
            conn.sock.settimeout(0)
            self.poller.register(conn.sock, EVENT_READ, partial(self._on_parting, conn))
        except (OSError, ValueError, KeyError):
            self.nr_conns -= 1
            conn.close()
            return
        self._leaving[conn] = time.monotonic() + PARTING_SECONDS

    def _on_parting(self, conn: TConn, _socket: socket.socket) -> None:
        try:
            is_there = bool(conn.sock.recv(READ_AT_MOST))
        except BlockingIOError:
            return
        except OSError:
            is_there = False
        if not is_there:
            self._end(conn)

    def _end(self, conn: TConn) -> None:
        del self._leaving[conn]
        self.poller.unregister(conn.sock)
        self.nr_conns -= 1
        conn.close()


def _lacking(known: bytes) -> int | None:
    """How many more bytes, at least, until a thread has something to do; 0 if it has.

    None for a head that is too large.

    A body in chunks, or one that is too large to be waited for, is read by the
    thread; a head with bare line feeds is for gunicorn to refuse.
    """
    end = known.find(END_OF_HEAD)
    if end < 0:
        if BARE_END in known:
            return 0
        return 1 if len(known) < HEAD_AT_MOST else None
    found = LENGTH.search(known, 0, end + 2)
    size = int(found[1]) if found else 0
    if size > BODY_AT_MOST:
        return 0
    return max(0, end + len(END_OF_HEAD) + size - len(known))


def _is_waiting_to_be_asked(known: bytes) -> bool:
    """Whether the head is there, and its sender wants to hear that the body is welcome."""
    end = known.find(END_OF_HEAD)
    return end >= 0 and EXPECTS.search(known, 0, end + 2) is not None


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


def _send(conn: TConn, text: bytes) -> None:
    with suppress(OSError):
        conn.sock.send(text, socket.MSG_DONTWAIT)
