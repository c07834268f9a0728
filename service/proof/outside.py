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
from service.proof.verdicts import Failed, NotChecked


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


NOTHING = Evidence()


def signature(export: Export, evidence: Evidence) -> str:
    """The service signed the last event, and every event whose receipt was kept (L §3)."""
    if evidence.keys is None:
        message = "no keys were given: take them from GET /keys, once, and keep them"
        raise NotChecked(message)
    footer: Any = export.footer
    try:
        own = read_receipt(footer["receipt"])
    except ValueError as error:
        raise Failed(str(error), len(export.events)) from error
    if own.seq != len(export.events):
        message = f"the footer's receipt is for event {own.seq}, which is not the last"
        raise Failed(message, len(export.events))
    for receipt in (own, *evidence.receipts):
        _refuse_receipt(receipt, export.events, evidence.keys)
    kept = len(evidence.receipts)
    return "the head is signed" + (f", and {kept} kept receipts agree" if kept else "")


def _refuse_receipt(receipt: Receipt, events: Sequence[Event], keys: Sequence[PublicKey]) -> None:
    if receipt.game != events[0].game:
        message = f"a receipt is for another game, {receipt.game}"
        raise Failed(message, receipt.seq)
    key = find_key(keys, receipt.key)
    if key is None:
        message = f"a receipt is signed with key {receipt.key}, which is not among the keys"
        raise Failed(message, receipt.seq)
    if not receipt.is_signed_by(key):
        message = f"a receipt's signature is not that of key {receipt.key}"
        raise Failed(message, receipt.seq)
    if not 1 <= receipt.seq <= len(events):
        message = f"a receipt is for event {receipt.seq}, and there are {len(events)} events"
        raise Failed(message, len(events) + 1)
    event = events[receipt.seq - 1]
    if not compare_digest(event.hash, receipt.hash):
        message = "a receipt is for another event in this place: the log was rewritten"
        raise Failed(message, receipt.seq)
    if not key.may_have_signed(event.at):
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
    agreeing = 0
    for kept in evidence.checkpoints:
        is_grown = _is_grown(own.size, own.root, kept, evidence.consistency)
        if is_grown is False:
            message = (
                f"checkpoint {own.size} contradicts the kept checkpoint {kept.checkpoint.size}"
            )
            raise Failed(message, seq)
        agreeing += is_grown is True
    if evidence.checkpoints and not agreeing:
        sizes = ", ".join(str(kept.checkpoint.size) for kept in evidence.checkpoints[:3])
        message = (
            f"nothing connects checkpoint {own.size} with the kept {sizes}: "
            f"take GET /checkpoints/<larger>/consistency?from=<smaller>"
        )
        raise NotChecked(message)
    return f"checkpoint {own.size} holds the last event" + (
        f", and {agreeing} kept checkpoints agree" if agreeing else ""
    )


def _is_grown(
    size: int, root: bytes, kept: SignedNote, proofs: Sequence[Consistency]
) -> bool | None:
    """Whether one tree is the other, grown; None where nothing says so."""
    other = kept.checkpoint
    if size == other.size:
        return root == other.root
    (old, old_root), (new, new_root) = sorted([(size, root), (other.size, other.root)])
    proof = next((proof for proof in proofs if (proof.old, proof.new) == (old, new)), None)
    return None if proof is None else is_consistent(old, new, old_root, new_root, proof.path)
