"""Checkpoints as files, in a folder that an operator publishes where the database can't reach.

`<size>.txt` is a checkpoint, and never changes; `latest.txt` is the newest.
"""

import os
from contextlib import suppress
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
        _place(own, note, is_new=True)
        if own.read_text(encoding="utf-8") != note:
            message = f"{own} is another checkpoint of that size"
            raise NotPublished(message)
        _place(folder / LATEST, note, is_new=False)
    except OSError as error:
        message = f"checkpoints can't be written to {folder}: {error.strerror}"
        raise NotPublished(message) from error


def refresh_latest(folder: Path, size: int) -> None:
    """Make the checkpoint of that size the latest, where a crash left an older one."""
    own, latest = folder / f"{size:0{DIGITS}}.txt", folder / LATEST
    try:
        note = own.read_text(encoding="utf-8")
        if not latest.exists() or latest.read_text(encoding="utf-8") != note:
            _place(latest, note, is_new=False)
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


def _place(path: Path, text: str, *, is_new: bool) -> None:
    """The file, whole or not at all; one that is there already is left alone if it is to be new."""
    draft = path.with_name(f".{path.name}.draft")
    with draft.open("w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    if not is_new:
        draft.replace(path)
        return
    with suppress(FileExistsError):
        path.hardlink_to(draft)
    draft.unlink()
