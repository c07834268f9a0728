"""Receipts: the service's signature under the head of a game (log-and-fairness §3).

Whoever keeps one can prove that the log was rewritten since.
"""

from dataclasses import dataclass
from typing import Any

from service.canonical import LARGEST_INTEGER, JsonMap, canonical_bytes
from service.proof.encoding import from_text, to_text
from service.proof.keys import PublicKey, Signer

HEAD_DOMAIN = b"fairdeal/1 head\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """What the service has acknowledged: event `seq` of the game, by its hash, signed.

    `key` is the id of the signing key, `signature` base64url without padding.
    """

    game: str
    seq: int
    hash: str
    key: str
    signature: str

    def is_signed_by(self, key: PublicKey) -> bool:
        """Whether the signature is that key's."""
        try:
            signature = from_text(self.signature)
        except ValueError:
            return False
        return key.verifies(signature, _signed(self.game, self.seq, self.hash))

    def to_json(self) -> JsonMap:
        """The receipt as answers and exports carry it."""
        return {
            "game": self.game,
            "seq": self.seq,
            "hash": self.hash,
            "key": self.key,
            "signature": self.signature,
        }


def sign_head(signer: Signer, game: str, seq: int, head: str) -> Receipt:
    """The receipt for the event `seq` of the game, whose hash is `head`."""
    signature = to_text(signer.sign(_signed(game, seq, head)))
    return Receipt(game=game, seq=seq, hash=head, key=signer.id, signature=signature)


def read_receipt(value: Any) -> Receipt:  # noqa: ANN401  JSON enters here
    """The receipt of its JSON value; raises ValueError."""
    texts = ("game", "hash", "key", "signature")
    if (
        not isinstance(value, dict)
        or set(value) != {*texts, "seq"}
        or not all(isinstance(value[name], str) for name in texts)
        or type(value["seq"]) is not int
        or not 1 <= value["seq"] <= LARGEST_INTEGER
    ):
        message = "a receipt has game, seq, hash, key and signature"
        raise ValueError(message)
    return Receipt(**value)


def _signed(game: str, seq: int, head: str) -> bytes:
    return HEAD_DOMAIN + canonical_bytes({"game": game, "hash": head, "seq": seq})
