"""Checkpoints as files, in a folder that an operator publishes where the database can't reach.

`<size>.txt` is a checkpoint, and never changes; `latest.txt` is the newest.
"""

import os
import secrets
from pathlib import Path

from service.proof.checkpoints import SignedNote, read_note

DIGITS = 20
LATEST = "latest.txt"


class NotPublished(Exception):
    """The folder of checkpoints can't be used; the message says why."""


def publish(folder: Path, size: int, note: str) -> None:
    """Put the checkpoint into the folder, and make it the latest; raises NotPublished.

    A checkpoint that is there already stays as it is, and must be the same.
    """
    own = folder / f"{size:0{DIGITS}}.txt"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if not own.exists():
            _place(own, note)
        if own.read_text(encoding="utf-8") != note:
            message = f"{own} is another checkpoint of that size"
            raise NotPublished(message)
        _place(folder / LATEST, note)
    except OSError as error:
        message = f"checkpoints can't be written to {folder}: {error.strerror}"
        raise NotPublished(message) from error


def last_published(folder: Path) -> SignedNote | None:
    """The largest checkpoint in the folder; None in an empty one. Raises NotPublished."""
    try:
        names = sorted(folder.glob(f"{'[0-9]' * DIGITS}.txt"))
        return read_note(names[-1].read_text(encoding="utf-8")) if names else None
    except (OSError, ValueError) as error:
        message = f"the checkpoints in {folder} can't be read: {error}"
        raise NotPublished(message) from error


def _place(path: Path, text: str) -> None:
    """The file, whole or not at all."""
    draft = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    with draft.open("w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)
