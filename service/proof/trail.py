"""The trail of what admins did and read: lines chained by their hashes, like a game's events.

A line is canonical JSON with its own hash in it, over the line without it and
the hash before. Whoever changes, drops or moves a line breaks the chain.
"""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass

from service.canonical import JsonMap, canonical_text, load_json
from service.log.events import GENESIS

DOMAIN = b"fairdeal/1 audit\n"


@dataclass(frozen=True, slots=True)
class Entry:
    """A line in its place."""

    seq: int
    hash: str
    line: str


@dataclass(frozen=True, slots=True)
class Break:
    """Where a trail does not follow from what came before, and why."""

    seq: int
    reason: str


def entry(seq: int, prev: str, facts: JsonMap) -> Entry:
    """The facts as line number `seq`, after the line with that hash."""
    hashed: JsonMap = {**facts, "seq": seq, "prev": prev}
    digest = hashlib.sha256(DOMAIN + canonical_text(hashed).encode()).hexdigest()
    return Entry(seq, digest, canonical_text({**hashed, "hash": digest}))


def first_break(lines: Iterable[str], prev: str = GENESIS, seq: int = 1) -> Break | None:
    """The first line that is not what it should be; None for a whole trail."""
    for line in lines:
        try:
            value = load_json(line)
            facts = {k: v for k, v in value.items() if k not in ("seq", "prev", "hash")}
        except (ValueError, AttributeError):
            return Break(seq, "the line is no JSON object")
        if value.get("seq") != seq:
            return Break(seq, "another line stands in its place")
        if value.get("prev") != prev:
            return Break(seq, "prev is not the hash of the line before")
        expected = entry(seq, prev, facts)
        if expected.line != line:
            return Break(seq, "the hash, or the form, is not that of the line")
        prev, seq = expected.hash, seq + 1
    return None
