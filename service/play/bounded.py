"""A bounded map that forgets what was used longest ago, shared by the threads of a process."""

from collections import OrderedDict
from threading import Lock
from typing import Generic, TypeVar

Key = TypeVar("Key")
Value = TypeVar("Value")


class Bounded(Generic[Key, Value]):
    """At most `size` entries; the least recently used makes room."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._entries: OrderedDict[Key, Value] = OrderedDict()
        self._lock = Lock()

    def get(self, key: Key) -> Value | None:
        """The entry, which counts as a use of it."""
        with self._lock:
            if key in self._entries:
                self._entries.move_to_end(key)
            return self._entries.get(key)

    def put(self, key: Key, value: Value) -> None:
        """Add or replace the entry."""
        with self._lock:
            self._entries[key] = value
            self._entries.move_to_end(key)
            if len(self._entries) > self._size:
                self._entries.popitem(last=False)

    def drop(self, key: Key) -> None:
        """Forget the entry, if there is one."""
        with self._lock:
            self._entries.pop(key, None)

    def items(self) -> list[tuple[Key, Value]]:
        """All the entries, as they are now."""
        with self._lock:
            return list(self._entries.items())

    def __len__(self) -> int:
        """How many entries there are."""
        return len(self._entries)
