"""Reading a request's body: strictly, and once."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from difflib import get_close_matches
from socket import SHUT_RD, socket
from threading import Timer
from typing import TYPE_CHECKING, Any

from flask import Request
from marshmallow import RAISE, Schema, ValidationError
from werkzeug.exceptions import RequestEntityTooLarge

from service.canonical import JsonMap, dump_json
from service.play.refusals import FieldError, InvalidBody, Refusal

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIEnvironment

JSON_TYPE = "application/json"
BODY_BYTES_AT_MOST = 64 * 1024
UPLOAD_BYTES_AT_MOST = 2 * 1024 * 1024
LENGTH_DIGITS = 9
PART_SECONDS = 10
BODY_SECONDS = 30.0
UNKNOWN_FIELD = "Unknown field."


class NotJson(Refusal):
    """The body is of another media type."""

    slug = "unsupported-media-type"
    message = "Send the body as `Content-Type: {media_type}`."


class MalformedJson(Refusal):
    """The body is no JSON, or not the JSON of one clear value."""

    slug = "malformed-json"
    message = "The body is not JSON: {reason}."


class RequestSchema(Schema):
    """A body or a query: fields that are not named here are refused."""

    class Meta:
        """marshmallow's settings."""

        unknown = RAISE


def read_json(request: Request) -> JsonMap:
    """The body as a JSON object.

    Raises RequestEntityTooLarge, NotJson, MalformedJson, and InvalidBody where
    the value is no object.
    """
    data = _read(request, BODY_BYTES_AT_MOST)
    if request.environ.get("CONTENT_TYPE") != JSON_TYPE and request.mimetype != JSON_TYPE:
        raise NotJson(media_type=JSON_TYPE)
    value = _parse(data)
    if not isinstance(value, dict):
        raise InvalidBody([FieldError("", "The body must be a JSON object.")])
    return value


def read_text(request: Request, media_type: str) -> str:
    """The body as a text of that media type, larger than JSON may be.

    Raises RequestEntityTooLarge, NotJson and MalformedJson.
    """
    data = _read(request, UPLOAD_BYTES_AT_MOST)
    if request.mimetype != media_type:
        raise NotJson(media_type=media_type)
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise MalformedJson(reason="it is not UTF-8 text") from error


def _read(request: Request, at_most: int) -> bytes:
    """The body's bytes, all of them and never more than are allowed.

    Raises RequestEntityTooLarge, and MalformedJson for a body whose transfer
    is broken off, malformed, or stalls.
    """
    environ = request.environ
    length = environ.get("CONTENT_LENGTH") or ""
    if not length:
        limit = at_most + 1 if environ.get("wsgi.input_terminated") else 0
        data = _read_part(environ, limit)
        if len(data) > at_most:
            raise RequestEntityTooLarge
        return data
    expected = int(length) if len(length) <= LENGTH_DIGITS else at_most + 1
    if expected > at_most:
        raise RequestEntityTooLarge
    data = _read_part(environ, expected)
    if len(data) < expected:
        raise MalformedJson(reason="it ends early")
    return data


def _read_part(environ: "WSGIEnvironment", limit: int) -> bytes:
    """So many bytes of the body at most; raises MalformedJson."""
    is_coming = limit > BODY_BYTES_AT_MOST or "HTTP_EXPECT" in environ
    with _patience(environ.get("gunicorn.socket"), is_coming=is_coming):
        try:
            data: bytes = environ["wsgi.input"].read(limit)
        except Exception as error:  # each server has its own ways to say that a body is broken
            raise MalformedJson(reason="its transfer is malformed or stalled") from error
    return data


@contextmanager
def _patience(connection: socket | None, *, is_coming: bool) -> Iterator[None]:
    """Wait a while for each part of a body, and not for ever: others want the thread.

    `is_coming` is a body that is still on its way when its thread begins: all
    of it has to come in time, too.
    """
    if connection is None:
        yield
        return
    before = connection.gettimeout()
    connection.settimeout(PART_SECONDS)
    with _deadline(connection) if is_coming else nullcontext():
        try:
            yield
        finally:
            connection.settimeout(before)


@contextmanager
def _deadline(connection: socket) -> Iterator[None]:
    """Let nothing more come over the connection when its time is up."""
    end = Timer(BODY_SECONDS, _end_of, [connection])
    end.daemon = True
    end.start()
    try:
        yield
    finally:
        end.cancel()


def _end_of(connection: socket) -> None:
    with suppress(OSError):
        connection.shutdown(SHUT_RD)


def load_body(schema: Schema, body: JsonMap, at: str = "") -> Any:  # noqa: ANN401
    """What the schema builds of the body; raises InvalidBody with JSON pointers below `at`."""
    try:
        return schema.load(body)
    except ValidationError as error:
        raise InvalidBody(field_errors(error.messages, schema, at)) from error


def field_errors(messages: object, schema: Schema | None, at: str) -> Sequence[FieldError]:
    """Marshmallow's tree of messages as a list, each with its JSON pointer."""
    if isinstance(messages, Mapping):
        return [
            error
            for name, nested in messages.items()
            for error in field_errors(nested, schema, _below(at, name))
        ]
    if isinstance(messages, list):
        return [FieldError(at, _advice(str(message), schema, at)) for message in messages]
    return [FieldError(at, str(messages))]


def _below(at: str, name: object) -> str:
    """The pointer one level down; `_schema` is marshmallow's name for the level itself."""
    if name == "_schema":
        return at
    return f"{at}/{str(name).replace('~', '~0').replace('/', '~1')}"


def _advice(message: str, schema: Schema | None, at: str) -> str:
    """Say which field may have been meant."""
    if message != UNKNOWN_FIELD or schema is None:
        return message
    close = get_close_matches(at.rsplit("/", 1)[-1], schema.fields, n=1)
    return f"{message} Did you mean `{close[0]}`?" if close else message


def _parse(data: bytes) -> object:
    """The value, if it is JSON of one clear meaning and can be written again."""
    try:
        value = _DECODER.decode(data.decode())
    except UnicodeDecodeError as error:
        raise MalformedJson(reason="it is not UTF-8 text") from error
    except RecursionError as error:
        raise MalformedJson(reason="it is nested too deeply") from error
    except json.JSONDecodeError as error:
        reason = f"{error.msg} at line {error.lineno}, column {error.colno}"
        raise MalformedJson(reason=reason) from error
    except ValueError as error:
        raise MalformedJson(reason=str(error)) from error
    try:
        dump_json(value)
    except TypeError as error:
        reason = "a text is no Unicode, a number too large, or the nesting too deep"
        raise MalformedJson(reason=reason) from error
    return value


def _refuse_doubles(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """An object whose keys are all different: of two alike nobody knows which one counts."""
    value = dict(pairs)
    if len(value) < len(pairs):
        message = "an object has the same key twice"
        raise ValueError(message)
    return value


def _refuse_constant(name: str) -> None:
    message = f"{name} is no JSON number"
    raise ValueError(message)


_DECODER = json.JSONDecoder(object_pairs_hook=_refuse_doubles, parse_constant=_refuse_constant)
