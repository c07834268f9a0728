"""Retention: games past their age leave the database, once their export stands in a file.

Nothing is taken away that was not written out, read again from its file, and
found to be in order by the verifier. Heads and checkpoints stay.
"""

import hashlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from service.canonical import JsonMap
from service.log.events import MalformedEvent
from service.log.replay import ReplayDiverged
from service.play.admins import line_of
from service.play.disputes import who_had_part
from service.play.games import catch_up
from service.play.proving import export_of
from service.play.refusals import Refusal
from service.play.services import Services
from service.proof.outside import Evidence
from service.proof.verdicts import Outcome
from service.proof.verify import verify
from service.store import retention as store
from service.store.retention import Retained

RETENTION = "retention"
OPERATOR = "0" * 26
"""Who stands in the trail for a command of whoever runs the service: no admin's key."""

GAMES_AT_ONCE = 200


class NotTheOwner(Exception):
    """The role of the connection may not take a game away."""


@dataclass(frozen=True, slots=True)
class Outcomes:
    """What became of one game; `fault` says why it stays."""

    game: str
    events: int
    fault: str | None = None


def retain(
    services: Services, before: datetime, folder: Path, *, is_dry: bool
) -> Iterator[Outcomes]:
    """Export, verify and remove each game that ended before that time.

    One that can't be verified stays, and is reported. `is_dry` removes nothing
    and writes no file. Raises NotTheOwner.
    """
    if not is_dry and not store.may_remove(services.database):
        raise NotTheOwner
    after = ""
    while games := store.games_past(services.database, before, after, GAMES_AT_ONCE):
        for game in games:
            yield _retained(services, game, before, folder, is_dry=is_dry)
        after = games[-1]


def _retained(
    services: Services, game: str, before: datetime, folder: Path, *, is_dry: bool
) -> Outcomes:
    try:
        present, _ = catch_up(services, game)
        text = "".join(export_of(services, present).lines)
    except (Refusal, ReplayDiverged, MalformedEvent, LookupError) as error:
        return Outcomes(game, 0, f"it can't be exported: {error}")
    events = present.version
    report = verify(text, Evidence(keys=services.database.keyring.public_keys()))
    if report.outcome is not Outcome.VERIFIED:
        return Outcomes(game, events, f"its export is {report.outcome.value}")
    if is_dry:
        return Outcomes(game, events)
    digest = _write(folder / f"{game}.jsonl", text)
    left = Retained(
        game_id=game,
        version=present.version,
        head=present.head,
        status=present.status.value,
        ruleset=present.ruleset.name,
        ruleset_version=present.ruleset.version,
        visibility=present.setup.visibility,
        players=sorted(who_had_part(services, present)),
        export_sha256=digest,
        removed_at=services.now(),
    )
    facts: JsonMap = {"game": game, "head": left.head, "export_sha256": digest}
    line = line_of(services, OPERATOR, RETENTION, facts)
    if not store.remove(services.database, left, before, line):
        return Outcomes(game, events, "it has changed meanwhile")
    services.games.drop(game)
    return Outcomes(game, events)


def _write(path: Path, text: str) -> str:
    """Write the file, to the disk; what can be read there again is what its digest is of."""
    draft = path.with_suffix(".part")
    draft.touch(mode=0o600)  # all hands are in it
    with draft.open("w", encoding="utf-8", newline="") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
    written = path.read_bytes()
    if written != text.encode():
        message = f"{path} does not hold what was written to it"
        raise OSError(message)
    return hashlib.sha256(written).hexdigest()
