"""What binds a log from outside: receipts that players keep, checkpoints that were published.

A log may be whole and consistent and still not be the one that was played;
these checks find that out.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from hmac import compare_digest
from typing import Any

from service.log.events import Event
from service.proof.checkpoints import (
    Checkpoint,
    Consistency,
    Inclusion,
    Leaf,
    SignedNote,
    read_inclusion,
    read_note,
)
from service.proof.keys import PublicKey, find_key
from service.proof.merkle import is_consistent, is_included
from service.proof.reading import Export, has_event
from service.proof.receipts import Receipt, read_receipt
from service.proof.verdicts import OF_THE_GAME, Check, Failed, NotChecked


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What its reader holds against a log.

    `keys` are the service's, None where none are at hand; `receipts` and
    `checkpoints` those that were kept; `consistency` what is said to connect
    checkpoints; `secret` is the game's, for who has it before it is revealed.
    """

    keys: Sequence[PublicKey] | None = None
    receipts: Sequence[Receipt] = ()
    checkpoints: Sequence[SignedNote] = ()
    consistency: Sequence[Consistency] = ()
    secret: bytes | None = field(default=None, repr=False)

    @property
    def asked(self) -> frozenset[Check]:
        """The checks that must be made, now that there is evidence for them."""
        of_signature = {Check.SIGNATURE} if self.keys is not None or self.receipts else set()
        of_inclusion = {Check.INCLUSION} if self.checkpoints or self.consistency else set()
        return OF_THE_GAME | of_signature | of_inclusion


NOTHING = Evidence()


def signature(export: Export, evidence: Evidence) -> str:
    """The service signed the last event, and every event whose receipt was kept (L §3)."""
    for receipt in evidence.receipts:
        _refuse_contradiction(receipt, export.events)
    if evidence.keys is None:
        message = "no keys were given: take them from GET /keys, once, and keep them"
        raise NotChecked(message)
    footer: Any = export.footer
    if footer["receipt"] is None:
        message = "the service did not sign the last event"
        raise Failed(message, len(export.events))
    try:
        own = read_receipt(footer["receipt"])
    except ValueError as error:
        raise Failed(str(error), len(export.events)) from error
    if own.seq != len(export.events):
        message = f"the footer's receipt is for event {own.seq}, which is not the last"
        raise Failed(message, len(export.events))
    _refuse_contradiction(own, export.events)
    for receipt in (own, *evidence.receipts):
        _refuse_signature(receipt, export.events, evidence.keys)
    kept = len(evidence.receipts)
    return "the head is signed" + (f"; so is what was kept ({kept})" if kept else "")


def _refuse_contradiction(receipt: Receipt, events: Sequence[Event]) -> None:
    """A receipt is for an event of this log, or the log was rewritten: no key tells otherwise."""
    if receipt.game != events[0].game:
        message = f"a receipt is for another game, {receipt.game}"
        raise Failed(message, receipt.seq)
    if not 1 <= receipt.seq <= len(events):
        message = f"a receipt is for event {receipt.seq}, and there are {len(events)} events"
        raise Failed(message, len(events) + 1)
    if not compare_digest(events[receipt.seq - 1].hash.encode(), receipt.hash.encode()):
        message = "a receipt is for another event in this place: the log was rewritten"
        raise Failed(message, receipt.seq)


def _refuse_signature(receipt: Receipt, events: Sequence[Event], keys: Sequence[PublicKey]) -> None:
    key = find_key(keys, receipt.key)
    if key is None:
        message = f"a receipt is signed with key {receipt.key}, which is not among the keys"
        raise Failed(message, receipt.seq)
    if not receipt.is_signed_by(key):
        message = f"a receipt's signature is not that of key {receipt.key}"
        raise Failed(message, receipt.seq)
    if not key.may_have_signed(events[receipt.seq - 1].at):
        message = f"key {receipt.key} signed no more when the event happened"
        raise Failed(message, receipt.seq)


def inclusion(export: Export, evidence: Evidence) -> str:
    """The last event is in a signed checkpoint, which agrees with those that were kept."""
    footer: Any = export.footer
    if footer["inclusion"] is None:
        message = "no checkpoint holds the last event yet"
        raise NotChecked(message)
    last = export.events[-1]
    try:
        inclusion = read_inclusion(footer["inclusion"])
        note = read_note(inclusion.checkpoint)
    except ValueError as error:
        raise Failed(str(error), last.seq) from error
    is_over = has_event(export.events, "game_ended")
    leaf = Leaf(game=last.game, seq=last.seq, head=last.hash, final=is_over)
    _refuse_path(leaf, inclusion, note)
    if evidence.keys is None:
        message = "the path leads to its checkpoint, whose signature needs the keys"
        raise NotChecked(message)
    if not note.is_signed_by(evidence.keys):
        message = "the checkpoint is signed by none of the keys"
        raise Failed(message, last.seq)
    return _kept(note, evidence, last.seq)


def _refuse_path(leaf: Leaf, inclusion: Inclusion, note: SignedNote) -> None:
    checkpoint = note.checkpoint
    is_there = is_included(
        leaf.hash, inclusion.index, checkpoint.size, inclusion.path, checkpoint.root
    )
    if not is_there:
        message = "the path does not lead from the last event to the checkpoint"
        raise Failed(message, leaf.seq)


def _kept(note: SignedNote, evidence: Evidence, seq: int) -> str:
    """Hold the export's checkpoint against those that were kept; raises Failed or NotChecked."""
    own = note.checkpoint
    for kept in evidence.checkpoints:
        other = kept.checkpoint
        if other.origin != own.origin or not kept.is_signed_by(evidence.keys or ()):
            message = f"the kept checkpoint {other.size} is of another log, or signed by no key"
            raise NotChecked(message)
        if (own.size, own.root) != (other.size, other.root):
            if own.size == other.size:
                message = f"there is another checkpoint of size {own.size}: the tree was rewritten"
                raise Failed(message, seq)
            _connect(own, other, evidence.consistency)
    agreeing = len(evidence.checkpoints)
    told = f"; it is of one history with what was kept ({agreeing})" if agreeing else ""
    return f"checkpoint {own.size} holds the last event{told}"


def _connect(one: Checkpoint, two: Checkpoint, proofs: Sequence[Consistency]) -> None:
    """Find a proof that one tree grew into the other; raises NotChecked.

    A proof that proves nothing convicts nobody: it may have been made up.
    """
    old, new = sorted((one, two), key=lambda checkpoint: checkpoint.size)
    fitting = (proof for proof in proofs if (proof.old, proof.new) == (old.size, new.size))
    if not any(is_consistent(old.size, new.size, old.root, new.root, p.path) for p in fitting):
        message = (
            f"no proof connects checkpoints {old.size} and {new.size}: "
            f"take GET /checkpoints/{new.size}/consistency?from={old.size}"
        )
        raise NotChecked(message)
