"""Posting to an address that a stranger chose: only to public ones, and never for long.

The name is resolved once, every address of it is looked at, and the
connection goes to one of those very addresses: a name that means something
else a moment later leads nowhere. Redirects are not followed, and of the
answer nothing is read but its status.
"""

import socket
import ssl
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException
from threading import Timer
from urllib.parse import urlsplit

from service.play.addresses import is_public
from service.play.webhooks import url_fault

SECONDS_AT_MOST = 15
RETRY_AFTER_AT_MOST = 3600


class Watch:
    """Hangs up after so many seconds, whatever the connection has become by then.

    Whoever answers byte by byte does not hold a thread for longer.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._connection: socket.socket | None = None

    @contextmanager
    def over(self, connection: socket.socket) -> Iterator[socket.socket]:
        """The connection, for so long at most."""
        self._connection = connection
        timer = Timer(self._seconds, self._hang_up)
        timer.daemon = True
        timer.start()
        try:
            yield connection
        finally:
            timer.cancel()
            self._connection.close()

    def turn_to(self, connection: socket.socket) -> None:
        """It is another object now: the one before holds nothing any more."""
        self._connection = connection

    def _hang_up(self) -> None:
        if self._connection is not None:
            with suppress(OSError):
                self._connection.shutdown(socket.SHUT_RDWR)


class Undeliverable(Exception):
    """Nothing was delivered; the message says why, to whom the webhook belongs."""


@dataclass(frozen=True, slots=True)
class Posted:
    """The status of the answer, and how many seconds it asks to wait before the next attempt."""

    status: int
    retry_after: int = 0


def post(url: str, body: bytes, headers: Mapping[str, str], *, allows_any: bool) -> Posted:
    """Post the body; raises Undeliverable."""
    fault = url_fault(url, allows_any=allows_any)
    if fault is not None:
        raise Undeliverable(fault)
    parts = urlsplit(url)
    host = parts.hostname or ""
    port = parts.port or (443 if parts.scheme == "https" else 80)
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    watch = Watch(SECONDS_AT_MOST)
    try:
        with watch.over(_connected(host, port, allows_any=allows_any)) as connection:
            secured = connection if parts.scheme == "http" else _secured(connection, host, watch)
            with secured:
                return _posted(secured, path, body, {**headers, "Host": parts.netloc})
    except ssl.SSLError as error:
        message = f"TLS failed: {error.reason or 'it was broken off'}"
        raise Undeliverable(message) from error
    except TimeoutError as error:
        message = "There was no answer in time."
        raise Undeliverable(message) from error
    except (OSError, HTTPException, ValueError) as error:
        message = "The connection was refused or broken off."
        raise Undeliverable(message) from error


def _connected(host: str, port: int, *, allows_any: bool) -> socket.socket:
    """A connection to one of the host's addresses; raises Undeliverable where one is not public."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        message = "The host was not found."
        raise Undeliverable(message) from error
    addresses = list(dict.fromkeys(str(place[0]) for *_, place in found))
    if not allows_any and not all(is_public(address) for address in addresses):
        message = "The host has an address that is not a public one."
        raise Undeliverable(message)
    failed: OSError | None = None
    for address in addresses[:2]:
        try:
            return socket.create_connection((address, port), SECONDS_AT_MOST / 3)
        except OSError as error:
            failed = error
    raise failed or OSError


def _secured(connection: socket.socket, host: str, watch: Watch) -> ssl.SSLSocket:
    """The connection with TLS; it is watched over before the first word of the other side."""
    secured = ssl.create_default_context().wrap_socket(
        connection, server_hostname=host, do_handshake_on_connect=False
    )
    watch.turn_to(secured)
    secured.do_handshake()
    return secured


def _posted(
    connection: socket.socket, path: str, body: bytes, headers: Mapping[str, str]
) -> Posted:
    http = HTTPConnection("unused")
    http.sock = connection
    http.request("POST", path, body, {**headers, "Connection": "close"})
    answer = http.getresponse()
    asked = answer.headers.get("Retry-After") or ""
    wait = int(asked) if asked.isascii() and asked.isdecimal() and len(asked) < len("10000") else 0
    return Posted(answer.status, min(wait, RETRY_AFTER_AT_MOST))
