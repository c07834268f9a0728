"""Checkpoints: the signed root of the tree of all games' heads.

The text is a signed note (C2SP signed-note) whose body is a tlog-checkpoint:
an origin, a size and a root, a line each.
"""

import base64
import binascii
import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from service.canonical import JsonMap, canonical_bytes
from service.proof.keys import KEY_BYTES, PublicKey, Signer
from service.proof.merkle import leaf_hash

NOTE_ED25519 = b"\x01"
"""Says of a note's key that it is Ed25519."""

KEY_HASH_BYTES = 4
DASH = "\N{EM DASH} "
HASH = re.compile("[0-9a-f]{64}")
_SIZE = re.compile("0|[1-9][0-9]{0,15}")


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """The tree of a log at one size; `root` has 32 bytes."""

    origin: str
    size: int
    root: bytes

    @property
    def text(self) -> str:
        """The note's body, which is what is signed."""
        return f"{self.origin}\n{self.size}\n{base64.b64encode(self.root).decode()}\n"


@dataclass(frozen=True, slots=True)
class SignedNote:
    """A checkpoint and the signatures under it, each with the name of who signed.

    Its body has one form only, so `checkpoint.text` is what was signed.
    """

    checkpoint: Checkpoint
    signatures: Sequence[tuple[str, bytes]]

    def is_signed_by(self, keys: Iterable[PublicKey]) -> bool:
        """Whether one of the keys signed it, in the name of the log's origin."""
        body = self.checkpoint.text.encode()
        origin = self.checkpoint.origin
        return any(
            name == origin
            and signature[:KEY_HASH_BYTES] == _key_hash(origin, key.public)
            and key.verifies(signature[KEY_HASH_BYTES:], body)
            for key in keys
            for name, signature in self.signatures
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Leaf:
    """The head of a game, as it entered the tree; `final` says that the game had ended."""

    game: str
    seq: int
    head: str
    final: bool

    @property
    def hash(self) -> bytes:
        """The hash of the leaf, over the canonical bytes of its four members."""
        data: JsonMap = {
            "game": self.game,
            "seq": self.seq,
            "head": self.head,
            "final": self.final,
        }
        return leaf_hash(canonical_bytes(data))


@dataclass(frozen=True, slots=True, kw_only=True)
class Inclusion:
    """Why a game's head is in a checkpoint: the leaf's index, and the path to the root."""

    index: int
    path: Sequence[bytes]
    checkpoint: str

    def to_json(self) -> JsonMap:
        """The inclusion as an export's footer carries it: hashes in hex, the note as it is."""
        return {
            "index": self.index,
            "path": [step.hex() for step in self.path],
            "checkpoint": self.checkpoint,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Consistency:
    """Why a tree of one size grew into a larger one."""

    old: int
    new: int
    path: Sequence[bytes]

    def to_json(self) -> JsonMap:
        """The proof as it is answered: hashes in hex."""
        return {"from": self.old, "to": self.new, "path": [step.hex() for step in self.path]}


def signed(checkpoint: Checkpoint, signer: Signer) -> str:
    """The checkpoint as a signed note."""
    body = checkpoint.text
    line = base64.b64encode(
        _key_hash(checkpoint.origin, signer.public) + signer.sign(body.encode())
    )
    return f"{body}\n{DASH}{checkpoint.origin} {line.decode()}\n"


def read_note(text: str) -> SignedNote:
    """The signed note; raises ValueError for a text that is none."""
    body, blank, below = text.partition("\n\n")
    lines = body.split("\n")
    signatures = below.split("\n")
    if not blank or len(lines) < 3 or signatures[-1] or len(signatures) < 2:  # noqa: PLR2004
        message = "it is no signed checkpoint"
        raise ValueError(message)
    origin, size, encoded_root = lines[:3]
    root = _base64(encoded_root)
    if not origin or not _SIZE.fullmatch(size) or len(root) != KEY_BYTES or lines[3:]:
        message = "a checkpoint is an origin, a size and a root of 32 bytes"
        raise ValueError(message)
    checkpoint = Checkpoint(origin, int(size), root)
    return SignedNote(checkpoint, [_signature(line) for line in signatures[:-1]])


def is_ours(text: str, origin: str, keys: Sequence[PublicKey]) -> bool:
    """Whether the text is a checkpoint of that log that one of the keys signed."""
    try:
        note = read_note(text)
    except ValueError:
        return False
    return note.checkpoint.origin == origin and note.is_signed_by(keys)


def note_key(origin: str, key: PublicKey) -> str:
    """The key as tools for signed notes want it (a vkey): name, hash, key."""
    encoded = base64.b64encode(NOTE_ED25519 + key.public).decode()
    return f"{origin}+{_key_hash(origin, key.public).hex()}+{encoded}"


def read_inclusion(value: Any) -> Inclusion:  # noqa: ANN401  JSON enters here
    """The inclusion of its JSON value; raises ValueError."""
    if (
        not isinstance(value, dict)
        or set(value) != {"index", "path", "checkpoint"}
        or type(value["index"]) is not int
        or not isinstance(value["checkpoint"], str)
    ):
        message = "an inclusion has index, path and checkpoint"
        raise ValueError(message)
    return Inclusion(
        index=value["index"], path=_read_path(value["path"]), checkpoint=value["checkpoint"]
    )


def read_consistency(value: Any) -> Consistency:  # noqa: ANN401  JSON enters here
    """The proof of its JSON value; raises ValueError."""
    if (
        not isinstance(value, dict)
        or set(value) != {"from", "to", "path"}
        or type(value["from"]) is not int
        or type(value["to"]) is not int
    ):
        message = "a proof of consistency has from, to and path"
        raise ValueError(message)
    return Consistency(old=value["from"], new=value["to"], path=_read_path(value["path"]))


def _read_path(value: Any) -> list[bytes]:  # noqa: ANN401
    if not isinstance(value, list) or not all(
        isinstance(step, str) and HASH.fullmatch(step) for step in value
    ):
        message = "a path is a list of hashes in hex"
        raise ValueError(message)
    return [bytes.fromhex(step) for step in value]


def _signature(line: str) -> tuple[str, bytes]:
    name, _, encoded = line.removeprefix(DASH).partition(" ")
    if not line.startswith(DASH) or not name:
        message = "a signature is a dash, a name and base64"
        raise ValueError(message)
    return name, _base64(encoded)


def _base64(text: str) -> bytes:
    try:
        data = base64.b64decode(text, validate=True)
    except binascii.Error as error:
        message = "it is no base64"
        raise ValueError(message) from error
    if not data or base64.b64encode(data).decode() != text:
        message = "it is no base64, or not in its one form"
        raise ValueError(message)
    return data


def _key_hash(name: str, public: bytes) -> bytes:
    return hashlib.sha256(name.encode() + b"\n" + NOTE_ED25519 + public).digest()[:KEY_HASH_BYTES]
