"""What an endpoint is: its function, and beside it all that the outside is told of it.

The description is data. Flask gets its routes from it and `openapi.yaml` its
paths, so that neither knows an operation that the other doesn't.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from ipaddress import ip_address, ip_network
from typing import Any, Protocol, TypeAlias

from flask import Request, Response
from marshmallow import Schema

from service.api.bodies import load_body, read_json, read_text
from service.api.keys import read_idempotency_key
from service.canonical import Json, JsonMap, dump_json
from service.play.admins import Admin
from service.play.caller import Caller
from service.play.idempotency import request_key
from service.play.limits import READS, WRITES
from service.play.refusals import Unauthenticated
from service.play.services import Services
from service.store.appends import RequestKey

JSON = "application/json"
EVENT_STREAM = "text/event-stream"
HTML = "text/html"
NDJSON = "application/x-ndjson"
TEXT = "text/plain"
YAML = "application/yaml"


class Places(Protocol):
    """The streams of the process, counted."""

    def enter(self, who: str) -> Callable[[], None]:
        """Count one more stream of theirs, until what is returned is called."""


class Descriptions(Protocol):
    """The description of the API in its three forms."""

    @property
    def yaml(self) -> str:
        """The text of `/openapi.yaml`."""

    @property
    def json(self) -> str:
        """The text of `/openapi.json`."""

    @property
    def page(self) -> str:
        """The page of `/docs`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One request to an operation: who calls, and what they sent."""

    services: Services
    request: Request
    caller: Caller | None
    query: Mapping[str, Any]
    operation: "Operation"
    described: "Descriptions"
    streams: "Places"
    acting: Admin | None = None

    @property
    def admin(self) -> Admin:
        """The admin who calls an operation of theirs."""
        if self.acting is None:
            raise Unauthenticated
        return self.acting

    @property
    def player(self) -> str | None:
        """The calling player's id; None for nobody in particular."""
        return None if self.caller is None else self.caller.player

    @property
    def known_caller(self) -> Caller:
        """The caller of an operation that asks for a key."""
        if self.caller is None:
            raise Unauthenticated
        return self.caller

    def count(self, policy: str) -> None:
        """Count the request by another policy, too; raises TooManyRequests."""
        if self.services.limiter is not None:
            self.services.limiter.take(policy, asker(self.request, self.caller))

    def body(self) -> JsonMap:
        """The body as a JSON object."""
        return read_json(self.request)

    def upload(self) -> str:
        """The body of an operation that takes text."""
        if self.operation.upload is None:
            message = "the operation takes no upload"
            raise TypeError(message)
        return read_text(self.request, self.operation.upload)

    def load(self, body: JsonMap) -> Any:  # noqa: ANN401  what the operation's schema builds
        """What the operation's own schema builds of the body."""
        if self.operation.body is None:
            message = "the operation takes no body"
            raise TypeError(message)
        return load_body(self.operation.body, body)

    def key(self, body: JsonMap) -> RequestKey | None:
        """The request's idempotency key in its scope, if it has one."""
        key = read_idempotency_key(self.request)
        if key is None:
            return None
        who = self.acting.id if self.acting else self.known_caller.player
        return request_key(who, self.operation.id, key, body)


@dataclass(frozen=True, slots=True)
class Answer:
    """What an operation answers: a JSON value, or text of another media type, whole or in parts."""

    status: int
    body: JsonMap | str | Iterator[str] | Iterator[bytes] | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    media_type: str = JSON

    def response(self) -> Response:
        """The answer as Flask sends it."""
        headers = list(self.headers.items())
        answer = Response(
            self._text(), self.status, headers, content_type=_content_type(self.media_type)
        )
        if self.body is None:
            answer.headers.remove("Content-Type")
        return answer

    def _text(self) -> str | Iterator[str] | Iterator[bytes]:
        if isinstance(self.body, Mapping):
            return dump_json(self.body)
        return self.body or ""


@dataclass(frozen=True, slots=True)
class Texts:
    """A list whose items are JSON texts: events keep the bytes that they were chained in."""

    items: Sequence[str]


Member: TypeAlias = "Json | Texts"
"""A value of an answer's object."""


@dataclass(frozen=True, slots=True)
class Returns:
    """One way to succeed; `media` maps media types to schemas, None for text."""

    description: str
    media: Mapping[str, Schema | None] = field(default_factory=dict)
    headers: Sequence[str] = ()


View: TypeAlias = Callable[..., Answer]


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """An endpoint.

    `path` is in OpenAPI's form; `scope` is what a key must have to call it,
    `is_open` whether one may call without a key; `body` is the JSON that it
    takes, `upload` the media type of a text that it takes instead; `refuses` are the slugs of
    its own problems, beside those that every operation of its kind has.
    What admins call is written into their trail before it is done.
    """

    id: str
    method: str
    path: str
    tag: str
    summary: str
    description: str = ""
    view: View
    scope: str | None = None
    is_open: bool = False
    query: Schema | None = None
    body: Schema | None = None
    policy: str = ""
    upload: str | None = None
    returns: Mapping[int, Returns]
    refuses: Sequence[str] = ()
    is_idempotent_by_key: bool = False

    @property
    def is_admins(self) -> bool:
        """Whether only admins call it."""
        return self.path.startswith("/admin")

    @property
    def is_uncounted(self) -> bool:
        """Whether anybody may ask as often as they like: whoever watches over the process does."""
        return self.path in ("/livez", "/readyz")

    @property
    def limit(self) -> str:
        """The policy by which its requests are counted."""
        return self.policy or (READS if self.method == "GET" else WRITES)


NO_STORE: Mapping[str, str] = {"Cache-Control": "no-store"}
PRIVATE_NO_STORE: Mapping[str, str] = {"Cache-Control": "private, no-store"}


def replay_header(*, is_replayed: bool) -> Mapping[str, str]:
    """What says that an earlier request with the same key was answered so."""
    return {"Idempotent-Replayed": "true"} if is_replayed else {}


def asker(request: Request, caller: Caller | None) -> str:
    """Whose requests are counted together: a player's, else those from an address.

    Of IPv6 a whole /64: that is what one customer has.
    """
    if caller is not None:
        return caller.player
    try:
        address = ip_address(request.remote_addr or "")
    except ValueError:
        return "address unknown"
    is_wide = address.version == 6  # noqa: PLR2004  IPv6
    return str(ip_network(f"{address}/64", strict=False) if is_wide else address)


def flask_path(path: str) -> str:
    """OpenAPI's form of a path as Flask writes it."""
    return path.replace("{", "<").replace("}", ">")


def spliced(members: Mapping[str, Member]) -> str:
    """A JSON object whose members are values, or lists of texts that are JSON already."""
    return "{" + ",".join(f'"{name}":{_text(value)}' for name, value in members.items()) + "}"


def _text(value: Member) -> str:
    if isinstance(value, Texts):
        return f"[{','.join(value.items)}]"
    return dump_json(value)


def _content_type(media_type: str) -> str:
    return f"{media_type}; charset=utf-8" if media_type in (HTML, YAML, TEXT) else media_type
