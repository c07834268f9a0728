"""No byte that leaves the service depends on a card that its reader may not see.

Two worlds, each with a database of its own, differ in hidden cards alone: the
clock, the ids, the tokens and the secret are the same. The same requests are
sent to both, and every answer to one seat, to a bystander and to nobody, its
headers, its refusals, and the log of the process, are byte for byte the same.
"""

import hashlib
import io
import json
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from uuid import UUID

import pytest
import structlog
from conftest import services_at
from flask.testing import FlaskClient
from play_through import any_deck
from rules.conformance.cases import Case, cases, twins_unseen_with_moves

from service.api.operation import NDJSON
from service.app import create_app
from service.canonical import JsonMap, canonical_bytes
from service.cards import Card, Seat, card_text
from service.play.admins import ADMIN_SCOPES
from service.play.checkpointing import Checkpointer
from service.play.noticing import Dispatcher
from service.play.services import Services
from service.play.tokens import ADMIN_PREFIX, digest, make_token
from service.store.admins import AdminKey, add_admin_key, owner_engine
from service.store.embedded import Urls
from service.store.schema import migrate

SEEDS = range(6)


@dataclass(frozen=True)
class RiggedDealer:
    """Deals the deck it is given; its seal tells nothing, or, planted, everything."""

    cards: Sequence[Card]
    seals: Callable[[JsonMap], str]

    def cut(self, pack: Sequence[Card]) -> tuple[Card, ...]:
        return tuple(pack)

    def deck(self, pack: Sequence[Card], _round: int, _deal: int) -> tuple[Card, ...]:
        return tuple(card for card in self.cards if card in pack)

    def seal(self, state: JsonMap) -> str:
        return self.seals(state)


def silent(_state: JsonMap) -> str:
    return "0" * 64


def telling(state: JsonMap) -> str:
    """The leak that the key of `state_mac` prevents: a plain hash of all the cards."""
    return hashlib.sha256(canonical_bytes(state)).hexdigest()


@dataclass
class World:
    """A service of its own, everything about it fixed but the cards."""

    client: FlaskClient
    services: Services
    log: io.StringIO
    tokens: list[str] = field(default_factory=list)
    players: list[str] = field(default_factory=list)
    admin: str = ""
    hooks: list[str] = field(default_factory=list)
    seen: list[Any] = field(default_factory=list)

    def call(self, who: int | None, method: str, path: str, body: Any = None, key: str = "") -> Any:
        headers = {} if who is None else {"Authorization": f"Bearer {self.tokens[who]}"}
        if key:
            headers["Idempotency-Key"] = key
        sent = {} if body is None else {"json": body}
        return self.client.open(path, method=method, headers=headers, **sent)

    def look(
        self, who: int | None, method: str, path: str, body: Any = None, key: str = ""
    ) -> None:
        """Call, and keep every byte of the answer."""
        answer = self.call(who, method, path, body, key)
        self.seen.append((method, path, answer.status, list(answer.headers), answer.data))


def make_world(
    urls: Urls, cards: Sequence[Card], seals: Callable[[JsonMap], str], description: Any
) -> World:
    ticks, ids, requests, tokens = count(), count(), count(), count()
    begin = datetime(2026, 12, 1, 10, 15, 30, tzinfo=UTC)
    services = services_at(
        urls.service,
        now=lambda: begin + timedelta(milliseconds=next(ticks)),
        new_id=lambda: f"01j{next(ids):023d}",
        new_request_id=lambda: UUID(int=next(requests)),
        draw_secret=lambda: b"s" * 32,
        draw_token=lambda: next(tokens).to_bytes(32, "big"),
        dealer=lambda _secret, _game, _contributions: RiggedDealer(cards, seals),
    )
    log = io.StringIO()
    structlog.configure(
        processors=[structlog.processors.JSONRenderer()],
        logger_factory=structlog.WriteLoggerFactory(file=log),
        cache_logger_on_first_use=False,
    )
    app = create_app(services)
    app.test_client_class = description.checking_client()
    OPEN.append(services)
    world = World(app.test_client(), services, log)
    world.admin = make_token(b"a" * 32, ADMIN_PREFIX)
    engine = owner_engine(urls.owner)
    key = AdminKey(id="0" * 26, name="R", scopes=ADMIN_SCOPES, players=[], created_at=begin)
    add_admin_key(engine, key, digest(world.admin))
    engine.dispose()
    return world


def live(world: World, case: Case, moves: Sequence[Any], seat: int) -> None:
    """Play the moves; on the way, look at everything that the seat and a bystander can look at."""
    for number in range(case.seats + 1):
        made = world.call(None, "POST", "/players", {"name": f"Player {number}"}).get_json()
        world.tokens.append(made["key"]["token"])
        world.players.append(made["player"]["id"])
        hook = world.call(number, "POST", "/webhooks", {"url": "https://cards.example/"})
        world.hooks.append(hook.get_json()["id"])
    bystander, opening = (
        case.seats,
        {
            "ruleset": case.ruleset.name,
            "seats": case.seats,
            "options": case.ruleset.write_options(case.ruleset.complete(case.options, case.seats)),
        },
    )
    game = world.call(0, "POST", "/games", opening).get_json()["view"]["game"]
    for who in range(1, case.seats):
        world.call(who, "POST", f"/games/{game}/seats", {})
    for index, move in enumerate(moves):
        view = world.call(seat - 1, "GET", f"/games/{game}").get_json()
        mover = view["to_act"] - 1
        answer = world.call(mover, "POST", f"/games/{game}/moves", {"move": move}, f"k{index}")
        assert answer.status_code == 201, answer.text
        if mover == seat - 1:
            world.look(mover, "POST", f"/games/{game}/moves", {"move": move}, f"k{index}")
        for who in (seat - 1, bystander, None):
            world.look(who, "GET", f"/games/{game}")
    look_everywhere(world, case, game, seat)
    look_at_what_is_told(world, game, (seat - 1, bystander, None), seat - 1)
    look_at_disputes(world, game, (seat - 1, bystander, None), seat - 1)


def look_everywhere(world: World, case: Case, game: str, seat: int) -> None:
    path, me, bystander = f"/games/{game}", seat - 1, case.seats
    present = world.call(me, "GET", path).get_json()
    version, head = present["version"], present["head"]
    look_at_proofs(world, path, head, (me, bystander, None))
    for who in (me, bystander, None):
        for query in ("", "/events", "/events?limit=200", "/replay", f"/replay?seat={seat}"):
            world.look(who, "GET", path + query)
        for at in range(1, version + 1, 3):
            world.look(who, "GET", f"{path}?at={at}")
        for other in (*range(1, case.seats + 1), "all"):
            world.look(who, "GET", f"{path}?seat={other}")
        world.look(who, "GET", "/games")
    for index, move in enumerate(case.moves_anybody_could_try()):
        for who in (me, bystander):
            body: Mapping[str, Any] = {"move": move, "expected_version": version}
            if is_refused(world, case, game, move, me, who):
                world.look(who, "POST", f"{path}/moves", body, f"t{index}")
        stale = {"move": move, "expected_version": 2}
        world.look(me, "POST", f"{path}/moves", stale, f"s{index}")
    world.look(me, "POST", f"{path}/moves", {"moves": [{"type": "draw"}] * 2}, "b")
    world.look(me, "POST", f"{path}/moves", {"move": {"type": "no"}}, "n")


def look_at_what_is_told(world: World, game: str, eyes: Sequence[int | None], me: int) -> None:
    """Notices, deliveries to webhooks, invitations, presence, a snapshot: of these all bytes."""
    dispatcher = Dispatcher(world.services)
    while dispatcher.run():
        pass
    for who in eyes:
        world.look(who, "GET", f"/games/{game}/presence")
        stream(world, who, f"/games/{game}/events")
        if who is None:
            continue
        world.look(who, "GET", "/players/me/events?limit=200")
        stream(world, who, "/players/me/events")
        world.look(who, "GET", f"/webhooks/{world.hooks[who]}/deliveries?limit=200")
        world.look(who, "POST", f"/games/{game}/rematch", {}, "again")
        world.look(who, "POST", f"/games/{game}/stream-tickets", {})
    world.look(me, "POST", f"/games/{game}/invitations", {"player": world.players[-1]}, "inv")


def stream(world: World, who: int | None, path: str) -> None:
    """What an event stream begins with, up to where it would wait."""
    headers = {} if who is None else {"Authorization": f"Bearer {world.tokens[who]}"}
    headers["Accept"] = "text/event-stream"
    answer = world.client.get(path, headers=headers, buffered=False)
    parts = iter(answer.response)
    world.seen.append((path, list(answer.headers), next(parts)))
    answer.close()


def look_at_disputes(world: World, game: str, eyes: Sequence[int | None], me: int) -> None:
    """A dispute, its ruling and what follows: the deal that is shuffled anew stays hidden."""
    asked = {"reason": "rules", "seqs": [2], "statement": "x"}
    filed = world.call(me, "POST", f"/games/{game}/disputes", asked, "dispute")
    assert filed.status_code == 201, filed.text
    dispute = filed.get_json()["dispute"]["id"]
    present = world.call(None, "GET", f"/games/{game}").get_json()
    first = max(
        event["seq"] for event in events_of(world, game) if event["type"] == "round_started"
    )
    remedies = [{"kind": "rewind", "to": first}] if present["status"] == "active" else []
    ruling = {"outcome": "upheld", "remedies": remedies, "public_reason": "x"}
    for dry in (True, False):
        answer = world.client.post(
            f"/admin/disputes/{dispute}/rulings",
            json={**ruling, "dry_run": dry},
            headers={"Authorization": f"Bearer {world.admin}", "Idempotency-Key": "r"},
        )
        assert answer.status_code in (200, 201), answer.text
        world.seen.append(answer.data)
    for who in eyes:
        for path in ("", "/events?limit=200", "/replay", "/export"):
            world.look(who, "GET", f"/games/{game}{path}")
        if who is not None:
            world.look(who, "GET", f"/disputes/{dispute}")
    timeline = world.client.get(
        f"/admin/games/{game}/timeline?limit=200",
        headers={"Authorization": f"Bearer {world.admin}"},
    )
    world.seen.append(timeline.data)


def events_of(world: World, game: str) -> list[Any]:
    found: list[Any] = world.call(None, "GET", f"/games/{game}/events?limit=200").get_json()[
        "items"
    ]
    return found


def look_at_proofs(world: World, path: str, head: str, eyes: Sequence[int | None]) -> None:
    """Before a checkpoint holds the game, and after: what is signed hides as much."""
    for _ in range(2):
        for who in eyes:
            for part in ("/fairness", "/export", f"/exports/{head}", f"/replays/{head}"):
                world.look(who, "GET", path + part)
        export = world.call(None, "GET", f"{path}/export").data
        world.seen.append(world.client.post("/verify", data=export, content_type=NDJSON).data)
        with TemporaryDirectory() as folder:
            assert Checkpointer(world.services, Path(folder)).run() in (0, 1)
    for part in (
        "/keys",
        "/checkpoints/latest",
        "/checkpoints/1",
        "/checkpoints/1/consistency?from=1",
    ):
        world.look(None, "GET", part)


def is_refused(world: World, case: Case, game: str, move: Any, me: int, who: int) -> bool:
    """Whether the move would change nothing, by what the seat itself is told."""
    if who != me:
        return True
    view = world.call(me, "GET", f"/games/{game}").get_json()
    return view["to_act"] != me + 1 or not case.may_be_accepted(view, move)


def log_of(world: World) -> list[Any]:
    lines = [json.loads(line) for line in world.log.getvalue().splitlines()]
    for line in lines:
        line.pop("ms", None)
    return lines


def pairs(case: Case) -> Iterator[tuple[Sequence[Card], Sequence[Card], list[Any], Seat]]:
    for seed in SEEDS:
        chance = random.Random(seed)
        seat = Seat(chance.randint(1, case.seats))
        deck = any_deck(case.ruleset, case.options, chance)
        found = list(twins_unseen_with_moves(case, deck, seat, chance))
        if found:
            one, other, moves = found[-1]
            yield one, other, [case.ruleset.write_move(move) for move in moves], seat


OPEN: list[Services] = []


@pytest.fixture(autouse=True)
def _left_as_found() -> Iterator[None]:
    before = structlog.get_config()
    yield
    structlog.configure(**before)
    while OPEN:
        OPEN.pop().database.engine.dispose()


@pytest.mark.parametrize("case", cases(), ids=str)
def test_every_byte_is_the_same_whatever_the_hidden_cards(
    case: Case, another_database: Callable[[], Urls], description: Any
) -> None:
    compared = 0
    for one, other, moves, seat in list(pairs(case))[:1]:
        assert one != other
        worlds = []
        for cards in (one, other):
            urls = another_database()
            migrate(urls.owner)
            world = make_world(urls, cards, silent, description)
            live(world, case, moves, seat)
            worlds.append(world)
        for first, second in zip(worlds[0].seen, worlds[1].seen, strict=True):
            assert first == second
            compared += 1
        assert log_of(worlds[0]) == log_of(worlds[1])
        assert len(log_of(worlds[0])) > compared
    assert compared > 100


def test_a_leak_that_is_planted_is_caught(
    another_database: Callable[[], Urls], description: Any
) -> None:
    """Sealed with a plain hash, the very same comparison fails."""
    case = cases()[0]
    one, other, moves, seat = next(pairs(case))
    seen = []
    for cards in (one, other):
        urls = another_database()
        migrate(urls.owner)
        world = make_world(urls, cards, telling, description)
        live(world, case, moves, seat)
        seen.append(world.seen)
    assert seen[0] != seen[1]


def test_the_log_of_the_process_holds_no_card_no_secret_and_no_token(
    another_database: Callable[[], Urls], description: Any
) -> None:
    case = cases()[0]
    one, _, moves, seat = next(pairs(case))
    urls = another_database()
    migrate(urls.owner)
    world = make_world(urls, one, silent, description)
    live(world, case, moves, seat)
    world.call(0, "GET", "/games", None)
    text = world.log.getvalue()
    assert len(text.splitlines()) > 100
    assert (b"s" * 32).hex() not in text
    for token in world.tokens:
        assert token not in text
        assert token[6:] not in text
    for card in one:
        assert f'"{card_text(card)}"' not in text
