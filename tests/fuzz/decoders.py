"""Coverage-guided fuzzing of everything that reads what strangers send: `make fuzz`.

Each decoder may refuse, by its own errors and no others.
"""

import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from io import BytesIO
from typing import Any

import atheris

with atheris.instrument_imports(include=["service"]):
    from flask import Request

    from service.api.bodies import load_body, read_json
    from service.api.keys import read_idempotency_key, read_token
    from service.api.pages import read_cursor
    from service.api.schemas import GameRequestSchema, any_move_request_schema, move_request_schema
    from service.log.events import MalformedEvent, parse_event
    from service.play.refusals import Refusal
    from service.proof.outside import Evidence
    from service.proof.verify import verify
    from service.rules.registry import current
    from service.store.wakeups import read_payload

REFUSED = (Refusal, MalformedEvent)
MOVES = [move_request_schema(ruleset) for ruleset in current().values()]
OPENING = GameRequestSchema()


def request(data: bytes, **headers: str) -> Request:
    environ = {
        "REQUEST_METHOD": "POST",
        "wsgi.input": BytesIO(data),
        "wsgi.input_terminated": True,
        "CONTENT_TYPE": "application/json",
        "SERVER_NAME": "localhost",
        "SERVER_PORT": "80",
        "wsgi.url_scheme": "http",
        **headers,
    }
    return Request(environ)


def body(data: bytes) -> None:
    read_json(request(data))


def move(data: bytes) -> None:
    value = read_json(request(data))
    for schema in MOVES:
        load_body(schema, value)


def opening(data: bytes) -> None:
    load_body(OPENING, read_json(request(data)))


def headers(data: bytes) -> None:
    text = data.decode("latin-1")
    asked = request(b"", HTTP_AUTHORIZATION=text, HTTP_IDEMPOTENCY_KEY=text)
    read_token(asked)
    read_idempotency_key(asked)


def cursor(data: bytes) -> None:
    read_cursor({"cursor": data.decode("latin-1")})


def event(data: bytes) -> None:
    parse_event(data.decode("utf-8", "surrogateescape"))


def export(data: bytes) -> None:
    verify(data.decode("utf-8", "replace"), Evidence())


def payload(data: bytes) -> None:
    list(read_payload(data.decode("latin-1")))


TARGETS: Sequence[Callable[[bytes], None]] = (
    *(body, move, opening, headers),
    *(cursor, event, export, payload),
)


def one(data: bytes) -> None:
    """The first byte says which decoder reads the rest."""
    if not data:
        return
    with suppress(*REFUSED):
        TARGETS[data[0] % len(TARGETS)](data[1:])


def main(arguments: list[Any]) -> None:
    assert any_move_request_schema()
    atheris.Setup(arguments, one)
    atheris.Fuzz()


if __name__ == "__main__":
    main(sys.argv)
