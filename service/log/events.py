"""Events: one row of the log each, in the bytes that are hashed, stored and sent (L §1)."""

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from service.canonical import JsonMap, canonical_bytes, canonical_text

GENESIS = "0" * 64
"""The hash before the first event."""

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
    """An event in its place; `at` is RFC 3339, UTC, three decimals, Z."""

    game: str
    seq: int
    type: str
    actor: JsonMap
    at: str
    data: JsonMap
    prev: str
    hash: str

    def to_json(self) -> JsonMap:
        """The event as a JSON value, its hash included."""
        return {**self._hashed(), "hash": self.hash}

    def line(self) -> str:
        """The canonical line that is stored and exported, its hash included."""
        return canonical_text(self.to_json())

    def computed_hash(self) -> str:
        """The hash that the event must have: of all of it but the hash."""
        return event_hash(self._hashed())

    def _hashed(self) -> JsonMap:
        return {
            "game": self.game,
            "seq": self.seq,
            "type": self.type,
            "actor": self.actor,
            "at": self.at,
            "data": self.data,
            "prev": self.prev,
        }


def chained(draft: Draft, *, game: str, seq: int, at: str, prev: str) -> Event:
    """The draft as event number `seq` of the game, chained to the hash before it."""
    hashed: JsonMap = {
        "game": game,
        "seq": seq,
        "type": draft.type,
        "actor": draft.actor.to_json(),
        "at": at,
        "data": draft.data,
        "prev": prev,
    }
    return Event(
        game=game,
        seq=seq,
        type=draft.type,
        actor=draft.actor.to_json(),
        at=at,
        data=draft.data,
        prev=prev,
        hash=event_hash(hashed),
    )


def event_hash(event: JsonMap) -> str:
    """Hex SHA-256 of the domain and the canonical bytes of an event without its hash."""
    return hashlib.sha256(EVENT_DOMAIN + canonical_bytes(event)).hexdigest()


def parse_event(line: str) -> Event:
    """The event of a stored line; raises MalformedEvent."""
    try:
        value = json.loads(line)
        event = Event(**value)
    except (ValueError, TypeError) as error:
        message = "the line is no event"
        raise MalformedEvent(message) from error
    return event


def first_break(events: Sequence[Event]) -> int | None:
    """The seq of the first event that does not follow from the one before it, or None.

    Expects a whole log, from seq 1.
    """
    prev, seq = GENESIS, 1
    for event in events:
        if (event.seq, event.prev, event.hash) != (seq, prev, event.computed_hash()):
            return seq
        prev, seq = event.hash, seq + 1
    return None


def by_seat(values: Iterable[Value]) -> dict[str, Value]:
    """A JSON map by seat, with string keys; the values come by seat, seat 1 first."""
    return {str(seat): value for seat, value in enumerate(values, 1)}
