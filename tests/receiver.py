"""A receiver of webhooks for the tests: checks what it is sent, and answers what it is told to."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread
from typing import Any

Answer = tuple[int, dict[str, str]]


@dataclass
class Receiver:
    """What was posted: paths, headers, bodies. `answer` says what to answer to the n-th."""

    url: str = ""
    answer: Callable[[int, Any], Answer] = lambda _number, _body: (204, {})
    requests: list[tuple[str, dict[str, str], bytes]] = field(default_factory=list)
    lock: Lock = field(default_factory=Lock)

    @property
    def bodies(self) -> list[Any]:
        return [json.loads(body) for _, _, body in self.requests]


@contextmanager
def receiver(answer: Callable[[int, Any], Answer] | None = None) -> Iterator[Receiver]:
    """A receiver at an address of this machine."""
    found = Receiver()
    if answer is not None:
        found.answer = answer

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            with found.lock:
                found.requests.append((self.path, dict(self.headers), body))
                number = len(found.requests)
            status, headers = found.answer(number, json.loads(body))
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    found.url = f"http://127.0.0.1:{server.server_port}/hook?of=mine"
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield found
    finally:
        server.shutdown()
        server.server_close()
