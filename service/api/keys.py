"""The headers that say who calls, and which request this is a retry of."""

import re

from flask import Request

from service.play.refusals import Refusal, Unauthenticated

KEY_CHARS_AT_MOST = 255
VISIBLE = re.compile(r"[\x21-\x7e]+")


class InvalidIdempotencyKey(Refusal):
    """The header is there, but no key."""

    slug = "invalid-idempotency-key"
    message = "An Idempotency-Key is 1 to 255 visible ASCII characters, quoted or bare."


class IdempotencyNotSupported(Refusal):
    """A key that everybody shares, on an operation that anybody may call."""

    slug = "idempotency-not-supported"
    message = "This operation takes no Idempotency-Key: its answer holds a secret."


def read_token(request: Request) -> str | None:
    """The token of the Authorization header, None without one; raises Unauthenticated."""
    header = request.headers.get("Authorization")
    if header is None:
        return None
    scheme, _, token = header.partition(" ")
    if scheme.lower() != "bearer" or not token.strip():
        raise Unauthenticated
    return token.strip()


def read_idempotency_key(request: Request) -> str | None:
    """The request's key, None without one; raises InvalidIdempotencyKey."""
    header = request.headers.get("Idempotency-Key")
    if header is None:
        return None
    quoted = len(header) > 1 and header[0] == header[-1] == '"'
    key = header[1:-1] if quoted else header
    if len(key) > KEY_CHARS_AT_MOST or not VISIBLE.fullmatch(key):
        raise InvalidIdempotencyKey
    return key
