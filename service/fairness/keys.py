"""From the server's secret to the keys of a game (log-and-fairness §2)."""

import hashlib
import hmac
from collections.abc import Sequence

from service.canonical import canonical_bytes

ALGORITHM = "fairdeal/1"
SECRET_BYTES = 32
SANDBOX_GAME = "0" * 26
"""Stands for the game's id in the key of a sandbox game, so that a secret deals alike."""


def commitment(secret: bytes) -> str:
    """The hex digest that binds the server to its secret before a seat is taken."""
    return hashlib.sha256(b"fairdeal/1 commit\n" + secret).hexdigest()


def game_key(secret: bytes, game: str, contributions: Sequence[str]) -> bytes:
    """The key of all that is dealt in a game; contributions by seat, seat 1 first."""
    bound = canonical_bytes({"contributions": list(contributions), "game": game})
    return _hmac(secret, b"fairdeal/1 game\n" + bound)


def sub_key(key: bytes, label: str) -> bytes:
    """A key of its own for one purpose: `cut`, `round/R/D` or `state`."""
    return _hmac(key, b"fairdeal/1 " + label.encode() + b"\n")


def _hmac(key: bytes, message: bytes) -> bytes:
    return hmac.digest(key, message, "sha256")
