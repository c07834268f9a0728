"""Wake-ups between processes: sent after the commit, several at once, over own connections.

Not in the append's transaction: a commit that notifies takes a lock on the
whole cluster. What a listener misses the poll finds: it asks for the versions
of all games that are followed here, in one statement.
"""

import secrets
import time
from collections.abc import Callable, Iterable, Mapping
from threading import Condition, Thread

import psycopg
import structlog

from service.store.database import KEEPALIVE, PatientConnection

CHANNEL = "fairdeal_moved"
PROBE = "probe:"
GATHER_SECONDS = 0.01
"""How long moves are gathered before they are told in one notification."""

POLL_SECONDS = 1.0
PROBE_SECONDS = 2.0
TROUBLE_SECONDS = 1.0
PAYLOAD_BYTES = 7_500
VERSION_DIGITS = 9
GAMES_GATHERED = 10_000
"""How many games are told at once; what is too much the others' polls find."""

VERSIONS = """
SELECT id, version FROM games WHERE id = ANY(%(known)s)
UNION ALL SELECT player_id, newest FROM mailboxes WHERE player_id = ANY(%(known)s)
"""
"""Of games their versions, of players the numbers of their newest notices."""

NOTIFY = "SELECT pg_notify(%s, %s)"


class Wakeups:
    """The two threads of a process: one tells what moved here, one hears what moved elsewhere.

    `followed` gives the games that somebody follows here and the versions that
    are known of them; `tell` is called with what is heard.
    """

    def __init__(
        self,
        url: str,
        followed: Callable[[], Mapping[str, int]],
        tell: Callable[[str, int], None],
    ) -> None:
        self._url = url
        self._followed = followed
        self._tell = tell
        self._moved: dict[str, int] = {}
        self._something = Condition()
        self._threads = [
            Thread(target=self._run, args=(self._send,), name="wakeups-out", daemon=True),
            Thread(target=self._run, args=(self._hear,), name="wakeups-in", daemon=True),
        ]

    def start(self) -> None:
        """Begin to tell and to hear, until the process ends."""
        for thread in self._threads:
            thread.start()

    def moved(self, game: str, version: int) -> None:
        """Tell the other processes, soon and without waiting for it."""
        with self._something:
            if game in self._moved or len(self._moved) < GAMES_GATHERED:
                self._moved[game] = max(version, self._moved.get(game, 0))
                self._something.notify()

    def _run(self, work: Callable[["psycopg.Connection[tuple[object, ...]]"], None]) -> None:
        """Work over a connection, and over another one when that is lost."""
        while True:
            try:
                with _connect(self._url) as connection:
                    work(connection)
            except Exception as error:  # noqa: BLE001  the loop must not end by what it hears
                structlog.get_logger().warning("wakeups_lost", reason=type(error).__name__)
                time.sleep(TROUBLE_SECONDS)

    def _send(self, connection: "psycopg.Connection[tuple[object, ...]]") -> None:
        while True:
            for payload in payloads(self._gathered()):
                connection.execute(NOTIFY, (CHANNEL, payload))

    def _gathered(self) -> Mapping[str, int]:
        """What moved within a moment of the first: each game once, at its newest version."""
        with self._something:
            if not self._something.wait_for(lambda: bool(self._moved), POLL_SECONDS):
                return {}
        time.sleep(GATHER_SECONDS)
        with self._something:
            gathered, self._moved = self._moved, {}
        return gathered

    def _hear(self, connection: "psycopg.Connection[tuple[object, ...]]") -> None:
        """Listen first, then read, then wait: so nothing falls between."""
        connection.execute(f"LISTEN {CHANNEL}")
        probe, probed = PROBE + secrets.token_hex(8), time.monotonic()
        connection.execute(NOTIFY, (CHANNEL, probe))
        is_heard = is_warned = False
        polled = 0.0
        while True:
            if time.monotonic() - polled >= POLL_SECONDS:
                self._poll(connection)
                polled = time.monotonic()
            for notification in connection.notifies(timeout=POLL_SECONDS):
                is_heard = is_heard or notification.payload == probe
                for game, version in read_payload(notification.payload):
                    self._tell(game, version)
            if not (is_heard or is_warned) and time.monotonic() - probed > PROBE_SECONDS:
                is_warned = True
                structlog.get_logger().warning("wakeups_unheard", hint="FAIRDEAL_LISTEN_URL")

    def _poll(self, connection: "psycopg.Connection[tuple[object, ...]]") -> None:
        known = self._followed()
        if not known:
            return
        for game, version in connection.execute(VERSIONS, {"known": list(known)}):
            self._tell(str(game), int(str(version)))


def _connect(url: str) -> "psycopg.Connection[tuple[object, ...]]":
    """A direct connection that finds out soon when the other end is gone."""
    return PatientConnection.connect(url, autocommit=True, **KEEPALIVE)


def payloads(moved: Mapping[str, int]) -> Iterable[str]:
    """The notifications that tell of these games, each short enough for Postgres."""
    parts: list[str] = []
    size = 0
    for game, version in moved.items():
        part = f"{game}:{version}"
        if size + len(part) > PAYLOAD_BYTES:
            yield ",".join(parts)
            parts, size = [], 0
        parts.append(part)
        size += len(part) + 1
    if parts:
        yield ",".join(parts)


def read_payload(payload: str) -> Iterable[tuple[str, int]]:
    """The games and versions of a notification; what is none of ours is skipped."""
    for part in payload.split(","):
        game, _, version = part.partition(":")
        if version.isascii() and version.isdecimal() and len(version) <= VERSION_DIGITS:
            yield game, int(version)
