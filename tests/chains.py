"""A whole chain, checked link by link."""

from collections.abc import Sequence

from service.log.events import GENESIS, Event, broken_link


def first_break(events: Sequence[Event]) -> int | None:
    """The place of the first event that does not follow from the one before it, or None."""
    prev = GENESIS
    for seq, event in enumerate(events, 1):
        if broken_link(event, seq, prev) is not None:
            return seq
        prev = event.hash
    return None
