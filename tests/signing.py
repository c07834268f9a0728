"""A keyring in memory, the same in every run."""

from collections.abc import Sequence

from service.proof.keys import PublicKey, Signer

SIGNED_SINCE = "2026-01-01T00:00:00.000Z"


class FixedKeyring:
    """One key, of a seed that is known to all."""

    def __init__(self, seed: bytes = b"k" * 32) -> None:
        self._signer = Signer.of(seed)

    def signer(self) -> Signer:
        return self._signer

    def public_keys(self) -> Sequence[PublicKey]:
        return [PublicKey(public=self._signer.public, valid_from=SIGNED_SINCE)]


KEYRING = FixedKeyring()
