import base64
import hashlib
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from signing import KEYRING, FixedKeyring

from service.proof.checkpoints import (
    Checkpoint,
    note_key,
    read_consistency,
    read_inclusion,
    read_note,
    signed,
)
from service.proof.encoding import from_text, to_text
from service.proof.keys import PublicKey, Signer, find_key, read_keys
from service.proof.receipts import read_receipt, sign_head

CHECKPOINT = Checkpoint("cards.example/log", 42, bytes(range(32)))
SIGNER = KEYRING.signer()
(KEY,) = KEYRING.public_keys()
NOTE = signed(CHECKPOINT, SIGNER)


def test_a_note_is_what_the_specification_says() -> None:
    body, signature = NOTE.split("\n\n")
    root = base64.b64encode(bytes(range(32))).decode()
    assert body == f"cards.example/log\n42\n{root}"
    dash, name, encoded = signature.rstrip("\n").split(" ")
    assert (dash, name) == ("—", "cards.example/log")
    raw = base64.b64decode(encoded)
    named = b"cards.example/log\n\x01" + SIGNER.public
    assert raw[:4] == hashlib.sha256(named).digest()[:4]
    public = Ed25519PublicKey.from_public_bytes(SIGNER.public)
    public.verify(raw[4:], (body + "\n").encode())
    verifier = note_key("cards.example/log", KEY)
    assert verifier == f"{name}+{raw[:4].hex()}+" + (
        base64.b64encode(b"\x01" + SIGNER.public).decode()
    )


def test_a_note_is_read_back_and_its_signature_checked() -> None:
    note = read_note(NOTE)
    assert note.checkpoint == CHECKPOINT
    assert note.is_signed_by([KEY])
    assert not note.is_signed_by([])
    assert not note.is_signed_by(FixedKeyring(b"x" * 32).public_keys())
    for changed in (NOTE.replace("\n42\n", "\n43\n"), NOTE.replace("— cards", "— other")):
        assert not read_note(changed).is_signed_by([KEY])
    both = NOTE + NOTE.split("\n\n")[1]
    assert read_note(both).is_signed_by([KEY])


@pytest.mark.parametrize(
    "text",
    [
        "",
        "x",
        NOTE[:-1],
        NOTE.replace("\n42\n", "\n042\n"),
        NOTE.replace("\n42\n", "\n-1\n"),
        NOTE.replace("\n42\n", "\n"),
        NOTE.replace("cards.example/log\n42", "\n42"),
        NOTE.replace("\n\n", "\nmore\n\n"),
        NOTE.replace("—", "-"),
        NOTE.replace("AAEC", "!!!!"),
        NOTE.replace("AAEC", ""),
        NOTE.replace("Hh8=", "Hh9="),
        NOTE.split("\n\n")[0] + "\n\n",
        NOTE.split("\n\n")[0] + "\n\n— name !\n",
    ],
)
def test_what_is_no_note_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        read_note(text)


def test_base64url_has_one_form() -> None:
    assert from_text(to_text(b"\xff\xfe\x00")) == b"\xff\xfe\x00"
    assert from_text("") == b""
    for text in ("=", "a", "ab=", "a b", "+/", "AB"):
        with pytest.raises(ValueError):
            from_text(text)


RECEIPT = sign_head(SIGNER, "01j00000000000000000000000", 7, "0" * 64)


def test_a_receipt_is_what_the_specification_says() -> None:
    message = (
        b"fairdeal/1 head\n"
        b'{"game":"01j00000000000000000000000","hash":"' + b"0" * 64 + b'","seq":7}'
    )
    public = Ed25519PublicKey.from_public_bytes(SIGNER.public)
    public.verify(from_text(RECEIPT.signature), message)
    assert RECEIPT.key == hashlib.sha256(SIGNER.public).hexdigest()[:16]
    assert read_receipt(RECEIPT.to_json()) == RECEIPT
    assert RECEIPT.is_signed_by(KEY)
    assert not RECEIPT.is_signed_by(PublicKey(public=b"short", valid_from=""))
    for changed in ({"signature": "!"}, {"signature": "A" * 86}, {"seq": 8}):
        assert not read_receipt({**RECEIPT.to_json(), **changed}).is_signed_by(KEY)


@pytest.mark.parametrize(
    "value",
    [
        None,
        {},
        {**RECEIPT.to_json(), "seq": True},
        {**RECEIPT.to_json(), "seq": 10**30},
        {**RECEIPT.to_json(), "seq": 0},
        {**RECEIPT.to_json(), "key": 1},
    ],
)
def test_what_is_no_receipt_is_refused(value: Any) -> None:
    with pytest.raises(ValueError, match="a receipt has"):
        read_receipt(value)


def test_keys_are_read_as_they_are_listed() -> None:
    old = PublicKey(public=Signer.of(b"o" * 32).public, valid_from="2025", valid_until="2026")
    assert read_keys({"keys": [KEY.to_json(), old.to_json()]}) == [KEY, old]
    assert find_key([KEY, old], old.id) is old
    assert find_key([KEY], old.id) is None
    assert old.may_have_signed("2025-06")
    assert not old.may_have_signed("2026-06")
    assert KEY.may_have_signed("2099")


@pytest.mark.parametrize(
    "value",
    [
        None,
        [],
        {"keys": 1},
        {"keys": [{}]},
        {"keys": [{**KEY.to_json(), "public_key": 1}]},
        {"keys": [{**KEY.to_json(), "public_key": "AA"}]},
        {"keys": [{**KEY.to_json(), "valid_from": None}]},
        {"keys": [{**KEY.to_json(), "valid_until": 5}]},
    ],
)
def test_what_are_no_keys_is_refused(value: Any) -> None:
    with pytest.raises(ValueError):
        read_keys(value)


INCLUSION = {"index": 0, "path": ["00" * 32], "checkpoint": NOTE}
CONSISTENCY = {"from": 1, "to": 2, "path": ["00" * 32]}


@pytest.mark.parametrize(
    "value",
    [
        None,
        {},
        {**INCLUSION, "index": "0"},
        {**INCLUSION, "checkpoint": 1},
        {**INCLUSION, "path": "00"},
        {**INCLUSION, "path": [1]},
        {**INCLUSION, "path": ["xx" * 32]},
        {**INCLUSION, "path": ["00"]},
        {**INCLUSION, "path": [" ".join(["00"] * 32)]},
        {**INCLUSION, "path": ["AA" * 32]},
    ],
)
def test_what_is_no_inclusion_is_refused(value: Any) -> None:
    assert read_inclusion(INCLUSION).to_json() == INCLUSION
    with pytest.raises(ValueError):
        read_inclusion(value)


@pytest.mark.parametrize(
    "value",
    [None, {}, {**CONSISTENCY, "from": "1"}, {**CONSISTENCY, "to": None}, {"from": 1, "to": 2}],
)
def test_what_is_no_consistency_is_refused(value: Any) -> None:
    assert read_consistency(CONSISTENCY).to_json() == CONSISTENCY
    with pytest.raises(ValueError):
        read_consistency(value)
