"""Being told to stop, by a signal."""

import time

SLICE_SECONDS = 0.05


class Stop:
    """A plain flag that a signal's handler sets.

    No lock stands behind it: a handler runs in the middle of whatever the main
    thread does, and a lock that is held there could never be taken.
    """

    def __init__(self) -> None:
        self._is_asked = False

    def set(self, *_signal: object) -> None:
        """Ask to stop; asking again is no fault."""
        self._is_asked = True

    def is_set(self) -> bool:
        """Whether somebody has asked."""
        return self._is_asked

    def wait(self, seconds: float) -> bool:
        """Rest that long, or until somebody asks; whether somebody has."""
        until = time.monotonic() + seconds
        while not self._is_asked and (left := until - time.monotonic()) > 0:
            time.sleep(min(left, SLICE_SECONDS))
        return self._is_asked
