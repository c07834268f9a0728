"""The trail of what admins did: whatever is done to its lines is found."""

import json

import pytest

from service.canonical import canonical_text
from service.log.events import GENESIS
from service.proof.trail import entry, first_break


def trail(length: int) -> list[str]:
    lines, prev = [], GENESIS
    for seq in range(1, length + 1):
        made = entry(seq, prev, {"admin": "a", "action": "look", "facts": {"n": seq}})
        lines.append(made.line)
        prev = made.hash
    return lines


def test_a_whole_trail_has_no_break() -> None:
    assert first_break([]) is None
    assert first_break(trail(5)) is None


def edited(line: str, **changes: object) -> str:
    return canonical_text({**json.loads(line), **changes})


@pytest.mark.parametrize(
    ("name", "lines", "seq"),
    [
        ("dropped", [*trail(5)[:2], *trail(5)[3:]], 3),
        ("the first dropped", trail(5)[1:], 1),
        ("another number", [*trail(5)[:2], edited(trail(5)[2], seq=9)], 3),
        ("another prev", [*trail(5)[:2], edited(trail(5)[2], prev="0" * 64)], 3),
        ("other facts", [*trail(5)[:2], edited(trail(5)[2], facts={})], 3),
        ("another hash", [*trail(5)[:2], edited(trail(5)[2], hash="0" * 64)], 3),
        ("a space", [*trail(5)[:2], trail(5)[2].replace(":", ": ", 1)], 3),
        ("no JSON", [*trail(5)[:2], "x"], 3),
        ("no object", [*trail(5)[:2], "[]"], 3),
        ("a number", ["5"], 1),
    ],
)
def test_whatever_is_done_to_a_line_is_found(name: str, lines: list[str], seq: int) -> None:
    found = first_break(lines)
    assert found is not None, name
    assert found.seq == seq
    assert found.reason
