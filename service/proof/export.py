"""An export: a game's whole log as JSON Lines, between a header and a footer (L §4).

Every line is canonical and ends with a line feed. An event's line is the very
line that was stored.
"""

from service.canonical import JsonMap, canonical_text
from service.proof.checkpoints import Inclusion
from service.proof.receipts import Receipt

FORMAT = "fairdeal-export/1"
HEADER = "header"
FOOTER = "footer"


def header_line(game: str, ruleset: str, ruleset_version: str) -> str:
    """The first line: the game's id, and what it was played by."""
    return _line(
        {
            "kind": HEADER,
            "format": FORMAT,
            "game": game,
            "ruleset": ruleset,
            "ruleset_version": ruleset_version,
        }
    )


def footer_line(events: int, receipt: Receipt | None, inclusion: Inclusion | None) -> str:
    """The last line: how many events there are, and what binds the service to the last of them.

    `receipt` is None for an event that was never signed, `inclusion` until a
    checkpoint holds it.
    """
    return _line(
        {
            "kind": FOOTER,
            "events": events,
            "receipt": receipt.to_json() if receipt else None,
            "inclusion": inclusion.to_json() if inclusion else None,
        }
    )


def _line(value: JsonMap) -> str:
    return canonical_text(value) + "\n"
