"""Events: one row of the log each, in the bytes that are hashed, stored and sent (L §1)."""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TypeVar

from service.canonical import JsonMap, canonical_text, load_json

GENESIS = "0" * 64
"""The hash before the first event."""

FEBRUARY = 2
EVENT_DOMAIN = b"fairdeal/1 event\n"

Value = TypeVar("Value")


class MalformedEvent(ValueError):
    """A line of a log that is no event, or not in its canonical bytes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Actor:
    """Who caused an event: kind `player`, `bot`, `clock`, `admin` or `system`.

    `id` is opaque, never a name; None for the clock and the system.
    """

    kind: str
    id: str | None = None

    def to_json(self) -> JsonMap:
        """The actor as it stands in an event; an id that there isn't is left out."""
        return {"kind": self.kind} if self.id is None else {"kind": self.kind, "id": self.id}


SYSTEM = Actor(kind="system")


@dataclass(frozen=True, slots=True)
class Draft:
    """An event before it has its place in the chain."""

    type: str
    actor: Actor
    data: JsonMap


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """An event in its place; `at` is RFC 3339, UTC, three decimals, Z.

    `line` is its canonical text, hash included: what is stored and exported.
    """

    game: str
    seq: int
    type: str
    actor: JsonMap
    at: str
    data: JsonMap
    prev: str
    hash: str
    line: str = field(repr=False)

    def is_intact(self) -> bool:
        """Whether the line is canonical, and the hash that of all the rest."""
        value = load_json(self.line)
        if canonical_text(value) != self.line:
            return False
        return (
            event_hash(canonical_text({k: v for k, v in value.items() if k != "hash"})) == self.hash
        )


def chained(draft: Draft, *, game: str, seq: int, at: str, prev: str) -> Event:
    """The draft as event number `seq` of the game, chained to the hash before it."""
    actor = draft.actor.to_json()
    hashed: JsonMap = {
        "actor": actor,
        "at": at,
        "data": draft.data,
        "game": game,
        "prev": prev,
        "seq": seq,
        "type": draft.type,
    }
    text = canonical_text(hashed)
    digest = event_hash(text)
    before, after = _split(text, f'"prev":"{prev}"', seq, draft.type)
    return Event(
        game=game,
        seq=seq,
        type=draft.type,
        actor=actor,
        at=at,
        data=draft.data,
        prev=prev,
        hash=digest,
        line=f'{before}"hash":"{digest}",{after}',
    )


def event_hash(text: str) -> str:
    """Hex SHA-256 of the domain and the canonical text of an event without its hash."""
    return hashlib.sha256(EVENT_DOMAIN + text.encode()).hexdigest()


def with_private(event: Event, private: JsonMap) -> str:
    """The event's line with private facts beside the public ones, still canonical."""
    if not private:
        return event.line
    before, after = _split(event.line, "", event.seq, event.type)
    return f'{before}"private":{canonical_text(private)},{after}'


def parse_event(line: str) -> Event:
    """The event of a stored line; raises MalformedEvent."""
    try:
        value = load_json(line)
        return Event(**value, line=line)
    except (ValueError, TypeError) as error:
        message = "the line is no event"
        raise MalformedEvent(message) from error


def _split(text: str, member: str, seq: int, kind: str) -> tuple[str, str]:
    """The canonical text before its last members, and those: keys are sorted."""
    tail = f'{member}{"," if member else ""}"seq":{seq},"type":"{kind}"}}'
    return text[: -len(tail)], tail


def broken_link(event: Event, seq: int, prev: str) -> str | None:
    """Why the event is not event `seq`, after the one whose hash is `prev`; None if it is."""
    if event.seq != seq:
        return f"event {event.seq} stands in the place of event {seq}"
    if event.prev != prev:
        return "prev is not the hash of the event before"
    return None if event.is_intact() else "the hash is not that of the event"


def by_seat(values: Iterable[Value]) -> dict[str, Value]:
    """A JSON map by seat, with string keys; the values come by seat, seat 1 first."""
    return {str(seat): value for seat, value in enumerate(values, 1)}


def milliseconds(at: str) -> int:
    """A time of an event as a number that grows with it; raises ValueError for what is none."""
    year, month, day = int(at[:4]), int(at[5:7]), int(at[8:10])
    hour, minute, second, rest = int(at[11:13]), int(at[14:16]), int(at[17:19]), int(at[20:23])
    shifted, months = (year, month - 3) if month > FEBRUARY else (year - 1, month + 9)
    leaps = shifted // 4 - shifted // 100 + shifted // 400
    days = 365 * shifted + leaps + (153 * months + 2) // 5 + day
    return ((days * 24 + hour) * 60 + minute) * 60_000 + second * 1000 + rest
