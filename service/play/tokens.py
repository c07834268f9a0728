"""Tokens: a prefix that scanners know, 256 random bits, and a checksum.

`fd_pk_` and 43 + 6 characters in base62. A mistyped or cut-off token is told
from an unknown one without asking the database.
"""

import hashlib
import string
import zlib

PLAYER_PREFIX = "fd_pk_"
ADMIN_PREFIX = "fd_ak_"
TICKET_PREFIX = "fd_st_"
INVITATION_PREFIX = "fd_in_"
BASE62 = string.digits + string.ascii_uppercase + string.ascii_lowercase
RANDOM_CHARS = 43
CHECKSUM_CHARS = 6


def make_token(random_bytes: bytes, prefix: str = PLAYER_PREFIX) -> str:
    """The token of 32 random bytes."""
    body = prefix + _base62(int.from_bytes(random_bytes, "big"), RANDOM_CHARS)
    return body + _checksum(body)


def is_well_formed(token: str, prefix: str = PLAYER_PREFIX) -> bool:
    """Whether the token has its prefix, its length and its checksum."""
    body, checksum = token[:-CHECKSUM_CHARS], token[-CHECKSUM_CHARS:]
    length = len(prefix) + RANDOM_CHARS + CHECKSUM_CHARS
    return (
        len(token) == length
        and token.isascii()
        and token.startswith(prefix)
        and checksum == _checksum(body)
    )


def digest(token: str) -> bytes:
    """What is stored of a token: its SHA-256. 256 random bits need no salt and no stretching."""
    return hashlib.sha256(token.encode()).digest()


def _checksum(body: str) -> str:
    return _base62(zlib.crc32(body.encode()), CHECKSUM_CHARS)


def _base62(number: int, width: int) -> str:
    digits = []
    for _ in range(width):
        number, digit = divmod(number, len(BASE62))
        digits.append(BASE62[digit])
    return "".join(reversed(digits))
