"""Bytes as text: base64url without padding, as receipts and keys are written."""

import base64
import re

_ALPHABET = re.compile("[A-Za-z0-9_-]*")


def to_text(data: bytes) -> str:
    """The bytes in base64url, without padding."""
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def from_text(text: str) -> bytes:
    """The bytes of a base64url text without padding; raises ValueError for any other."""
    if not _ALPHABET.fullmatch(text):
        message = "it is not base64url without padding"
        raise ValueError(message)
    data = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    if to_text(data) != text:
        message = "its last character says more than it can"
        raise ValueError(message)
    return data
