"""Secrets at rest: as they are, or encrypted where the settings give a key."""

import hashlib
import secrets
from dataclasses import dataclass, field

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

KEY_BYTES = 32
NONCE_BYTES = 12


class SealedSecret(Exception):
    """A secret is encrypted with a key that this process does not have."""


@dataclass(frozen=True, slots=True)
class SecretBox:
    """Seals secrets with AES-256-GCM, bound to their games; without a key, leaves them."""

    key: bytes | None = field(default=None, repr=False)

    @property
    def key_id(self) -> str | None:
        """A name for the key that tells nothing of it."""
        if self.key is None:
            return None
        return hashlib.sha256(b"fairdeal secret box\n" + self.key).hexdigest()[:16]

    def seal(self, secret: bytes, game: str) -> bytes:
        """The secret as it is stored."""
        if self.key is None:
            return secret
        nonce = secrets.token_bytes(NONCE_BYTES)
        return nonce + AESGCM(self.key).encrypt(nonce, secret, game.encode())

    def open(self, stored: bytes, sealed_with: str | None, game: str) -> bytes:
        """The secret that was stored; raises SealedSecret."""
        if sealed_with is None:
            return stored
        if self.key is None or sealed_with != self.key_id:
            message = f"the secret of game {game} is sealed with key {sealed_with}"
            raise SealedSecret(message)
        nonce, box = stored[:NONCE_BYTES], stored[NONCE_BYTES:]
        try:
            return AESGCM(self.key).decrypt(nonce, box, game.encode())
        except InvalidTag as error:
            message = f"the secret of game {game} was changed"
            raise SealedSecret(message) from error
