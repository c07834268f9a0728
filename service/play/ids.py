"""Ids: lower-case ULIDs."""

import re

ULID_PATTERN = "^[0-7][0-9a-hjkmnp-tv-z]{25}$"

_ULID = re.compile(ULID_PATTERN)


def is_id(text: str) -> bool:
    """Whether the text could be an id; what could not is in no table."""
    return _ULID.fullmatch(text) is not None
