"""Workflows that nobody thought of: chains of generated requests, several players at once."""

from typing import Any

import pytest
import schemathesis
from conftest import Person, fresh_key, register
from flask import Flask
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule
from schemathesis.checks import not_a_server_error
from schemathesis.config import SchemathesisConfig
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from service.app import create_app
from service.log.events import parse_event
from service.play.services import Services
from service.proof.outside import Evidence
from service.proof.verdicts import Outcome
from service.proof.verify import verify

pytestmark = pytest.mark.filterwarnings("default")

BRIEF = settings(
    max_examples=12,
    stateful_step_count=30,
    deadline=None,
    derandomize=True,
    database=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]


def test_chains_of_generated_requests_find_nothing(
    shared_services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What one operation answers is what the next one asks about: games, keys, webhooks."""
    monkeypatch.setattr("service.api.sources.LongPoll._is_time", lambda _: True)
    app = create_app(shared_services)
    person = register(app.test_client())
    schema = schemathesis.openapi.from_wsgi("/openapi.json", app, config=SchemathesisConfig())
    machine = schema.as_state_machine()
    calls: list[str] = []

    class Workflow(machine):  # type: ignore[misc, valid-type]
        def get_call_kwargs(self, case: Any) -> Any:
            calls.append(case.operation.label)
            return {"headers": person.headers}

        def validate_response(self, response: Any, case: Any, **_: Any) -> None:
            case.validate_response(response, checks=CHECKS)

    Workflow.run(settings=BRIEF)
    assert len(set(calls)) > 10, calls


class Table(RuleBasedStateMachine):
    """Three players and a stranger over one game, doing what they may and what they may not."""

    services: Services
    app: Flask

    def __init__(self) -> None:
        super().__init__()
        client = self.app.test_client()
        self.people: list[Person] = [register(client, name) for name in ("Ilze", "Anna", "Zane")]
        self.stranger = register(client, "Laima")
        self.game = ""
        self.version = 0
        self.receipts: dict[int, str] = {}
        self.last: tuple[Person, str, Any, Any, Any] | None = None

    @initialize(ruleset=st.sampled_from(["jokers-go-boom", "crazy-rummy"]))
    def open(self, ruleset: str) -> None:
        opening = {"ruleset": ruleset, "seats": 3, "options": {"rounds": 1}}
        answer = self.people[0].post("/games", opening)
        assert answer.status_code == 201
        self.game = answer.get_json()["view"]["game"]
        for person in self.people[1:]:
            assert person.post(f"/games/{self.game}/seats").status_code == 201
        self.see()

    def see(self) -> None:
        """Nobody sees another's hand, and the game goes forward only."""
        for person in (*self.people, self.stranger):
            view = person.view(self.game)
            assert view["version"] >= self.version
            hands = [seat["seat"] for seat in view["seats"] if "hand" in seat]
            own = [
                seat["seat"]
                for seat in view["seats"]
                if (seat["player"] or {}).get("id") == person.id
            ]
            is_over = view["status"] in ("finished", "voided")
            assert hands == ([seat["seat"] for seat in view["seats"]] if is_over else own)
            assert bool(view["legal_moves"]) == (view["to_act"] in own)
        self.version, self.status = view["version"], view["status"]

    def written(self, person: Person, path: str, body: Any, key: Any) -> Any:
        answer = person.post(path, body, headers=key)
        assert answer.status_code < 500
        if answer.status_code == 201:
            self.last = (person, path, body, key, answer)
            receipt = answer.get_json().get("receipt")
            if receipt:
                assert self.receipts.setdefault(receipt["seq"], receipt["hash"]) == receipt["hash"]
        self.see()
        return answer

    @precondition(lambda self: self.status == "active")
    @rule(choice=st.integers(0, 50))
    def move(self, choice: int) -> None:
        person = next((p for p in self.people if p.view(self.game)["legal_moves"]), None)
        if person is None:  # a bot plays on for who resigned, when the worker comes
            return
        view = person.view(self.game)
        moves = view["legal_moves"]
        body = {"move": moves[choice % len(moves)], "expected_version": view["version"]}
        answer = self.written(person, f"/games/{self.game}/moves", body, fresh_key())
        assert answer.status_code == 201

    @rule(who=st.integers(0, 3), move=st.sampled_from(["pass", "draw", "discard", "play", "?"]))
    def move_anything(self, who: int, move: str) -> None:
        person = (*self.people, self.stranger)[who]
        body = {"move": {"type": move, "card": "4h", "from": "stock"}}
        before = self.version
        answer = self.written(person, f"/games/{self.game}/moves", body, fresh_key())
        assert answer.status_code in (201, 403, 409, 422)
        assert answer.status_code == 201 or self.version == before

    @precondition(lambda self: self.last is not None)
    @rule()
    def ask_again(self) -> None:
        assert self.last is not None
        person, path, body, key, first = self.last
        before = self.version
        answer = person.post(path, body, headers=key)
        assert answer.status_code == 201, answer.get_json()
        assert answer.headers["Idempotent-Replayed"] == "true"
        assert answer.get_json()["receipt"] == first.get_json()["receipt"]
        self.see()
        assert self.version == before

    @precondition(lambda self: self.last is not None)
    @rule()
    def ask_something_else_with_the_same_key(self) -> None:
        assert self.last is not None
        person, path, body, key, _ = self.last
        before = self.version
        answer = person.post(path, {**body, "seat": 3} if "move" in body else {"x": 1}, headers=key)
        assert answer.status_code in (409, 422)
        self.see()
        assert self.version == before

    @rule(who=st.integers(0, 2), back=st.integers(1, 5))
    def move_at_an_old_version(self, who: int, back: int) -> None:
        body = {"move": {"type": "pass"}, "expected_version": max(0, self.version - back)}
        before = self.version
        answer = self.people[who].post(f"/games/{self.game}/moves", body)
        assert answer.status_code in (409, 422)
        self.see()
        assert self.version == before

    @rule(who=st.integers(0, 3), at=st.integers(0, 80))
    def look_back(self, who: int, at: int) -> None:
        person = (*self.people, self.stranger)[who]
        answer = person.get(f"/games/{self.game}?at={at}")
        assert answer.status_code == (200 if 1 <= at <= self.version else 404 if at else 400)

    @rule(who=st.integers(0, 2), reason=st.sampled_from(["rules", "clock"]))
    def dispute(self, who: int, reason: str) -> None:
        body = {"reason": reason, "seqs": [self.version], "statement": "So it was."}
        answer = self.people[who].post(f"/games/{self.game}/disputes", body, headers=fresh_key())
        assert answer.status_code in (201, 409, 422, 429)
        self.see()

    @precondition(lambda self: self.status == "active" and self.version > 30)
    @rule(who=st.integers(0, 2))
    def resign(self, who: int) -> None:
        path = f"/games/{self.game}/resignation"
        answer = self.written(self.people[who], path, {}, fresh_key())
        assert answer.status_code in (201, 403, 409)

    def teardown(self) -> None:
        """What is exported verifies, and holds every receipt that was given."""
        if not self.game:
            return
        text = self.stranger.get(f"/games/{self.game}/export").get_data(as_text=True)
        events = [parse_event(line) for line in text.splitlines()[1:-1]]
        hashes = {event.seq: event.hash for event in events}
        assert {seq: hashes[seq] for seq in self.receipts} == self.receipts
        report = verify(text, Evidence(keys=self.services.database.keyring.public_keys()))
        assert report.outcome in (Outcome.VERIFIED, Outcome.INCOMPLETE), report.failure


def test_several_players_do_what_they_may_and_what_they_may_not(
    app: Flask, services: Services
) -> None:
    Table.app, Table.services = app, services
    machine: Any = Table.TestCase
    machine.settings = BRIEF
    machine().runTest()
