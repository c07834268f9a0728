"""The tree against the definition of RFC 6962, written out as it stands there."""

import hashlib
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.proof import merkle
from service.proof.merkle import Nodes, consistency_path, inclusion_path, is_consistent, is_included

SIZES = range(1, 34)
LEAVES = [merkle.leaf_hash(bytes([number])) for number in range(70)]


def defined_root(leaves: Sequence[bytes]) -> bytes:
    """MTH of RFC 6962 §2.1, over the leaves' hashes."""
    if not leaves:
        return hashlib.sha256().digest()
    if len(leaves) == 1:
        return leaves[0]
    k = 1
    while k * 2 < len(leaves):
        k *= 2
    both = defined_root(leaves[:k]) + defined_root(leaves[k:])
    return hashlib.sha256(b"\x01" + both).digest()


def tree(size: int, *, parts: Sequence[int] = ()) -> Nodes:
    """The nodes of a tree of that size, grown leaf by leaf or in parts."""
    nodes: dict[tuple[int, int], bytes] = {}
    grown = 0
    for part in [*parts, size]:
        for node in list(
            merkle.grow(grown, LEAVES[grown:part], lambda level, index: nodes[level, index])
        ):
            nodes[node.level, node.index] = node.hash
        grown = part
    return lambda level, index: nodes[level, index]


def test_a_leaf_and_a_node_are_hashed_as_the_rfc_says() -> None:
    assert merkle.leaf_hash(b"").hex() == (
        "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d"
    )
    assert hashlib.sha256(b"").digest() == merkle.EMPTY_ROOT
    assert merkle.root(0, tree(1)) == merkle.EMPTY_ROOT


@pytest.mark.parametrize("size", SIZES)
def test_the_root_is_the_one_that_is_defined(size: int) -> None:
    assert merkle.root(size, tree(size)) == defined_root(LEAVES[:size])
    assert merkle.root(size, tree(70)) == defined_root(LEAVES[:size])


@given(st.lists(st.integers(0, 60), max_size=6))
def test_a_tree_grows_alike_in_any_parts(parts: list[int]) -> None:
    assert merkle.root(64, tree(64, parts=sorted(parts))) == defined_root(LEAVES[:64])


@pytest.mark.parametrize("size", SIZES)
def test_every_leaf_is_proven_and_nothing_else(size: int) -> None:
    nodes, root = tree(size), defined_root(LEAVES[:size])
    for index in range(size):
        path = inclusion_path(index, size, nodes)
        assert is_included(LEAVES[index], index, size, path, root)
        assert not is_included(LEAVES[index + 1], index, size, path, root)
        assert not is_included(LEAVES[index], index, size, [*path, root], root)
        assert not is_included(LEAVES[index], index, size, path, LEAVES[69])
        assert not any(
            is_included(LEAVES[index], other, size, path, root)
            for other in range(-1, size + 2)
            if other != index
        )
        for place in range(len(path)):
            wrong = [*path[:place], root, *path[place + 1 :]]
            assert not is_included(LEAVES[index], index, size, wrong, root)
            short = path[:place] + path[place + 1 :]
            assert not is_included(LEAVES[index], index, size, short, root)


@pytest.mark.parametrize("new", SIZES)
def test_every_growth_is_proven_and_nothing_else(new: int) -> None:
    nodes, root = tree(new), defined_root(LEAVES[:new])
    for old in range(1, new + 1):
        old_root = defined_root(LEAVES[:old])
        path = consistency_path(old, new, nodes)
        assert is_consistent(old, new, old_root, root, path)
        assert not is_consistent(old, new, LEAVES[69], root, path)
        assert not is_consistent(old, new, old_root, LEAVES[69], path)
        assert not is_consistent(old, new, old_root, root, [*path, root])
        assert not is_consistent(old, new, old_root, root, path[:-1]) or not path
        for place in range(len(path)):
            wrong = [*path[:place], LEAVES[69], *path[place + 1 :]]
            assert not is_consistent(old, new, old_root, root, wrong)


def test_a_tree_does_not_shrink() -> None:
    nodes, root = tree(8), defined_root(LEAVES[:8])
    assert not is_consistent(9, 8, root, root, [])
    assert not is_consistent(0, 8, root, root, [])
    assert not is_consistent(3, 8, root, root, [])
    for old, new in ((0, 8), (9, 8)):
        with pytest.raises(ValueError, match="does not grow"):
            consistency_path(old, new, nodes)
    for index in (-1, 8):
        with pytest.raises(ValueError, match="is not in a tree"):
            inclusion_path(index, 8, nodes)
