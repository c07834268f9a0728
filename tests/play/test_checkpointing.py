"""Checkpoints: what is signed, what is published, what is refused."""

import random
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest
from conftest import services_at
from signing import KEYRING
from store.test_appends import new_game

from service.log import steps
from service.log.events import Actor
from service.log.game import Game
from service.play import checkpointing
from service.play.auditing import audit
from service.play.checkpointing import Checkpointer, Inconsistent
from service.play.services import Services, utc_now
from service.proof.checkpoints import read_note
from service.store.appends import append
from service.store.embedded import Urls
from service.store.published import NotPublished, last_published, publish, refresh_latest
from service.store.schema import migrate
from service.store.tree import find_inclusion, latest_checkpoints, leaves_upto, tree_for_writing
from service.worker.loop import Worker


@pytest.fixture
def own(another_database: Callable[[], Urls]) -> Urls:
    urls = another_database()
    migrate(urls.owner)
    return urls


@pytest.fixture
def services(own: Urls) -> Iterator[Services]:
    """Services over a database of their own: every game in it is the test's."""
    made = services_at(own.service)
    yield made
    made.database.engine.dispose()


def moved(services: Services, game: Game) -> Game:
    """The game after a random move of the player whose turn it is."""
    assert game.round is not None
    occupant = game.occupant_to_act
    assert occupant is not None
    move = random.choice(game.ruleset.legal_moves(game.round.state))
    actor = Actor(kind="player", id=occupant.player)
    frame = steps.write(steps.play(game, move, actor), game, game.at)
    frames = [frame, *steps.consequences(frame.after, game.at)]
    assert append(services.database, frames)
    return frames[-1].after


def latest(services: Services) -> str:
    return next(iter(latest_checkpoints(services.database, 1)), "")


def size_of(folder: Path) -> int:
    published = last_published(folder)
    return 0 if published is None else published.checkpoint.size


def test_each_game_that_moved_enters_once_a_checkpoint(services: Services, tmp_path: Path) -> None:
    checkpointer = Checkpointer(services, tmp_path)
    assert checkpointer.run() == 0
    assert list(tmp_path.iterdir()) == []
    one, _two = new_game(services.database), new_game(services.database)
    assert checkpointer.run() == 2
    assert checkpointer.run() == 0
    one = moved(services, moved(services, one))
    assert checkpointer.run() == 1
    leaves = leaves_upto(services.database, 3, 0, 10)
    assert (leaves[2].game, leaves[2].seq, leaves[2].head) == (one.id, one.version, one.head)
    assert not leaves[2].final
    note = read_note(latest(services))
    assert (note.checkpoint.size, note.checkpoint.origin) == (3, services.origin)
    assert note.is_signed_by(KEYRING.public_keys())
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        f"{2:020}.txt",
        f"{3:020}.txt",
        "latest.txt",
    ]
    assert (tmp_path / "latest.txt").read_text() == latest(services)
    assert find_inclusion(services.database, one.id, one.version - 1) is None
    assert list(audit(services, note)) == []


def test_a_game_that_ended_enters_as_final(services: Services, tmp_path: Path) -> None:
    game = new_game(services.database, rounds=1)
    while game.to_act is not None:
        game = moved(services, game)
    Checkpointer(services, tmp_path).run()
    (leaf,) = leaves_upto(services.database, 1, 0, 10)
    assert leaf.final


def test_what_is_too_much_for_one_checkpoint_enters_with_the_next(
    services: Services, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpointing, "LEAVES_AT_MOST", 3)
    for _ in range(7):
        new_game(services.database)
    checkpointer = Checkpointer(services, tmp_path)
    assert [checkpointer.run() for _ in range(4)] == [3, 3, 1, 0]
    assert size_of(tmp_path) == 7


def test_an_append_that_says_it_is_older_enters_all_the_same(
    services: Services, tmp_path: Path
) -> None:
    """Clocks differ: a game of months ago is found when all games are looked at again."""
    ticks = [utc_now()]
    checkpointer = Checkpointer(replace(services, now=lambda: ticks[0]), tmp_path)
    new_game(services.database)
    assert checkpointer.run() == 1
    ticks[0] += timedelta(days=60)
    assert checkpointer.run() == 0
    new_game(services.database)
    ticks[0] += timedelta(seconds=10)
    assert checkpointer.run() == 0
    ticks[0] += checkpointing.WHOLE_LOOKS
    assert checkpointer.run() == 1


def test_one_checkpointer_at_a_time_writes(services: Services, tmp_path: Path) -> None:
    new_game(services.database)
    with tree_for_writing(services.database) as mine:
        assert mine is not None
        with tree_for_writing(services.database) as other:
            assert other is None
        assert Checkpointer(services, tmp_path).run() == 0
    assert Checkpointer(services, tmp_path).run() == 1


def test_what_another_signed_is_published_here_too(services: Services, tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    for _ in range(3):
        new_game(services.database)
        Checkpointer(services, one).run()
    assert size_of(two) == 0
    Checkpointer(services, two).run()
    assert [path.read_text() for path in sorted(one.iterdir())] == [
        path.read_text() for path in sorted(two.iterdir())
    ]


def rewrite(own: Urls, statement: str, *values: object) -> None:
    """What only a superuser can do."""
    with psycopg.connect(own.superuser, autocommit=True) as superuser:
        superuser.execute("SET session_replication_role = replica")
        superuser.execute(statement.encode(), values or None)


@pytest.mark.parametrize(
    "statement",
    [
        (
            "DELETE FROM tree_leaves WHERE index = 2; "
            "DELETE FROM tree_nodes WHERE index = 2 AND level = 0; "
            "UPDATE games SET head = repeat('0', 64)"
        ),
        "UPDATE tree_nodes SET hash = sha256('x') WHERE level = 1",
        "TRUNCATE tree_leaves, tree_nodes, checkpoints; UPDATE games SET head = repeat('0', 64)",
    ],
)
def test_a_tree_that_contradicts_what_is_published_is_not_signed(
    services: Services, own: Urls, tmp_path: Path, statement: str, log_lines: Any
) -> None:
    for _ in range(3):
        new_game(services.database)
    checkpointer = Checkpointer(services, tmp_path)
    checkpointer.run()
    rewrite(own, statement)
    before = latest(services)
    for _ in range(2):
        new_game(services.database)
    with pytest.raises(Inconsistent):
        checkpointer.run()
    assert latest(services) == before
    assert size_of(tmp_path) == 3
    worker = Worker(services, checkpointer, 10)
    worker.work()
    worker.work()
    assert log_lines.getvalue().count("checkpoint_refused") == 1


def test_a_published_checkpoint_is_never_replaced(tmp_path: Path) -> None:
    publish(tmp_path, 3, "one")
    publish(tmp_path, 3, "one")
    with pytest.raises(NotPublished, match="another checkpoint of that size"):
        publish(tmp_path, 3, "two")
    assert (tmp_path / f"{3:020}.txt").read_text() == "one"


def test_a_folder_that_can_not_be_used_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(NotPublished, match="can't be written"):
        publish(tmp_path / "file" / "below", 3, "one")
    publish(tmp_path, 3, "no note")
    with pytest.raises(NotPublished, match="can't be read"):
        last_published(tmp_path)


def test_many_checkpoints_form_one_history(services: Services, tmp_path: Path) -> None:
    chance = random.Random(4)
    checkpointer = Checkpointer(services, tmp_path)
    games = [new_game(services.database) for _ in range(3)]
    for _ in range(12):
        for index in chance.sample(range(3), chance.randint(1, 3)):
            games[index] = moved(services, games[index])
        checkpointer.run()
    for path in sorted(tmp_path.glob("[0-9]*.txt")):
        assert list(audit(services, read_note(path.read_text()))) == []


def test_a_head_that_the_service_did_not_sign_enters_no_tree(
    services: Services, own: Urls, tmp_path: Path, log_lines: Any
) -> None:
    """Who has the database and not the key gets nothing signed, whatever stands in it."""
    games = [new_game(services.database) for _ in range(4)]
    checkpointer = Checkpointer(services, tmp_path)
    checkpointer.run()
    games = [moved(services, game) for game in games]
    unsigned, forged, other, fine = (game.id for game in games)
    rewrite(own, "UPDATE events SET signature = NULL WHERE game_id = %s", unsigned)
    rewrite(own, "UPDATE events SET signature = repeat('A', 86) WHERE game_id = %s", forged)
    rewrite(own, "UPDATE events SET body = 'x' WHERE game_id = %s AND seq < %s", other, 7)
    assert checkpointer.run() == 1
    (leaf,) = leaves_upto(services.database, 5, 4, 10)
    assert leaf.game == fine
    assert log_lines.getvalue().count("head_refused") == 3


def test_the_latest_is_put_right_after_a_crash(services: Services, tmp_path: Path) -> None:
    checkpointer = Checkpointer(services, tmp_path)
    new_game(services.database)
    checkpointer.run()
    early = (tmp_path / "latest.txt").read_text()
    new_game(services.database)
    checkpointer.run()
    newest = (tmp_path / "latest.txt").read_text()
    for broken in (early, None):
        if broken is None:
            (tmp_path / "latest.txt").unlink()
        else:
            (tmp_path / "latest.txt").write_text(broken)
        checkpointer.run()
        assert (tmp_path / "latest.txt").read_text() == newest
    with pytest.raises(NotPublished, match="can't be written"):
        refresh_latest(tmp_path, 99)


def test_the_worker_outlives_whatever_stands_in_the_tables(
    services: Services, tmp_path: Path, log_lines: Any
) -> None:
    class Broken(Checkpointer):
        def run(self) -> int:
            raise KeyError

    worker = Worker(services, Broken(services, tmp_path), 10)
    worker.work()
    assert "checkpoint_failed" in log_lines.getvalue()
