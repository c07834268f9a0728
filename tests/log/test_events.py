import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import rfc8785
from chains import first_break
from conftest import VECTORS
from games import whole_game

from service.log.events import (
    GENESIS,
    Actor,
    Draft,
    MalformedEvent,
    chained,
    milliseconds,
    parse_event,
    with_private,
)

CHAIN = json.loads((VECTORS / "fairness.json").read_text())["chain"]


@pytest.mark.parametrize("worked", CHAIN, ids=lambda worked: str(worked["seq"]))
def test_an_event_has_the_worked_bytes_and_hash(worked: dict[str, Any]) -> None:
    draft = Draft(worked["type"], Actor(**worked["actor"]), worked["data"])
    event = chained(
        draft, game=worked["game"], seq=worked["seq"], at=worked["at"], prev=worked["prev"]
    )
    hashed = {key: value for key, value in worked.items() if key != "canonical"}
    assert event.hash == worked["hash"]
    assert event.line.encode() == rfc8785.dumps(hashed)
    assert event.line.replace(f'"hash":"{event.hash}",', "") == worked["canonical"]


def test_the_worked_chain_holds() -> None:
    lines = [
        rfc8785.dumps({k: v for k, v in worked.items() if k != "canonical"}).decode()
        for worked in CHAIN
    ]
    assert first_break([parse_event(line) for line in lines]) is None


def test_every_line_of_a_game_is_canonical_and_read_back() -> None:
    for frame in whole_game():
        line = frame.event.line
        assert line.encode() == rfc8785.dumps(json.loads(line))
        assert parse_event(line) == frame.event


def test_a_whole_game_is_chained_without_a_break() -> None:
    events = [frame.event for frame in whole_game()]
    assert events[0].prev == GENESIS
    assert first_break(events) is None


def test_a_changed_byte_breaks_the_chain_at_its_event() -> None:
    events = [frame.event for frame in whole_game()]
    changed = events[7].line.replace('"seat":', '"seat": ', 1)
    assert first_break([*events[:7], parse_event(changed), *events[8:]]) == 8
    forged = replace(events[7], line=events[7].line.replace("10:15:30", "10:15:31"))
    assert first_break([*events[:7], forged, *events[8:]]) == 8


def test_an_event_left_out_or_doubled_or_swapped_breaks_the_chain() -> None:
    events = [frame.event for frame in whole_game()]
    assert first_break(events[:5] + events[6:]) == 6
    assert first_break(events[:5] + events[4:]) == 6
    assert first_break([*events[:4], events[5], events[4], *events[6:]]) == 5


@pytest.mark.parametrize("line", ["", "{}", "[]", "1", '{"game":1}', "nonsense"])
def test_what_is_no_event_can_not_be_read(line: str) -> None:
    with pytest.raises(MalformedEvent):
        parse_event(line)


def test_private_facts_stand_beside_the_chained_ones_in_canonical_bytes() -> None:
    event = whole_game()[6].event
    line = with_private(event, {"1": {"drew": ["7h"]}})
    value = json.loads(line)
    assert line.encode() == rfc8785.dumps(value)
    assert value.pop("private") == {"1": {"drew": ["7h"]}}
    assert value == json.loads(event.line)
    assert with_private(event, {}) == event.line


def test_an_actor_without_an_id_has_none_in_the_log() -> None:
    assert Actor(kind="system").to_json() == {"kind": "system"}


def test_times_are_numbers_that_grow_with_them() -> None:
    begin = datetime(2023, 12, 28, tzinfo=UTC)
    for hours in range(0, 24 * 1200, 7):
        moment = begin + timedelta(hours=hours, minutes=hours % 60, milliseconds=hours % 1000)
        text = moment.replace(tzinfo=None).isoformat(timespec="milliseconds") + "Z"
        passed = (moment - begin) // timedelta(milliseconds=1)
        assert milliseconds(text) - milliseconds("2023-12-28T00:00:00.000Z") == passed
    with pytest.raises(ValueError):
        milliseconds("tomorrow")
