"""Reading an export: line by line, in canonical bytes or not at all."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from service.canonical import JsonMap, canonical_text, is_canonical, load_json
from service.log.events import Event, MalformedEvent, parse_event
from service.proof.export import FOOTER, HEADER
from service.proof.verdicts import Failed


@dataclass(frozen=True, slots=True, kw_only=True)
class Export:
    """The parts of an export; `header` and `footer` are None where they are missing."""

    header: JsonMap | None
    events: Sequence[Event]
    footer: JsonMap | None


def read_export(text: str) -> Export:
    """The lines as what they are, if each is in its canonical bytes."""
    *lines, rest = text.split("\n")
    if rest:
        message = "the last line has no line feed"
        raise Failed(message)
    header: JsonMap | None = None
    footer: JsonMap | None = None
    events: list[Event] = []
    for line in lines:
        value = _canonical(line, len(events) + 1)
        kind = value.get("kind")
        if kind == HEADER and not events and header is None:
            header = value
        elif footer is not None:
            message = "there are lines after the footer"
            raise Failed(message, len(events) + 1)
        elif kind == FOOTER:
            footer = value
        else:
            events.append(read_event(line, len(events) + 1))
    if not events:
        message = "there is no event"
        raise Failed(message)
    return Export(header=header, events=events, footer=footer)


def _canonical(line: str, seq: int) -> JsonMap:
    try:
        value = load_json(line)
    except ValueError as error:
        message = "the line is no JSON"
        raise Failed(message, seq) from error
    if not isinstance(value, dict) or not is_canonical(value) or canonical_text(value) != line:
        message = "the line is not in its canonical bytes (RFC 8785)"
        raise Failed(message, seq)
    return value


TIME = re.compile(r"[0-9]{4}-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]:[0-5][0-9]\.[0-9]{3}Z")

_EVENT_SHAPE: Mapping[str, type] = {
    "game": str,
    "seq": int,
    "type": str,
    "actor": dict,
    "at": str,
    "data": dict,
    "prev": str,
    "hash": str,
}


def read_event(line: str, seq: int) -> Event:
    """The event of a line, its members of the kinds that they must be; raises Failed."""
    try:
        event = parse_event(line)
    except MalformedEvent as error:
        message = "the line has not the members of an event"
        raise Failed(message, seq) from error
    if any(type(getattr(event, name)) is not kind for name, kind in _EVENT_SHAPE.items()):
        message = "a member of the event is of another kind"
        raise Failed(message, seq)
    texts = [event.actor.get("kind"), event.actor.get("id", "")]
    if not event.actor.keys() <= {"kind", "id"} or not all(isinstance(t, str) for t in texts):
        message = "the event's actor is none"
        raise Failed(message, seq)
    if not TIME.fullmatch(event.at):
        message = "the event's time is none"
        raise Failed(message, seq)
    return event


def has_event(events: Sequence[Event], kind: str) -> bool:
    """Whether one of the events is of that type."""
    return any(event.type == kind for event in events)
