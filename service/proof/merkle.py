"""A Merkle tree over a list that only grows (RFC 6962 §2.1; proofs as in RFC 9162 §2.1).

The tree is known by its complete nodes: node (level, index) is the hash of the
2^level leaves from index · 2^level on. A node, once complete, never changes.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

Nodes: TypeAlias = Callable[[int, int], bytes]
"""Looks up a complete node by level and index."""

EMPTY_ROOT = hashlib.sha256().digest()


@dataclass(frozen=True, slots=True)
class Node:
    """A complete node of the tree."""

    level: int
    index: int
    hash: bytes


def leaf_hash(data: bytes) -> bytes:
    """The hash of a leaf."""
    return hashlib.sha256(b"\x00" + data).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    """The hash of two nodes side by side."""
    return hashlib.sha256(b"\x01" + left + right).digest()


def grow(size: int, leaves: Iterable[bytes], nodes: Nodes) -> Iterator[Node]:
    """The nodes that become complete when leaves (their hashes) follow a tree of that size."""
    fresh: dict[tuple[int, int], bytes] = {}
    for index, leaf in enumerate(leaves, size):
        level, place, value = 0, index, leaf
        fresh[level, place] = value
        yield Node(level, place, value)
        while place % 2:
            left = fresh.get((level, place - 1)) or nodes(level, place - 1)
            level, place, value = level + 1, place // 2, node_hash(left, value)
            fresh[level, place] = value
            yield Node(level, place, value)


def root(size: int, nodes: Nodes) -> bytes:
    """The root of the first `size` leaves."""
    return _span(0, size, nodes) if size else EMPTY_ROOT


def inclusion_path(index: int, size: int, nodes: Nodes) -> list[bytes]:
    """What proves that the leaf is in the tree of that size, from the leaf upwards."""
    if not 0 <= index < size:
        message = f"leaf {index} is not in a tree of {size}"
        raise ValueError(message)
    return _inclusion(index, 0, size, nodes)


def consistency_path(old: int, new: int, nodes: Nodes) -> list[bytes]:
    """What proves that the tree of size `new` begins with the tree of size `old`."""
    if not 0 < old <= new:
        message = f"a tree of {new} does not grow from one of {old}"
        raise ValueError(message)
    return _consistency(old, 0, new, nodes, is_whole=True)


def is_included(leaf: bytes, index: int, size: int, path: Sequence[bytes], root: bytes) -> bool:
    """Whether the path leads from the leaf's hash to the root (RFC 9162 §2.1.3.2)."""
    if not 0 <= index < size:
        return False
    place, last, value = index, size - 1, leaf
    for sibling in path:
        if last == 0:
            return False
        if place % 2 or place == last:
            value = node_hash(sibling, value)
            while place % 2 == 0 and place:
                place, last = place // 2, last // 2
        else:
            value = node_hash(value, sibling)
        place, last = place // 2, last // 2
    return last == 0 and value == root


def is_consistent(
    old: int, new: int, old_root: bytes, new_root: bytes, path: Sequence[bytes]
) -> bool:
    """Whether the path shows that one tree grew into the other (RFC 9162 §2.1.4.2)."""
    if not 0 < old <= new:
        return False
    if old == new:
        return not path and old_root == new_root
    steps = list(path) if old & (old - 1) else [old_root, *path]
    if not steps:
        return False
    place, last = old - 1, new - 1
    while place % 2:
        place, last = place // 2, last // 2
    first = second = steps[0]
    for sibling in steps[1:]:
        if last == 0:
            return False
        if place % 2 or place == last:
            first, second = node_hash(sibling, first), node_hash(sibling, second)
            while place % 2 == 0 and place:
                place, last = place // 2, last // 2
        else:
            second = node_hash(second, sibling)
        place, last = place // 2, last // 2
    return last == 0 and (first, second) == (old_root, new_root)


def _span(start: int, size: int, nodes: Nodes) -> bytes:
    """The hash of `size` leaves from `start` on, where such a subtree begins."""
    if size & (size - 1) == 0:
        level = size.bit_length() - 1
        return nodes(level, start >> level)
    left = _left(size)
    return node_hash(_span(start, left, nodes), _span(start + left, size - left, nodes))


def _inclusion(index: int, start: int, size: int, nodes: Nodes) -> list[bytes]:
    if size == 1:
        return []
    left = _left(size)
    if index < left:
        return [*_inclusion(index, start, left, nodes), _span(start + left, size - left, nodes)]
    right = _inclusion(index - left, start + left, size - left, nodes)
    return [*right, _span(start, left, nodes)]


def _consistency(old: int, start: int, size: int, nodes: Nodes, *, is_whole: bool) -> list[bytes]:
    if old == size:
        return [] if is_whole else [_span(start, size, nodes)]
    left = _left(size)
    if old <= left:
        path = _consistency(old, start, left, nodes, is_whole=is_whole)
        return [*path, _span(start + left, size - left, nodes)]
    path = _consistency(old - left, start + left, size - left, nodes, is_whole=False)
    return [*path, _span(start, left, nodes)]


def _left(size: int) -> int:
    """The largest power of two that is smaller."""
    return 1 << (size - 1).bit_length() - 1
