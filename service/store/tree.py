"""The Merkle tree over the heads of games, in its tables: grown by one writer, read by anybody.

Three things let one writer in at a time: a lock, the primary key of the
leaves, and the size that the writer saw, in the transaction of its checkpoint.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, RowMapping, func, insert, select, text, tuple_

from service.proof.checkpoints import Consistency, Inclusion, Leaf, read_note
from service.proof.merkle import Node, Nodes, consistency_path, inclusion_path
from service.proof.receipts import Receipt
from service.store.database import Database, connection, transaction
from service.store.tables import ENDED, checkpoints, tree_leaves, tree_nodes

CHECKPOINT_LOCK = 0x46414344
"""The advisory lock that lets one checkpointer in at a time."""


class BrokenTree(Exception):
    """The tables of the tree lack what they must hold, or hold something else."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """The head of a game, before it enters the tree; what must be right for it to.

    `receipt` is None where it was never signed. `grew` says that the leaf
    which the tree holds of the game already is still in its log.
    """

    leaf: Leaf
    receipt: Receipt | None
    grew: bool


_FRESH = """
SELECT game.id, game.version, game.head, game.status, event.signed_with, event.signature,
    leaf.head AS earlier, past.body AS past
FROM games AS game
LEFT JOIN events AS event ON event.game_id = game.id AND event.seq = game.version
LEFT JOIN LATERAL (
    SELECT seq, head FROM tree_leaves WHERE game_id = game.id ORDER BY seq DESC LIMIT 1
) AS leaf ON true
LEFT JOIN events AS past ON past.game_id = game.id AND past.seq = leaf.seq
WHERE game.moved_at >= :since AND leaf.seq IS DISTINCT FROM game.version
ORDER BY game.moved_at, game.id LIMIT :limit
"""


def _head(row: RowMapping) -> Head:
    is_over = row["status"] in ENDED
    leaf = Leaf(game=row["id"], seq=row["version"], head=row["head"], final=is_over)
    is_signed = row["signed_with"] is not None and row["signature"] is not None
    receipt = Receipt(
        game=leaf.game,
        seq=leaf.seq,
        hash=leaf.head,
        key=row["signed_with"],
        signature=row["signature"],
    )
    grew = row["earlier"] is None or f'"hash":"{row["earlier"]}"' in (row["past"] or "")
    return Head(leaf=leaf, receipt=receipt if is_signed else None, grew=grew)


@dataclass(frozen=True, slots=True)
class Tree:
    """The tree in an open transaction of its one writer."""

    connection: Connection

    @property
    def size(self) -> int:
        """How many leaves it has."""
        last: int | None = self.connection.scalar(select(func.max(tree_leaves.c.index)))
        return 0 if last is None else last + 1

    def node(self, level: int, index: int) -> bytes:
        """A complete node; LookupError if there is none such."""
        return _node(self.connection, level, index)

    def fresh_heads(self, since: datetime, limit: int) -> Sequence[Head]:
        """Heads of games that moved since then and are not in the tree, at most that many."""
        rows = self.connection.execute(text(_FRESH), {"since": since, "limit": limit})
        return [_head(row) for row in rows.mappings()]

    def add(self, size: int, leaves: Sequence[Leaf], nodes: Sequence[Node]) -> None:
        """Let the leaves follow a tree of that size."""
        self.connection.execute(
            insert(tree_leaves),
            [
                {
                    "index": index,
                    "game_id": leaf.game,
                    "seq": leaf.seq,
                    "head": leaf.head,
                    "final": leaf.final,
                }
                for index, leaf in enumerate(leaves, size)
            ],
        )
        self.connection.execute(
            insert(tree_nodes),
            [{"level": node.level, "index": node.index, "hash": node.hash} for node in nodes],
        )

    def sign(self, size: int, note: str, at: datetime) -> None:
        """Keep the checkpoint of that size."""
        row = {"size": size, "note": note, "created_at": at}
        self.connection.execute(insert(checkpoints), [row])


@contextmanager
def tree_for_writing(database: Database) -> Iterator[Tree | None]:
    """The tree, for the one who may grow it; None while somebody else does."""
    with transaction(database) as open_connection:
        is_mine = open_connection.scalar(
            text("SELECT pg_try_advisory_xact_lock(:lock)"), {"lock": CHECKPOINT_LOCK}
        )
        yield Tree(open_connection) if is_mine else None


def latest_checkpoints(database: Database, limit: int) -> Sequence[str]:
    """The notes of the largest sizes, the largest first."""
    query = select(checkpoints.c.note).order_by(checkpoints.c.size.desc()).limit(limit)
    with connection(database) as open_connection:
        return open_connection.scalars(query).all()


def find_checkpoint(database: Database, size: int) -> Sequence[str]:
    """The note of that size, if there is one."""
    query = select(checkpoints.c.note).where(checkpoints.c.size == size)
    with connection(database) as open_connection:
        return open_connection.scalars(query).all()


def checkpoints_after(database: Database, size: int, limit: int) -> Sequence[tuple[int, str]]:
    """The signed notes of larger sizes, smallest first, at most that many."""
    query = (
        select(checkpoints.c.size, checkpoints.c.note)
        .where(checkpoints.c.size > size)
        .order_by(checkpoints.c.size)
        .limit(limit)
    )
    with connection(database) as open_connection:
        return [(found, note) for found, note in open_connection.execute(query)]


def find_inclusion(database: Database, game: str, seq: int) -> Inclusion | None:
    """Why that head of the game is in the first checkpoint that holds it; None if none does yet."""
    leaf = select(tree_leaves.c.index).where(
        tree_leaves.c.game_id == game, tree_leaves.c.seq == seq
    )
    with connection(database) as open_connection:
        index = open_connection.scalar(leaf)
        if index is None:
            return None
        holding = select(checkpoints.c.note).where(checkpoints.c.size > index)
        note = open_connection.scalar(holding.order_by(checkpoints.c.size).limit(1))
        if note is None:
            return None
        size = _size_of(note)
        path = _path(open_connection, lambda nodes: inclusion_path(index, size, nodes))
    return Inclusion(index=index, path=path, checkpoint=note)


def find_consistency(database: Database, old: int, new: int) -> Consistency:
    """Why the tree of size `new` grew from that of size `old`; LookupError if it lacks nodes."""
    with connection(database) as open_connection:
        path = _path(open_connection, lambda nodes: consistency_path(old, new, nodes))
    return Consistency(old=old, new=new, path=path)


def leaves_upto(database: Database, size: int, after: int, limit: int) -> Sequence[Leaf]:
    """The leaves of a tree of that size from index `after` on, at most that many."""
    query = (
        select(tree_leaves.c.game_id, tree_leaves.c.seq, tree_leaves.c.head, tree_leaves.c.final)
        .where(tree_leaves.c.index >= after, tree_leaves.c.index < size)
        .order_by(tree_leaves.c.index)
        .limit(limit)
    )
    with connection(database) as open_connection:
        return [
            Leaf(game=game, seq=seq, head=head, final=final)
            for game, seq, head, final in open_connection.execute(query)
        ]


def leaves_by_game(
    database: Database, size: int, after: str, limit: int
) -> Mapping[str, Sequence[Leaf]]:
    """The leaves of a tree of that size, of the next games by id, at most so many games."""
    next_games = (
        select(tree_leaves.c.game_id)
        .where(tree_leaves.c.index < size, tree_leaves.c.game_id > after)
        .distinct()
        .order_by(tree_leaves.c.game_id)
        .limit(limit)
    )
    query = (
        select(tree_leaves.c.game_id, tree_leaves.c.seq, tree_leaves.c.head, tree_leaves.c.final)
        .where(tree_leaves.c.index < size, tree_leaves.c.game_id.in_(next_games))
        .order_by(tree_leaves.c.game_id, tree_leaves.c.seq)
    )
    found: dict[str, list[Leaf]] = {}
    with connection(database) as open_connection:
        for game, seq, head, final in open_connection.execute(query):
            leaf = Leaf(game=game, seq=seq, head=head, final=final)
            found.setdefault(game, []).append(leaf)
    return found


def _path(open_connection: Connection, make: Callable[[Nodes], list[bytes]]) -> list[bytes]:
    """The path that `make` makes of the tree's nodes: those that it asks for are read at once."""
    wanted: list[tuple[int, int]] = []

    def note(level: int, index: int) -> bytes:
        wanted.append((level, index))
        return b""

    try:
        make(note)
    except ValueError as error:
        raise BrokenTree from error
    query = select(tree_nodes.c.level, tree_nodes.c.index, tree_nodes.c.hash).where(
        tuple_(tree_nodes.c.level, tree_nodes.c.index).in_(wanted)
    )
    found = {
        (level, index): bytes(digest) for level, index, digest in open_connection.execute(query)
    }
    try:
        return make(lambda level, index: found[level, index])
    except KeyError as error:
        raise BrokenTree from error


def _size_of(note: str) -> int:
    try:
        return read_note(note).checkpoint.size
    except ValueError as error:
        raise BrokenTree from error


def _node(open_connection: Connection, level: int, index: int) -> bytes:
    query = select(tree_nodes.c.hash).where(
        tree_nodes.c.level == level, tree_nodes.c.index == index
    )
    found = open_connection.scalar(query)
    if found is None:
        message = f"the tree has no node {index} at level {level}"
        raise LookupError(message)
    return bytes(found)
