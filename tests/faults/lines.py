"""A line between the service and Postgres that the test holds in its hand."""

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from enum import Enum
from pathlib import Path

import psycopg

CHUNK = 65_536
DELAY_SECONDS = 0.2
LOOK_SECONDS = 0.05
A_MOVE = b'"type":"move"'
"""What an append brings along, and no question does."""


class Mode(Enum):
    """What the line does to who comes over it."""

    PASS = "everything goes through"
    DELAY = "everything comes 200 ms late"
    REFUSE = "whoever connects is cut off"
    CUT = "cut when a move was written, before its answer is there"
    SILENT = "held, and nothing comes through any more"


class Way(Enum):
    """Which way the bytes go."""

    ASKING = "to the server"
    ANSWERING = "from the server"


class Line:
    """Carries connections to the server's socket; `mode` and `target` may change at any time.

    A connection that fell silent stays so: half open, as when a machine is gone.
    """

    def __init__(self, target: Path) -> None:
        self.mode = Mode.PASS
        self.target = target
        self.hits: dict[Mode, int] = dict.fromkeys(Mode, 0)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._listener.settimeout(LOOK_SECONDS)
        self._is_over = threading.Event()
        self._held: list[socket.socket] = []
        self._threads: list[threading.Thread] = []

    @property
    def port(self) -> int:
        return int(self._listener.getsockname()[1])

    def start(self) -> None:
        self._spawn(self._accept)

    def stop(self) -> None:
        self._is_over.set()
        self.cut_all()
        for thread in self._threads:
            thread.join(5)
        self._listener.close()
        self.cut_all()

    def cut_all(self) -> None:
        """End every connection that there is, as a machine does that is switched off."""
        held, self._held = self._held, []
        for one in held:
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()

    def _spawn(self, work: object, *arguments: object) -> None:
        thread = threading.Thread(target=work, args=arguments, daemon=True)  # type: ignore[arg-type]
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        while not self._is_over.is_set():
            try:
                near, _ = self._listener.accept()
            except TimeoutError:
                continue
            far = socket.socket(socket.AF_UNIX)
            try:
                if self.mode is Mode.REFUSE:
                    self.hits[Mode.REFUSE] += 1
                    raise ConnectionRefusedError
                far.connect(str(self.target))
            except OSError:
                near.close()
                far.close()
                continue
            self._held += [near, far]
            asked = threading.Event()
            self._spawn(self._carry, near, far, Way.ASKING, asked)
            self._spawn(self._carry, far, near, Way.ANSWERING, asked)

    def _carry(
        self, source: socket.socket, sink: socket.socket, way: Way, asked: threading.Event
    ) -> None:
        """Carry bytes one way; `asked` is set while a move is on its way to be written."""
        try:
            while data := source.recv(CHUNK):
                mode = self.mode
                if mode is Mode.SILENT:
                    self.hits[mode] += 1
                    self._is_over.wait()
                    return
                if way is Way.ASKING and A_MOVE in data:
                    asked.set()
                if way is Way.ANSWERING and asked.is_set():
                    asked.clear()
                    if mode is Mode.CUT:
                        self.hits[mode] += 1
                        break
                if mode is Mode.DELAY:
                    self.hits[mode] += 1
                    time.sleep(DELAY_SECONDS)
                sink.sendall(data)
        except OSError:
            pass
        for one in (source, sink):
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)


@contextmanager
def line_to(url: str) -> Iterator[tuple[Line, str]]:
    """A line to the server of that URL, and the URL that leads over it."""
    parts = psycopg.conninfo.conninfo_to_dict(url)
    line = Line(socket_of(url))
    line.start()
    try:
        yield line, f"postgresql://{parts['user']}@127.0.0.1:{line.port}/{parts['dbname']}"
    finally:
        line.stop()


def socket_of(url: str) -> Path:
    return Path(str(psycopg.conninfo.conninfo_to_dict(url)["host"]), ".s.PGSQL.5432")
