"""The doorway: what every request passes on its way in, and every answer on its way out.

A thin layer around the application, so that it holds for whatever is
answered: by an operation, by the router, by a handler of faults.
"""

import time
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any
from uuid import UUID

import structlog

from service.api.handoff import HandedOff, Sender, can_be_handed_off, close, hand_off
from service.metrics import REQUEST_SECONDS, REQUESTS

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

REQUEST_ID = "fairdeal.request_id"
ROUTE = "fairdeal.route"
GAME = "fairdeal.game"
PLAYER = "fairdeal.player"

COMMON_HEADERS: Sequence[tuple[str, str]] = (
    ("Access-Control-Allow-Origin", "*"),
    (
        "Access-Control-Expose-Headers",
        (
            "ETag, Idempotent-Replayed, Link, Location, RateLimit, RateLimit-Policy, Request-Id, "
            "Retry-After"
        ),
    ),
    (
        "Content-Security-Policy",
        (
            "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; "
            "frame-ancestors 'none'"
        ),
    ),
    ("Cross-Origin-Resource-Policy", "cross-origin"),
    ("Referrer-Policy", "no-referrer"),
    ("X-Content-Type-Options", "nosniff"),
)

CROSS_ORIGIN = ("Access-Control-", "Cross-Origin-")

PREFLIGHT_HEADERS: Sequence[tuple[str, str]] = (
    (
        "Access-Control-Allow-Headers",
        "Accept-Language, Authorization, Content-Type, Idempotency-Key, If-None-Match",
    ),
    ("Access-Control-Allow-Methods", "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS"),
    ("Access-Control-Max-Age", "86400"),
)


class Doorway:
    """Gives each request its id, each answer the headers that all have, and the log its line."""

    def __init__(
        self,
        application: "WSGIApplication",
        new_request_id: Callable[[], UUID],
        sender: Sender,
    ) -> None:
        self._application = application
        self._new_request_id = new_request_id
        self._sender = sender
        self._log = structlog.get_logger().bind()

    def __call__(
        self, environ: "WSGIEnvironment", start_response: "StartResponse"
    ) -> Iterable[bytes]:
        """Answer as the application does."""
        began = time.perf_counter()
        request_id = self._new_request_id()
        environ[REQUEST_ID] = request_id
        extra = [("Request-Id", str(request_id)), *COMMON_HEADERS]
        is_admins = environ.get("PATH_INFO", "").startswith("/admin")
        if is_admins:  # pages of other sites have no business there
            extra = [header for header in extra if not header[0].startswith(CROSS_ORIGIN)]
        elif environ["REQUEST_METHOD"] == "OPTIONS":
            extra += PREFLIGHT_HEADERS

        head: tuple[str, list[tuple[str, str]]] | None = None

        def start(status: str, headers: list[tuple[str, str]], *rest: Any) -> Any:  # noqa: ANN401
            nonlocal head
            self._note(environ, status, time.perf_counter() - began)
            own = {name.lower() for name, _ in headers}
            more = [header for header in extra if header[0].lower() not in own]
            if can_be_handed_off(environ):
                head = (status, headers + more)
                return None
            return start_response(status, headers + more, *rest)

        answer = self._application(environ, start)
        if head is not None:
            try:
                hand_off(environ, *head, self._sender)
            except BaseException:
                close(answer)
                raise
            raise HandedOff
        return answer

    def _note(self, environ: "WSGIEnvironment", status: str, seconds: float) -> None:
        """One line a request: who, what, how long; nothing of what was sent or shown."""
        operation = environ.get(ROUTE) or "none"
        REQUESTS.labels(operation, status[:3]).inc()
        REQUEST_SECONDS.labels(operation).observe(seconds)
        self._log.info(
            "request",
            request_id=str(environ[REQUEST_ID]),
            method=environ["REQUEST_METHOD"],
            route=environ.get(ROUTE),
            game=environ.get(GAME),
            player=environ.get(PLAYER),
            status=int(status[:3]),
            ms=round(seconds * 1000, 1),
        )
