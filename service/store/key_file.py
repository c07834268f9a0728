"""The signing keys in a file of their own: apart from the database that they watch over.

The file lists every key that ever signed, the newest first; only the key that
signs now has its private half there.
"""

import fcntl
import json
import os
import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import structlog

from service.canonical import JsonMap
from service.proof.encoding import from_text, to_text
from service.proof.keys import KEY_BYTES, PublicKey, Signer, read_keys

OWNER_ONLY = 0o600
GRACE = timedelta(minutes=5)


class NoSigningKeys(Exception):
    """The file of signing keys can't be read, or can't be made; the message says why."""


@dataclass(frozen=True, slots=True)
class _Keys:
    """What the file said when it was last read, and what told that it is that file."""

    stamp: tuple[int, int, int]
    signer: Signer
    public: Sequence[PublicKey]


class KeyFile:
    """The keyring of a file. It is read again whenever the file is another.

    A file that can't be read any more leaves the keys as they were. Raises
    NoSigningKeys where there is none.
    """

    def __init__(self, path: Path) -> None:
        self._path = path.resolve()
        self._keys = _read(self._path)

    @classmethod
    def at(cls, path: Path) -> "KeyFile":
        """The keyring of the file, which is made with a first key if it is not there.

        Several processes may do so at once: the first one's key is everybody's.
        Raises NoSigningKeys.
        """
        if not path.exists():
            signer = Signer.of(secrets.token_bytes(KEY_BYTES))
            first = PublicKey(public=signer.public, valid_from=_now())
            _write(path, [_private(first, signer)], is_new=True)
        return cls(path)

    def signer(self) -> Signer:
        """The key that signs now."""
        return self._current().signer

    def public_keys(self) -> Sequence[PublicKey]:
        """Every key that ever signed, the newest first."""
        return self._current().public

    def rotate(self) -> PublicKey:
        """Sign with a new key from now on; what older keys signed stays good.

        The older key's private half is gone then. It is good for a while more:
        processes take up the new one as they come to it, and clocks differ.
        """
        with _locked(self._path):
            signer = Signer.of(secrets.token_bytes(KEY_BYTES))
            fresh = PublicKey(public=signer.public, valid_from=_now())
            retired = _now(GRACE)
            older = [
                {**key.to_json(), "valid_until": key.valid_until or retired}
                for key in _read(self._path).public
            ]
            _write(self._path, [_private(fresh, signer), *older], is_new=False)
        return fresh

    def _current(self) -> _Keys:
        try:
            if _stamp(self._path) != self._keys.stamp:
                self._keys = _read(self._path)
        except (OSError, NoSigningKeys) as error:
            structlog.get_logger().error("signing_keys_lost", reason=type(error).__name__)
        return self._keys


def _private(key: PublicKey, signer: Signer) -> JsonMap:
    return {**key.to_json(), "private_key": to_text(signer.private.private_bytes_raw())}


def _read(path: Path) -> _Keys:
    try:
        stamp = _stamp(path)
        value: Any = json.loads(path.read_text(encoding="utf-8"))
        public = read_keys(value)
        signer = Signer.of(from_text(value["keys"][0]["private_key"]))
    except (OSError, ValueError, LookupError, TypeError) as error:
        message = f"the signing keys in {path} can't be read: {error}"
        raise NoSigningKeys(message) from error
    if signer.public != public[0].public:
        message = f"the signing keys in {path} are no pair"
        raise NoSigningKeys(message)
    return _Keys(stamp, signer, public)


def _stamp(path: Path) -> tuple[int, int, int]:
    found = path.stat()
    return found.st_ino, found.st_mtime_ns, found.st_size


def _write(path: Path, keys: Sequence[JsonMap], *, is_new: bool) -> None:
    """Put the file in its place, whole; if it is to be new and another was faster, leave that."""
    draft = path.with_name(f"{path.name}.{secrets.token_hex(8)}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, OWNER_ONLY)
        if not is_new and os.geteuid() == 0:
            os.fchown(descriptor, path.stat().st_uid, path.stat().st_gid)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            json.dump({"keys": keys}, file, indent=2)
            file.flush()
            os.fsync(file.fileno())
        _place(draft, path, is_new=is_new)
    except OSError as error:
        message = f"the signing keys can't be written to {path}: {error.strerror}"
        raise NoSigningKeys(message) from error
    finally:
        with suppress(OSError):
            draft.unlink()


def _place(draft: Path, path: Path, *, is_new: bool) -> None:
    if not is_new:
        draft.replace(path)
        return
    try:
        path.hardlink_to(draft)
    except FileExistsError:
        return


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Alone with the file: two rotations at once would lose a key."""
    try:
        lock = os.open(path.with_name(f"{path.name}.lock"), os.O_RDWR | os.O_CREAT, OWNER_ONLY)
    except OSError as error:
        message = f"the signing keys beside {path} can't be locked: {error.strerror}"
        raise NoSigningKeys(message) from error
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)


def _now(later: timedelta = timedelta(0)) -> str:
    now = (datetime.now(UTC) + later).replace(tzinfo=None)
    return f"{now.isoformat(timespec='milliseconds')}Z"
