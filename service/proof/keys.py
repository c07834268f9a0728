"""Signing keys: Ed25519, each with the time in which it signed."""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from service.canonical import JsonMap
from service.proof.encoding import from_text, to_text

KEY_BYTES = 32
KEY_ID_DIGITS = 16
ALGORITHM = "Ed25519"


def key_id(public: bytes) -> str:
    """What a key is called: the first 16 hex digits of the SHA-256 of its 32 public bytes."""
    return hashlib.sha256(public).hexdigest()[:KEY_ID_DIGITS]


@dataclass(frozen=True, slots=True, kw_only=True)
class PublicKey:
    """The half of a key that checks; times are RFC 3339, UTC, three decimals, Z.

    `valid_until` is None while the key signs. What it signed stays good after
    that; what happened later can't have been signed with it.
    """

    public: bytes
    valid_from: str
    valid_until: str | None = None

    @property
    def id(self) -> str:
        """What the key is called."""
        return key_id(self.public)

    def verifies(self, signature: bytes, message: bytes) -> bool:
        """Whether this key made the signature of the message."""
        try:
            Ed25519PublicKey.from_public_bytes(self.public).verify(signature, message)
        except (InvalidSignature, ValueError):
            return False
        return True

    def may_have_signed(self, at: str) -> bool:
        """Whether the key still signed when that happened."""
        return self.valid_until is None or at <= self.valid_until

    def to_json(self) -> JsonMap:
        """The key as `GET /keys` lists it."""
        return {
            "id": self.id,
            "algorithm": ALGORITHM,
            "public_key": to_text(self.public),
            "valid_from": self.valid_from,
            "valid_until": self.valid_until,
        }


@dataclass(frozen=True, slots=True)
class Signer:
    """The half of a key that signs."""

    private: Ed25519PrivateKey = field(repr=False)
    id: str

    @classmethod
    def of(cls, seed: bytes) -> "Signer":
        """The signer of the 32 private bytes."""
        private = Ed25519PrivateKey.from_private_bytes(seed)
        return cls(private, key_id(private.public_key().public_bytes_raw()))

    @property
    def public(self) -> bytes:
        """The 32 bytes that check what this signs."""
        return self.private.public_key().public_bytes_raw()

    def sign(self, message: bytes) -> bytes:
        """The 64 bytes of the signature."""
        return self.private.sign(message)


class Keyring(Protocol):
    """The key that signs now, and all that ever did."""

    def signer(self) -> Signer:
        """The key that signs now."""

    def public_keys(self) -> Sequence[PublicKey]:
        """Every key that ever signed, the newest first."""


def read_keys(value: Any) -> Sequence[PublicKey]:  # noqa: ANN401  JSON enters here
    """The keys of an answer of `GET /keys`; raises ValueError."""
    try:
        return [_read_key(key) for key in value["keys"]]
    except (LookupError, TypeError, AttributeError) as error:
        message = 'keys are {"keys": [{"public_key": …, "valid_from": …, "valid_until": …}]}'
        raise ValueError(message) from error


def find_key(keys: Iterable[PublicKey], wanted: str) -> PublicKey | None:
    """The key of that id, if it is one of these."""
    return next((key for key in keys if key.id == wanted), None)


def _read_key(value: Any) -> PublicKey:  # noqa: ANN401
    public = from_text(value["public_key"])
    times = value["valid_from"], value["valid_until"]
    is_timed = isinstance(times[0], str) and isinstance(times[1], str | None)
    if len(public) != KEY_BYTES or not is_timed:
        message = "a public key has 32 bytes, and a time since which it is valid"
        raise ValueError(message)
    return PublicKey(public=public, valid_from=times[0], valid_until=times[1])
