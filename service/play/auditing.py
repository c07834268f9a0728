"""The database held against itself, and against what was published of it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from service.canonical import Json, JsonMap
from service.fairness import commitment
from service.log.events import GENESIS, Event, MalformedEvent, broken_link, parse_event
from service.play.services import Services
from service.proof import merkle
from service.proof.checkpoints import Checkpoint, Inclusion, Leaf, SignedNote
from service.proof.export import footer_line, header_line
from service.proof.outside import Evidence
from service.proof.reading import read_event
from service.proof.verdicts import Failed, Status
from service.proof.verify import verify
from service.store.database import StoreUnavailable
from service.store.reads import StoredGame, read_lines, read_receipt, stored_game
from service.store.retention import find_retained
from service.store.secret_box import SealedSecret
from service.store.tree import BrokenTree, find_inclusion, leaves_by_game, leaves_upto

LEAVES_AT_ONCE = 5_000
GAMES_AT_ONCE = 200
LINES_AT_ONCE = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """Something that is wrong: with which check, in which game, at which event."""

    check: str
    detail: str
    game: str | None = None
    seq: int | None = None

    def to_json(self) -> JsonMap:
        """The finding for programs."""
        return {"game": self.game, "check": self.check, "seq": self.seq, "detail": self.detail}


def verify_stored(services: Services, game: str) -> Sequence[Finding]:
    """Every check of the verifier on the stored log, and its rows held against it.

    The secret is at hand, so running games are checked whole, too. Whatever is
    wrong with one game is a finding about it, and stops no other's check.
    """
    try:
        return _verify_stored(services, game)
    except StoreUnavailable:
        raise
    except Exception as error:  # noqa: BLE001  rows may hold anything
        detail = f"the rows can't be checked: {type(error).__name__}"
        return [Finding(check="stored", detail=detail, game=game)]


def _verify_stored(services: Services, game: str) -> Sequence[Finding]:
    try:
        stored = stored_game(services.database, game)
    except SealedSecret as sealed:
        return [Finding(check="stored", detail=str(sealed), game=game)]
    if stored is None or not stored.rows:
        return [Finding(check="stored", detail="the game or its log is missing", game=game)]
    faults = [*_row_faults(stored, game)]
    text = _export_text(services, game, stored)
    evidence = Evidence(keys=services.database.keyring.public_keys(), secret=stored.secret)
    failed = [
        Finding(check=v.check.value, detail=v.detail, game=game, seq=v.seq)
        for v in verify(text, evidence).verdicts
        if v.status is Status.FAILED
    ]
    return [*failed, *faults]


def _row_faults(stored: StoredGame, game: str) -> Iterator[Finding]:
    """Columns that say something else than the lines beside them."""
    last: Event | None = None
    committed: Json = None
    for seq, kind, line in stored.rows:
        try:
            last = read_event(line, seq)
        except Failed:
            return
        committed = last.data.get("commitment", committed)
        if (last.seq, last.type, last.game) != (seq, kind, game):
            detail = "the row's columns are not what its line says"
            yield Finding(check="stored", detail=detail, game=game, seq=seq)
    if last is not None and (stored.version, stored.head) != (last.seq, last.hash):
        detail = "the head row is not what the last event says"
        yield Finding(check="stored", detail=detail, game=game, seq=last.seq)
    if stored.secret is None or commitment(stored.secret) != committed:
        detail = "the game's secret is missing, or not the one that was committed to"
        yield Finding(check="stored", detail=detail, game=game)


def _inclusion(services: Services, game: str, seq: int) -> Inclusion | None:
    try:
        return find_inclusion(services.database, game, seq)
    except BrokenTree:
        return None


def _export_text(services: Services, game: str, stored: StoredGame) -> str:
    """The export of the rows as they stand; its footer is for the last of them."""
    last = stored.rows[-1][0]
    try:
        receipt = read_receipt(services.database, game, last)
    except MalformedEvent:
        footer = ""
    else:
        footer = footer_line(last, receipt, _inclusion(services, game, last))
    lines = "".join(f"{line}\n" for _, _, line in stored.rows)
    return header_line(game, stored.ruleset, stored.ruleset_version) + lines + footer


def audit(services: Services, note: SignedNote) -> Iterator[Finding]:
    """What in the database contradicts the checkpoint: nothing, if it was not rewritten."""
    checkpoint = note.checkpoint
    if not note.is_signed_by(services.database.keyring.public_keys()):
        yield Finding(check="signature", detail="the checkpoint is signed by none of the keys")
        return
    yield from _tree_findings(services, checkpoint)
    after = ""
    while games := leaves_by_game(services.database, checkpoint.size, after, GAMES_AT_ONCE):
        for game, leaves in games.items():
            yield from _game_findings(services, game, leaves)
            after = game


def _tree_findings(services: Services, checkpoint: Checkpoint) -> Iterator[Finding]:
    """The leaves, hashed again, must lead to the signed root."""
    edge: _Edge = {}
    size = 0
    while leaves := leaves_upto(services.database, checkpoint.size, size, LEAVES_AT_ONCE):
        edge = _grown(size, leaves, edge)
        size += len(leaves)
    if size != checkpoint.size:
        detail = f"the checkpoint holds {checkpoint.size} leaves, the database {size} of them"
        yield Finding(check="tree", detail=detail)
    elif merkle.root(size, lambda level, index: edge[level, index]) != checkpoint.root:
        yield Finding(check="tree", detail="the leaves do not lead to the checkpoint's root")


_Edge: TypeAlias = "dict[tuple[int, int], bytes]"
"""The nodes, by level and index, that a tree needs to grow on: one for each bit of its size."""


def _grown(size: int, leaves: Sequence[Leaf], edge: _Edge) -> _Edge:
    """The edge of a tree of that size once the leaves have followed it."""
    hashes = [leaf.hash for leaf in leaves]
    nodes = merkle.grow(size, hashes, lambda level, index: edge[level, index])
    known = edge | {(node.level, node.index): node.hash for node in nodes}
    larger = size + len(leaves)
    levels = (level for level in range(larger.bit_length()) if larger >> level & 1)
    places = [(level, (larger >> level) - 1) for level in levels]
    return {place: known[place] for place in places}


def _game_findings(services: Services, game: str, leaves: Sequence[Leaf]) -> Iterator[Finding]:
    """The game's chain up to its last leaf, and each leaf against it.

    Of a game that was removed by age its head is left, which its last leaf must be.
    """
    left = find_retained(services.database, game)
    if left is not None:
        last = leaves[-1]
        is_older = last.seq < left.version
        if not is_older and (last.seq, last.head, last.final) != (left.version, left.head, True):
            detail = "what is left of the game is not what the checkpoint holds"
            yield Finding(check="leaf", detail=detail, game=game, seq=last.seq)
        return
    hashes: dict[int, str] = {}
    ended_at: int | None = None
    wanted = {leaf.seq for leaf in leaves}
    for event in _chain(services, game, leaves[-1].seq):
        if isinstance(event, Finding):
            yield event
            return
        if event.type == "game_ended":
            ended_at = event.seq
        if event.seq in wanted:
            hashes[event.seq] = event.hash
    for leaf in leaves:
        if hashes.get(leaf.seq) != leaf.head:
            detail = "the event is not the one that the checkpoint holds: the log was rewritten"
            yield Finding(check="leaf", detail=detail, game=game, seq=leaf.seq)
        elif leaf.final != (ended_at is not None and ended_at <= leaf.seq):
            detail = "the checkpoint says otherwise whether the game had ended"
            yield Finding(check="leaf", detail=detail, game=game, seq=leaf.seq)


def _chain(services: Services, game: str, upto: int) -> Iterator[Event | Finding]:
    """The events up to a seq, each chained to the one before; a finding where one is not."""
    prev, seq = GENESIS, 0
    while seq < upto:
        lines = read_lines(services.database, game, seq, upto, LINES_AT_ONCE)
        if not lines:
            detail = "the checkpoint holds a later event of this game: its end was cut off"
            yield Finding(check="leaf", detail=detail, game=game, seq=seq + 1)
            return
        for line in lines:
            seq += 1
            event = _intact(line, prev, seq)
            if event is None:
                detail = "the event does not follow from the one before"
                yield Finding(check="chain", detail=detail, game=game, seq=seq)
                return
            yield event
            prev = event.hash


def _intact(line: str, prev: str, seq: int) -> Event | None:
    try:
        event = parse_event(line)
    except MalformedEvent:
        return None
    return event if broken_link(event, seq, prev) is None else None
