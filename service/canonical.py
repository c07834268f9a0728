"""Canonical JSON (RFC 8785) for the values that Fairdeal hashes.

The values are kept within what every JSON library agrees on: strings, whole
numbers of at most 53 bits, booleans, null, lists, and maps with ASCII keys.
Within those bounds sorted, compact JSON *is* the canonical form; the tests
hold it against an independent implementation.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import orjson

Json: TypeAlias = "str | int | bool | Sequence[Json] | Mapping[str, Json] | None"
"""A JSON value without fractions."""

JsonMap: TypeAlias = Mapping[str, Json]

_SURROGATE = re.compile("[\ud800-\udfff]")

LARGEST_INTEGER = 2**53 - 1
DEEPEST = 64
"""How deep values may be nested; what is logged is far from it."""


def canonical_text(value: JsonMap) -> str:
    """The RFC 8785 form of the value, as text."""
    return canonical_bytes(value).decode()


def canonical_bytes(value: JsonMap) -> bytes:
    """The RFC 8785 form of the value, as the UTF-8 bytes that are hashed."""
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)


def dump_json(value: Json) -> str:
    """Compact JSON in the order of the value's own keys: for answers, which nobody hashes."""
    return orjson.dumps(value).decode()


def load_json(text: str) -> Any:  # noqa: ANN401  JSON enters here
    """The value of a JSON text that the service itself wrote; raises ValueError."""
    return orjson.loads(text)


def is_canonical(value: object, deep: int = DEEPEST) -> bool:
    """Whether the value keeps within the bounds under which it may be hashed."""
    match value:
        case None | bool():
            return True
        case int():
            return abs(value) <= LARGEST_INTEGER
        case str():
            return _is_plain_text(value)
        case list() | tuple():
            return deep > 0 and all(is_canonical(item, deep - 1) for item in value)
        case Mapping():
            return deep > 0 and all(
                _is_key(key) and is_canonical(item, deep - 1) for key, item in value.items()
            )
        case _:
            return False


def _is_plain_text(text: str) -> bool:
    """Whether UTF-8 and Postgres can both hold the text: no lone surrogate, no U+0000."""
    return "\0" not in text and (text.isascii() or not _SURROGATE.search(text))


def _is_key(key: object) -> bool:
    return isinstance(key, str) and key.isascii() and "\0" not in key
