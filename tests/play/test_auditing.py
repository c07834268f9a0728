"""What a superuser changes in the database is found: by itself, and by what was published."""

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from conftest import services_at
from play.test_checkpointing import moved, rewrite
from signing import FixedKeyring
from store.test_appends import new_game

from service.canonical import canonical_text
from service.log.events import GENESIS, Actor, Draft, chained
from service.play import auditing
from service.play.auditing import Finding, audit, verify_stored
from service.play.checkpointing import Checkpointer
from service.proof.checkpoints import SignedNote
from service.proof.receipts import sign_head
from service.store.database import Database
from service.store.embedded import Urls
from service.store.published import last_published
from service.store.reads import read_events
from service.store.schema import migrate
from service.store.secret_box import SecretBox


class Audited:
    """A database of its own: a finished game and two that run, in two checkpoints."""

    def __init__(self, urls: Urls, folder: Path) -> None:
        self.urls = urls
        self.services = services_at(urls.service)
        database = self.services.database
        games = [new_game(database, rounds=1) for _ in range(3)]
        games[1] = moved(self.services, games[1])
        checkpointer = Checkpointer(self.services, folder)
        checkpointer.run()
        while games[0].to_act is not None:
            games[0] = moved(self.services, games[0])
        checkpointer.run()
        self.game, self.other = games[0].id, games[1].id
        note = last_published(folder)
        assert note is not None
        self.note: SignedNote = note
        self.folder = folder

    def change(self, statement: str) -> None:
        rewrite(self.urls, statement.format(game=self.game, other=self.other))

    def verified(self) -> list[tuple[str, int | None]]:
        return [(f.check, f.seq) for f in verify_stored(self.services, self.game)]

    def audited(self) -> list[tuple[str, int | None]]:
        return [(finding.check, finding.seq) for finding in audit(self.services, self.note)]

    def rechain(self, seq: int, change: Callable[[dict[str, Any]], None], *, sign: bool) -> None:
        """Rewrite the game from an event on, chained as it should be, and the head row with it."""
        prev = GENESIS
        last = None
        for event in read_events(self.services.database, self.game, 0):
            value = json.loads(event.line)
            if event.seq == seq:
                change(value["data"])
            draft = Draft(event.type, Actor(**value["actor"]), value["data"])
            last = chained(draft, game=self.game, seq=event.seq, at=event.at, prev=prev)
            prev = last.hash
            receipt = sign_head(
                self.services.database.keyring.signer(), self.game, last.seq, last.hash
            )
            signature = receipt.signature if sign else "A" * 86
            rewrite(self.urls, REWRITE, last.line, signature, self.game, event.seq)
        assert last is not None
        rewrite(self.urls, "UPDATE games SET head = %s WHERE id = %s", last.hash, self.game)


REWRITE = """
UPDATE events SET body = %s, signature = CASE WHEN signature IS NOT NULL THEN %s END
WHERE game_id = %s AND seq = %s
"""


@pytest.fixture
def audited(another_database: Callable[[], Urls], tmp_path: Path) -> Iterator[Audited]:
    urls = another_database()
    migrate(urls.owner)
    made = Audited(urls, tmp_path)
    yield made
    made.services.database.engine.dispose()


def test_a_database_that_nobody_touched_is_clean(audited: Audited) -> None:
    assert audited.verified() == []
    assert list(verify_stored(audited.services, audited.other)) == []
    assert audited.audited() == []


EDITS: list[tuple[str, str, set[str], set[str]]] = [
    (
        "an edited line",
        """UPDATE events SET body = replace(body, '"seat":1', '"seat":2')
        WHERE game_id = '{game}' AND seq = 2""",
        {"chain"},
        {"chain"},
    ),
    (
        "a line that is none",
        "UPDATE events SET body = 'x' WHERE game_id = '{game}' AND seq = 9",
        {"canonical"},
        {"chain"},
    ),
    (
        "a last line that is none",
        "UPDATE events SET body = 'x' WHERE game_id = '{game}' AND type = 'secret_revealed'",
        {"canonical"},
        {"chain"},
    ),
    (
        "a deleted event",
        "DELETE FROM events WHERE game_id = '{game}' AND seq = 9",
        {"chain"},
        {"chain"},
    ),
    (
        "a cut end",
        "DELETE FROM events WHERE game_id = '{game}' AND seq > 9",
        {"stored"},
        {"leaf"},
    ),
    (
        "a column",
        "UPDATE events SET type = 'seat_left' WHERE game_id = '{game}' AND seq = 2",
        {"stored"},
        set(),
    ),
    (
        "a head row",
        "UPDATE games SET version = version - 1 WHERE id = '{game}'",
        {"stored"},
        set(),
    ),
    (
        "another ruleset",
        "UPDATE games SET ruleset_version = '2' WHERE id = '{game}'",
        {"completeness"},
        set(),
    ),
    (
        "another secret",
        "UPDATE game_secrets SET secret = sha256('x') WHERE game_id = '{game}'",
        {"stored"},
        set(),
    ),
    (
        "a deleted secret",
        "DELETE FROM game_secrets WHERE game_id = '{game}'",
        {"stored"},
        set(),
    ),
    (
        "a forged signature",
        """UPDATE events SET signature = repeat('A', 86)
        WHERE game_id = '{game}' AND type = 'secret_revealed'""",
        {"signature"},
        set(),
    ),
    ("a deleted game", "DELETE FROM games WHERE id = '{game}'", {"stored"}, set()),
    ("a deleted log", "DELETE FROM events WHERE game_id = '{game}'", {"stored"}, {"leaf"}),
    (
        "a leaf",
        "UPDATE tree_leaves SET head = repeat('0', 64) WHERE index = 0",
        set(),
        {"tree", "leaf"},
    ),
    ("a deleted leaf", "DELETE FROM tree_leaves WHERE index = 3", {"inclusion"}, {"tree"}),
    (
        "a leaf's end",
        "UPDATE tree_leaves SET final = NOT final WHERE index = 0",
        set(),
        {"tree", "leaf"},
    ),
]


@pytest.mark.parametrize(
    ("statement", "verified", "audit_finds"),
    [pytest.param(*edit[1:], id=edit[0]) for edit in EDITS if edit[0] != "a deleted leaf"],
)
def test_a_superusers_edit_is_found(
    audited: Audited, statement: str, verified: set[str], audit_finds: set[str]
) -> None:
    audited.change(statement)
    assert {check for check, _ in audited.verified()} >= verified
    assert bool(audited.verified()) == bool(verified)
    assert {check for check, _ in audited.audited()} == audit_finds


def test_a_leaf_that_is_gone_is_found(audited: Audited) -> None:
    audited.change("DELETE FROM tree_leaves WHERE index = 3")
    assert audited.audited() == [("tree", None)]


def test_a_rewritten_log_with_a_fresh_chain_is_found(audited: Audited) -> None:
    """By its signature if the key is not at hand, and by the checkpoint even if it is."""

    def change(data: dict[str, Any]) -> None:
        data["visibility"] = "private"

    audited.rechain(1, change, sign=False)
    assert {check for check, _ in audited.verified()} == {"signature", "inclusion"}
    audited.rechain(1, lambda _data: None, sign=True)
    assert {check for check, _ in audited.verified()} == {"inclusion"}
    found = audited.audited()
    assert {check for check, _ in found} == {"leaf"}
    assert len(found) == 2


def test_a_checkpoint_of_another_key_proves_nothing(audited: Audited) -> None:
    database = audited.services.database
    strange = Database(database.engine, database.box, FixedKeyring(b"x" * 32))
    findings = list(audit(replace(audited.services, database=strange), audited.note))
    assert [finding.check for finding in findings] == ["signature"]


def test_secrets_sealed_with_another_key_are_said_to_be(
    another_database: Callable[[], Urls],
) -> None:
    urls = another_database()
    migrate(urls.owner)
    services = services_at(urls.service)
    sealed = Database(services.database.engine, SecretBox(b"k" * 32), services.database.keyring)
    game = new_game(sealed)
    assert list(verify_stored(replace(services, database=sealed), game.id)) == []
    (finding,) = verify_stored(services, game.id)
    assert (finding.check, finding.game) == ("stored", game.id)
    services.database.engine.dispose()


def test_long_games_and_many_leaves_are_audited_in_parts(
    audited: Audited, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("LEAVES_AT_ONCE", "GAMES_AT_ONCE", "LINES_AT_ONCE"):
        monkeypatch.setattr(auditing, name, 1)
    assert audited.audited() == []
    audited.change("UPDATE tree_leaves SET head = repeat('0', 64) WHERE index = 1")
    assert ("tree", None) in audited.audited()


def test_a_finding_is_told_to_programs() -> None:
    finding = Finding(check="chain", detail="why", game="g", seq=3)
    assert canonical_text(finding.to_json()) == (
        '{"check":"chain","detail":"why","game":"g","seq":3}'
    )
