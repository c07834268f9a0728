"""Checkpoints: heads of games that moved enter the tree, and its root is signed and published.

What was published is never contradicted: before a larger tree is signed, it is
proven to have grown from the last published one.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import structlog

from service.play.services import Services
from service.proof import merkle
from service.proof.checkpoints import Checkpoint, is_ours, read_note, signed
from service.proof.keys import PublicKey, find_key
from service.proof.merkle import Node, Nodes, consistency_path, is_consistent
from service.store.published import last_published, publish, refresh_latest
from service.store.tree import Head, Tree, checkpoints_after, tree_for_writing

LEAVES_AT_MOST = 5_000
"""How many heads enter at once; the rest enter with the next checkpoint."""

LOOKS_BACK = timedelta(minutes=10)
"""How much later than it says an append may have been written: clocks differ, commits wait."""

WHOLE_LOOKS = timedelta(hours=1)
"""How often all games are looked at, whenever they say that they moved."""

EVER = datetime(1970, 1, 1, tzinfo=UTC)
PUBLISHED_AT_ONCE = 1_000


class Inconsistent(Exception):
    """The tree in the database did not grow from the published checkpoint: nothing is signed."""


@dataclass
class Checkpointer:
    """Makes the checkpoints of one database, in the name of one log."""

    services: Services
    folder: Path
    _looked: datetime = field(default=EVER, init=False)
    _looked_at_all: datetime = field(default=EVER, init=False)

    def run(self) -> int:
        """Sign and publish what there is to sign and publish; how many leaves were added.

        Raises Inconsistent, NotPublished and StoreUnavailable.
        """
        now = self.services.now()
        is_whole = now - self._looked_at_all >= WHOLE_LOOKS
        since = EVER if is_whole else self._looked - LOOKS_BACK
        added = 0
        with tree_for_writing(self.services.database) as tree:
            if tree is not None:
                added = self._grow(tree, since, now)
        with tree_for_writing(self.services.database) as tree:
            if tree is not None:
                self._publish(tree)
        if added < LEAVES_AT_MOST:
            self._looked = now
            self._looked_at_all = now if is_whole else self._looked_at_all
        return added

    def _grow(self, tree: Tree, since: datetime, now: datetime) -> int:
        leaves = [
            head.leaf for head in tree.fresh_heads(since, LEAVES_AT_MOST) if self._stands(head)
        ]
        if not leaves:
            return 0
        size = tree.size
        nodes = list(merkle.grow(size, [leaf.hash for leaf in leaves], tree.node))
        larger = size + len(leaves)
        root = merkle.root(larger, with_fresh(tree.node, nodes))
        checkpoint = Checkpoint(self.services.origin, larger, root)
        tree.add(size, leaves, nodes)
        self._refuse_contradiction(tree, checkpoint)
        signer = self.services.database.keyring.signer()
        tree.sign(larger, signed(checkpoint, signer), now)
        return len(leaves)

    def _refuse_contradiction(self, tree: Tree, checkpoint: Checkpoint) -> None:
        published = last_published(self.folder)
        if published is None:
            return
        old = published.checkpoint
        try:
            path = consistency_path(old.size, checkpoint.size, tree.node)
        except (ValueError, LookupError) as error:
            message = f"the tree lacks what checkpoint {old.size} had"
            raise Inconsistent(message) from error
        if not is_consistent(old.size, checkpoint.size, old.root, checkpoint.root, path):
            message = f"the tree did not grow from checkpoint {old.size}"
            raise Inconsistent(message)

    def _stands(self, head: Head) -> bool:
        """Whether the service signed the head, and the log still holds what the tree does of it."""
        key = None if head.receipt is None else find_key(self._keys(), head.receipt.key)
        is_signed = key is not None and head.receipt is not None and head.receipt.is_signed_by(key)
        if not (is_signed and head.grew):
            structlog.get_logger().error("head_refused", game=head.leaf.game, seq=head.leaf.seq)
        return is_signed and head.grew

    def _publish(self, tree: Tree) -> None:
        """Publish what is signed and not published yet, whoever of ours signed it.

        Somebody may have slipped a row in: what is not signed, or did not grow
        from what was published, stays here.
        """
        published = last_published(self.folder)
        size = published.checkpoint.size if published else 0
        if published is not None:
            refresh_latest(self.folder, size)
        for larger, note in checkpoints_after(self.services.database, size, PUBLISHED_AT_ONCE):
            if not is_ours(note, self.services.origin, self._keys()):
                structlog.get_logger().error("checkpoint_unsigned", size=larger)
                continue
            self._refuse_contradiction(tree, read_note(note).checkpoint)
            publish(self.folder, larger, note)

    def _keys(self) -> Sequence[PublicKey]:
        return self.services.database.keyring.public_keys()


def with_fresh(nodes: Nodes, fresh: Sequence[Node]) -> Nodes:
    """Looks up nodes, the fresh ones among them."""
    known = {(node.level, node.index): node.hash for node in fresh}
    return lambda level, index: known.get((level, index)) or nodes(level, index)
