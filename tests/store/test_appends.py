"""The append against a real Postgres: once, in order, or not at all."""

import random
import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any
from uuid import uuid4

import psycopg
import pytest
from chains import first_break
from signing import KEYRING

from service.cards import Seat
from service.fairness import SealedDealer
from service.log import steps
from service.log.events import Actor
from service.log.game import Game, Occupant, Secret
from service.log.replay import resume
from service.log.steps import Frame, Opening
from service.play.services import Services, new_ulid
from service.rules.registry import find
from service.store.appends import KeyBound, RequestKey, append, create_game
from service.store.database import Database, StoreUnavailable, connect, is_ready
from service.store.embedded import Urls
from service.store.reads import load, read_events, read_tail
from service.store.schema import head_revision, migrate
from service.store.secret_box import SealedSecret, SecretBox

AT = "2026-12-01T10:15:30.123Z"
WHO = Actor(kind="player", id="01j00000000000000000000001")


@pytest.fixture
def database(services: Services) -> Database:
    return services.database


def new_game(database: Database, key: RequestKey | None = None, **options: Any) -> Game:
    """A stored game at its first turn."""
    rules = find("jokers-go-boom")
    opening = Opening(ruleset=rules, options=rules.options(**options), seats=3, visibility="public")
    secret = Secret(random.randbytes(32), SealedDealer.of)
    frames = [steps.write(steps.create(new_ulid(), opening, secret, WHO, AT), None, AT)]
    for number in (1, 2, 3):
        who = Occupant(kind="human", player=f"01j{number:023d}")
        sits = steps.take_seat(
            frames[-1].after, Seat(number), who, Actor(kind="player", id=who.player)
        )
        frames.append(then(frames, sits))
    frames.append(then(frames, steps.start(frames[-1].after)))
    frames += steps.consequences(frames[-1].after, AT)
    create_game(database, frames, key)
    return frames[-1].after


def then(frames: Sequence[Frame], step: steps.Step) -> Frame:
    return steps.write(step, frames[-1].after, AT)


def any_turn(game: Game, at: str = AT) -> list[Frame]:
    assert game.round is not None
    move = game.ruleset.legal_moves(game.round.state)[0]
    frame = steps.write(steps.play(game, move, WHO), game, at)
    return [frame, *steps.consequences(frame.after, at)]


def a_key(**changed: Any) -> RequestKey:
    key = RequestKey(player="p", route="makeMoves", key=uuid4().hex, fingerprint=b"f" * 32)
    return replace(key, **changed)


def test_what_was_appended_is_read_back(database: Database) -> None:
    game = new_game(database)
    frames = any_turn(game)
    assert append(database, frames)
    stored = read_events(database, game.id, 0)
    assert [event.seq for event in stored] == list(range(1, frames[-1].event.seq + 1))
    assert stored[-1] == frames[-1].event
    assert first_break(stored) is None


def test_the_head_moves_only_from_the_expected_version(database: Database) -> None:
    game = new_game(database)
    frames = any_turn(game)
    assert append(database, frames)
    assert not append(database, frames)
    assert not append(database, any_turn(game))
    assert len(read_events(database, game.id, 0)) == frames[-1].event.seq


def test_the_head_moves_only_from_the_expected_hash(database: Database) -> None:
    game = new_game(database)
    forked = replace(game, head="0" * 64)
    assert not append(database, any_turn(forked))
    assert len(read_events(database, game.id, 0)) == game.version


def test_a_game_that_is_not_there_is_not_appended_to(database: Database) -> None:
    game = new_game(database)
    elsewhere = replace(game, setup=replace(game.setup, id=new_ulid()))
    assert not append(database, any_turn(elsewhere))


def test_a_new_game_is_created_not_appended(database: Database) -> None:
    game = new_game(database)
    frames = any_turn(game)
    with pytest.raises(ValueError, match="created"):
        append(database, [replace(frames[0], before=None)])


def test_a_key_is_bound_to_its_events_in_the_same_statement(database: Database) -> None:
    game, key = new_game(database), a_key()
    frames = any_turn(game)
    assert append(database, frames, key)
    tail = read_tail(database, game.id, game.version, key)
    assert tail is not None
    assert tail.binding is not None
    assert (tail.binding.first_seq, tail.binding.last_seq) == (
        game.version + 1,
        frames[-1].event.seq,
    )
    assert tail.binding.fingerprint == key.fingerprint
    other = read_tail(database, game.id, game.version, a_key())
    assert other is not None
    assert other.binding is None


def test_a_bound_key_lets_nothing_be_written(database: Database) -> None:
    game, key = new_game(database), a_key()
    frames = any_turn(game)
    assert append(database, frames, key)
    with pytest.raises(KeyBound):
        append(database, any_turn(frames[-1].after), key)
    assert len(read_events(database, game.id, 0)) == frames[-1].event.seq


def test_a_lost_race_binds_no_key(database: Database) -> None:
    game, key = new_game(database), a_key()
    assert append(database, any_turn(game))
    assert not append(database, any_turn(game), key)
    tail = read_tail(database, game.id, 0, key)
    assert tail is not None
    assert tail.binding is None


def test_a_creation_key_makes_one_game(database: Database) -> None:
    key = a_key(route="openGame")
    new_game(database, key)
    with pytest.raises(KeyBound):
        new_game(database, key)


@pytest.mark.parametrize("round_", range(5))
def test_of_sixteen_appends_at_one_version_exactly_one_is_written(
    database: Database, round_: int
) -> None:
    game = new_game(database)
    tries = [any_turn(game, f"2026-12-01T10:15:{round_ + n:02d}.000Z") for n in range(16)]
    with ThreadPoolExecutor(16) as pool:
        receipts = list(pool.map(lambda frames: append(database, frames), tries))
    assert len([receipt for receipt in receipts if receipt is not None]) == 1
    assert first_break(read_events(database, game.id, 0)) is None


@pytest.mark.parametrize("_round", range(5))
def test_of_sixteen_appends_with_one_key_exactly_one_is_written(
    database: Database, _round: int
) -> None:
    game, key = new_game(database), a_key()
    frames = any_turn(game)

    def attempt(_: int) -> str:
        try:
            return "written" if append(database, frames, key) else "lost"
        except KeyBound:
            return "bound"

    with ThreadPoolExecutor(16) as pool:
        outcomes = Counter(pool.map(attempt, range(16)))
    assert outcomes["written"] == 1
    assert len(read_events(database, game.id, 0)) == frames[-1].event.seq


def test_a_game_is_loaded_as_it_stood_at_any_version(database: Database) -> None:
    game = new_game(database)
    frames = []
    while game.round is not None and (len(frames) < 60 or game.round.number < 2):
        turn = any_turn(game)
        assert append(database, turn)
        frames += turn
        game = turn[-1].after
    for frame in frames:
        stored = load(database, game.id, at=frame.event.seq)
        assert stored is not None
        secret, events = stored
        assert resume(events, secret) == frame.after
    stored = load(database, game.id)
    assert stored is not None
    assert resume(stored[1], stored[0]) == game
    assert len(stored[1]) < game.version


def test_a_game_that_is_not_there_is_not_loaded(database: Database) -> None:
    assert load(database, new_ulid()) is None
    assert read_tail(database, new_ulid(), 0) is None


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE events SET body = body || ' ' WHERE game_id = %(game)s",
        "DELETE FROM events WHERE game_id = %(game)s",
        "TRUNCATE events",
        "UPDATE game_secrets SET secret = '' WHERE game_id = %(game)s",
        "DELETE FROM game_secrets WHERE game_id = %(game)s",
        "TRUNCATE game_secrets",
        "DELETE FROM games WHERE id = %(game)s",
        "TRUNCATE games",
    ],
)
def test_nobody_rewrites_the_log_not_even_its_owner(
    urls: Urls, database: Database, statement: str
) -> None:
    game = new_game(database)
    parameters = {"game": game.id} if "%(" in statement else None
    for url in (urls.owner, urls.service):
        with (
            psycopg.connect(url, autocommit=True) as connection,
            pytest.raises(psycopg.errors.InsufficientPrivilege),
        ):
            connection.execute(statement, parameters)  # type: ignore[arg-type]
    assert len(read_events(database, game.id, 0)) == game.version


def test_the_services_role_owns_nothing(urls: Urls) -> None:
    with psycopg.connect(urls.service, autocommit=True) as connection:
        for statement in (
            "ALTER TABLE events DISABLE TRIGGER ALL",
            "DROP TABLE events",
            "CREATE TABLE mine ()",
            "SET session_replication_role = replica",
        ):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute(statement)  # type: ignore[arg-type]


def test_a_secret_is_sealed_where_there_is_a_key(urls: Urls, owner: psycopg.Connection) -> None:
    sealed = connect(urls.service, SecretBox(b"k" * 32), KEYRING, pool_size=2)
    game = new_game(sealed)
    stored = owner.execute(
        "SELECT secret, sealed_with FROM game_secrets WHERE game_id = %s", [game.id]
    )
    row: Any = stored.fetchone()
    assert game.setup.secret.value not in row[0]
    assert row[1] == sealed.box.key_id
    opened = load(sealed, game.id)
    assert opened is not None
    assert opened[0].value == game.setup.secret.value
    for box in (SecretBox(), SecretBox(b"other key, of 32 bytes as well!!")):
        with pytest.raises(SealedSecret):
            load(Database(sealed.engine, box, KEYRING), game.id)
    sealed.engine.dispose()


def test_a_sealed_secret_belongs_to_its_game() -> None:
    box = SecretBox(b"k" * 32)
    with pytest.raises(SealedSecret):
        box.open(box.seal(b"secret", "one"), box.key_id, "other")
    assert "k" * 32 not in repr(box)


def test_a_database_that_is_away_is_said_to_be(tmp_path: Any) -> None:
    away = connect(f"postgresql://x@/x?host={tmp_path}", SecretBox(), KEYRING, pool_size=1)
    with pytest.raises(StoreUnavailable):
        load(away, new_ulid())
    with pytest.raises(StoreUnavailable):
        is_ready(away, head_revision())


def test_a_database_is_ready_at_the_revision_of_the_release(database: Database) -> None:
    assert is_ready(database, head_revision())
    assert not is_ready(database, "9999")


def test_a_turn_of_people_updates_the_head_without_touching_an_index(
    another_database: Callable[[], Urls],
) -> None:
    urls = another_database()
    migrate(urls.owner)
    database = connect(urls.service, SecretBox(), KEYRING, pool_size=1)
    game = new_game(database)
    moves = 0
    while moves < 20:
        turn = any_turn(game)
        assert append(database, turn)
        game, moves = turn[-1].after, moves + 1
    database.engine.dispose()
    with psycopg.connect(urls.owner, autocommit=True) as owner:
        for _ in range(100):
            row: Any = owner.execute(
                "SELECT n_tup_upd, n_tup_hot_upd FROM pg_stat_user_tables WHERE relname = 'games'"
            ).fetchone()
            if row[0] == moves:
                break
            time.sleep(0.05)
    assert row == (moves, moves)


def test_the_milestones_of_a_long_game_are_found_by_their_index(
    database: Database, owner: psycopg.Connection
) -> None:
    game = new_game(database)
    plan = owner.execute(
        "EXPLAIN SELECT max(seq) FROM events "
        "WHERE game_id = %s AND type <> 'move' AND type = 'round_started' AND seq <= 40",
        [game.id],
    ).fetchall()
    assert "Index" in str(plan)
    assert "Seq Scan" not in str(plan)
