"""The verifier and its kin at the command line."""

import io
import json
import random
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from conftest import services_at
from play.test_checkpointing import moved, rewrite
from proof.exports import (
    KEYRING,
    edited,
    export_of,
    include,
    kept_receipt,
    parts,
    play,
    rechained,
    seq_of,
    with_footer,
    written,
)
from store.test_appends import new_game

from service.cli import main, replaying
from service.cli.group import COMMANDS
from service.cli.plain import plain
from service.play.checkpointing import Checkpointer
from service.play.services import Services
from service.store.embedded import Urls
from service.store.key_file import KeyFile
from service.store.schema import migrate

TEXT = export_of(play("jokers-go-boom", 1))
LAST = len(parts(TEXT)[1])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with what a careful player keeps."""
    files = {
        "game.jsonl": TEXT,
        "running.jsonl": export_of(play("jokers-go-boom", 1)[:20]),
        "bad.jsonl": edited(TEXT, seq_of(TEXT, "round_ended"), points={"1": 0, "2": 0, "3": 0}),
        "rewritten.jsonl": export_of(play("jokers-go-boom", 2)),
        "keys.json": json.dumps({"keys": [key.to_json() for key in KEYRING.public_keys()]}),
        "receipt.json": json.dumps(kept_receipt(TEXT, 12).to_json()),
        "answer.json": json.dumps({"version": 12, "receipt": kept_receipt(TEXT, 12).to_json()}),
        "checkpoints/00000000000000000007.txt": include(parts(TEXT)[1]).checkpoint,
        "checkpoints/latest.txt": include(parts(TEXT)[1]).checkpoint,
        "none.json": "x",
        "deep.json": "[" * 100_000,
        "refusal.json": '{"type":"/problems/game-not-found"}\n',
        "nosecret.jsonl": edited(TEXT, LAST, server_secret="zz"),
    }
    (tmp_path / "empty.dir").mkdir()
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def run(*arguments: object, stdin: str | bytes | None = None, **environment: str) -> Result:
    return CliRunner().invoke(main, [str(part) for part in arguments], input=stdin, env=environment)


def test_a_whole_game_is_verified(folder: Path) -> None:
    ran = run(
        *("verify", folder / "game.jsonl", "--keys", folder / "keys.json"),
        *("--receipt", folder / "receipt.json", "--receipt", folder / "answer.json"),
        *("--checkpoint", folder / "checkpoints"),
    )
    assert ran.exit_code == 0, ran.output
    assert ran.output.endswith("verified\n")
    assert "so is what was kept (2)" in ran.output
    assert "with what was kept (1)" in ran.output
    assert run("verify", "-", stdin=TEXT).exit_code == 0


def test_a_tampered_game_is_told_from_it(folder: Path) -> None:
    ran = run("verify", folder / "bad.jsonl")
    assert ran.exit_code == 1
    assert f"FAILED       scores        event {seq_of(TEXT, 'round_ended')}: points" in ran.output
    assert ran.output.endswith("failed\n")
    told = json.loads(run("verify", "--json", folder / "bad.jsonl").output)
    assert told["outcome"] == "failed"
    for kept in (("--receipt", "receipt.json"), ("--checkpoint", "checkpoints")):
        option, name = kept
        ran = run(
            *("verify", folder / "rewritten.jsonl", "--keys", folder / "keys.json"),
            *(option, folder / name),
        )
        assert ran.exit_code == 1, ran.output


def test_a_running_game_is_incomplete(folder: Path) -> None:
    ran = run("verify", folder / "running.jsonl")
    assert ran.exit_code == 3
    assert "not checked  deals" in ran.output


def test_a_proof_of_consistency_is_taken(folder: Path) -> None:
    proof = folder / "proof.json"
    proof.write_text(json.dumps({"from": 7, "to": 9, "path": []}))
    ran = run("verify", folder / "game.jsonl", "--consistency", proof)
    assert ran.exit_code == 3, ran.output


def test_a_folder_without_the_exports_checkpoint_gives_its_largest(folder: Path) -> None:
    other = folder / "checkpoints" / f"{9:020}.txt"
    (folder / "checkpoints" / f"{7:020}.txt").rename(other)
    ran = run(
        *("verify", folder / "game.jsonl", "--keys", folder / "keys.json"),
        *("--checkpoint", folder / "checkpoints"),
    )
    assert ran.exit_code == 0, ran.output


def test_what_strangers_wrote_does_nothing_to_a_terminal(folder: Path) -> None:
    header, events, _ = parts(TEXT)
    events[seq_of(TEXT, "round_ended") - 1]["data"]["\x1b[2Jverified"] = 1
    (folder / "bad.jsonl").write_text(written(header, rechained(events)))
    for arguments in (("verify", folder / "bad.jsonl"), ("replay", folder / "running.jsonl")):
        assert "\x1b" not in run(*arguments).output
    assert "\\x1b[2J" in plain("\x1b[2J")


@pytest.mark.parametrize(
    "arguments",
    [
        ("verify",),
        ("verify", "nowhere.jsonl"),
        ("verify", "--all", "game.jsonl"),
        ("verify", "game.jsonl", "--keys", "none.json"),
        ("verify", "game.jsonl", "--keys", "receipt.json"),
        ("verify", "game.jsonl", "--receipt", "keys.json"),
        ("verify", "game.jsonl", "--checkpoint", "none.json"),
        ("verify", "game.jsonl", "--consistency", "receipt.json"),
        ("verify", "game.jsonl", "--checkpoint", "empty.dir"),
        ("verify", "game.jsonl", "--keys", "deep.json"),
        ("verify", "refusal.json"),
        ("replay", "nosecret.jsonl"),
        ("replay", "none.json"),
        ("replay", "bad.jsonl"),
        ("replay", "game.jsonl", "--from", "9999"),
        ("replay", "game.jsonl", "--seat", "9"),
        ("nothing",),
    ],
)
def test_what_can_not_be_used_is_said_to_be(folder: Path, arguments: tuple[str, ...]) -> None:
    placed = [folder / part if "." in part else part for part in arguments]
    ran = run(*placed)
    assert ran.exit_code == 2, ran.output
    assert "Error" in ran.output
    assert isinstance(ran.exception, SystemExit)


def test_what_is_no_text_is_no_export() -> None:
    assert run("verify", "-", stdin=b"\xff\xfe").exit_code == 2


def test_a_replay_shows_every_event_and_the_table_after_it(folder: Path) -> None:
    ran = run("replay", folder / "game.jsonl")
    assert ran.exit_code == 0
    for event in parts(TEXT)[1]:
        assert f"\n{event['seq']}  {event['type']}  by" in f"\n{ran.output}"
    assert "state_mac" not in ran.output
    hands = [line for line in ran.output.splitlines() if "seat 1  score" in line]
    assert len(hands) == LAST
    one = run("replay", folder / "game.jsonl", "--seat", "2", "--from", str(LAST)).output
    assert one.count("seat 2  score") == 1


def test_a_running_game_shows_its_public_events(folder: Path) -> None:
    ran = run("replay", folder / "running.jsonl", "--all")
    assert ran.exit_code == 0
    assert "20  move" in ran.output
    assert "seat 1  score" not in ran.output


def test_a_replay_steps_by_keys(monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    pressed = iter(["n", "n", "b", "b", "b", "n", "q"])
    monkeypatch.setattr("click.getchar", lambda: next(pressed))
    replaying.step_through(["one", "two", "three"], 0)
    assert capsys.readouterr().out.split() == ["one", "two", "three", "two", "one", "one", "two"]
    pressed = iter(["n", "n", "n"])
    replaying.step_through(["one", "two"], 0)
    assert capsys.readouterr().out.split() == ["one", "two"]


def test_a_terminal_is_stepped_through(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    shown: list[int] = []
    monkeypatch.setattr(sys, "stdin", Terminal())
    monkeypatch.setattr(sys, "stdout", Terminal())
    monkeypatch.setattr(replaying, "step_through", lambda pages, at: shown.extend((len(pages), at)))
    replaying.replay_command.main(
        [str(folder / "game.jsonl"), "--from", "3"], standalone_mode=False
    )
    assert shown == [LAST, 2]


def test_the_verifier_loads_no_framework_and_no_database(folder: Path) -> None:
    script = (
        "import sys; from service.cli import main\n"
        f"try: main(['verify', {str(folder / 'game.jsonl')!r}])\n"
        "except SystemExit as end: assert end.code == 0, end.code\n"
        "found = {'flask', 'marshmallow', 'sqlalchemy', 'psycopg', 'alembic'} & set(sys.modules)\n"
        "assert not found, found\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr


def test_every_command_is_there_and_says_what_it_does() -> None:
    ran = run("--help")
    assert ran.exit_code == 0
    for name in COMMANDS:
        assert f"\n  {name} " in ran.output
        assert run(name, "--help").exit_code == 0


def test_keys_are_listed_and_changed(tmp_path: Path) -> None:
    home = str(tmp_path)
    missing = run("keys", "rotate", FAIRDEAL_HOME=home)
    assert missing.exit_code == 1
    assert list(tmp_path.iterdir()) == []
    KeyFile.at(tmp_path / "signing-keys.json")
    first = json.loads(run("keys", "list", FAIRDEAL_HOME=home).output)["keys"]
    ran = run("keys", "rotate", FAIRDEAL_HOME=home)
    assert ran.exit_code == 0
    then = json.loads(run("keys", "list", FAIRDEAL_HOME=home).output)["keys"]
    assert [key["id"] for key in then[1:]] == [key["id"] for key in first]
    assert then[0]["id"] in ran.output
    assert "private" not in json.dumps(then)
    lost = str(tmp_path / "signing-keys.json" / "x")
    broken = run("keys", "list", FAIRDEAL_SIGNING_KEYS=lost)
    assert broken.exit_code == 1


class Stored:
    """A database of its own with some games, its home, and what a command needs to find them."""

    def __init__(self, urls: Urls, home: Path) -> None:
        self.urls, self.home = urls, home
        self.environment = {"FAIRDEAL_HOME": str(home), "DATABASE_URL": urls.service}
        keyring = KeyFile.at(home / "signing-keys.json")
        self.services: Services = services_at(urls.service, keyring=keyring)
        chance = random.Random(6)
        self.games = []
        for _ in range(5):
            game = new_game(self.services.database, rounds=1)
            for _ in range(chance.randint(0, 30)):
                game = moved(self.services, game) if game.to_act else game
            self.games.append(game)

    def run(self, *arguments: object) -> Result:
        return run(*arguments, **self.environment)


@pytest.fixture
def stored(another_database: Callable[[], Urls], tmp_path: Path) -> Iterator[Stored]:
    urls = another_database()
    migrate(urls.owner)
    made = Stored(urls, tmp_path)
    yield made
    made.services.database.engine.dispose()


def test_every_game_in_the_database_is_verified(stored: Stored) -> None:
    ran = stored.run("verify", "--all")
    assert ran.exit_code == 0, ran.output
    assert "5 games: all verified" in ran.output
    rewrite(stored.urls, "UPDATE events SET type = 'x' WHERE game_id = %s", stored.games[2].id)
    rewrite(stored.urls, "DELETE FROM games WHERE id = %s", stored.games[4].id)
    broken = """UPDATE events SET body = replace(body, '"data":{', '"data":5,"x":{')
        WHERE game_id = %s"""
    rewrite(stored.urls, broken, stored.games[0].id)
    ran = stored.run("verify", "--all", "--json")
    assert ran.exit_code == 1
    found = [json.loads(line) for line in ran.stdout.splitlines() if '"canonical"' not in line]
    assert {finding["game"] for finding in found} == {stored.games[2].id, stored.games[4].id}
    assert {finding["check"] for finding in found} == {"stored"}
    assert f"game {stored.games[4].id}: stored:" in stored.run("verify", "--all").stdout


def test_verifying_goes_on_where_it_stopped(stored: Stored, tmp_path: Path) -> None:
    state = tmp_path / "state"
    assert stored.run("verify", "--all", "--state", state).exit_code == 0
    lines = state.read_text().splitlines()
    assert len(lines) == 5
    state.write_text("\n".join([*lines[:3], "half"]) + "\n")
    moved_on = next((game for game in stored.games if game.to_act), None)
    assert moved_on is not None
    moved(stored.services, moved_on)
    assert stored.run("verify", "--all", "--state", state).exit_code == 0
    assert 7 <= len(state.read_text().splitlines()) <= 8


def test_several_processes_find_the_same(stored: Stored) -> None:
    rewrite(stored.urls, "UPDATE games SET version = 1 WHERE id = %s", stored.games[0].id)
    one = stored.run("verify", "--all", "--json").stdout
    two = stored.run("verify", "--all", "--json", "--jobs", "2").stdout
    assert one == two
    assert stored.games[0].id in one


def test_the_database_is_audited_by_the_published_checkpoint(stored: Stored) -> None:
    early = stored.run("audit")
    assert early.exit_code == 1
    assert "no checkpoint" in early.output
    Checkpointer(stored.services, stored.home / "checkpoints").run()
    ran = stored.run("audit")
    assert ran.exit_code == 0, ran.output
    assert "checkpoint 5: nothing was rewritten" in ran.output
    rewrite(stored.urls, "DELETE FROM events WHERE game_id = %s", stored.games[1].id)
    kept = stored.home / "checkpoints" / "latest.txt"
    for arguments in (("audit",), ("audit", "--checkpoint", kept)):
        ran = stored.run(*arguments)
        assert ran.exit_code == 1
        assert f"game {stored.games[1].id} event 1: leaf" in ran.output
    kept.write_text("x")
    assert stored.run("audit", "--checkpoint", kept).exit_code == 1
    told = json.loads(stored.run("audit", "--json").stdout)
    assert told["check"] == "leaf"


def test_a_database_that_is_away_is_said_to_be(tmp_path: Path) -> None:
    url = "postgresql://a:b@127.0.0.1:9/x"
    ran = run("verify", "--all", DATABASE_URL=url, FAIRDEAL_HOME=str(tmp_path))
    assert ran.exit_code == 1
    assert "DATABASE_URL" in ran.output
    bad = run("audit", DATABASE_URL="nonsense")
    assert bad.exit_code == 1
    assert "postgresql://" in bad.output


def test_a_footer_without_inclusion_is_still_verified() -> None:
    assert run("verify", "-", stdin=with_footer(TEXT, inclusion=None)).exit_code == 0
