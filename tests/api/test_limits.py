"""How often somebody may ask: by which policy, counted by whom, and what the answer says of it."""

from dataclasses import replace
from typing import Any

import pytest
from api.test_games import code
from conftest import Person, register
from flask.testing import FlaskClient
from hypothesis import given
from hypothesis import strategies as st

from service.app import create_app, make_services
from service.play.limits import (
    CREATION,
    FAILED_AUTHENTICATION,
    MOVES,
    POLICIES,
    READS,
    STREAMS,
    WRITES,
    Limiter,
    Policy,
)
from service.play.refusals import TooManyRequests
from service.play.services import Services
from service.settings import Settings
from service.store.embedded import Urls


class Stopwatch:
    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


SMALL = {name: Policy(name, 3, 60) for name in POLICIES} | {CREATION: Policy(CREATION, 30, 60)}


@pytest.fixture
def watch() -> Stopwatch:
    return Stopwatch()


@pytest.fixture
def limited(services: Services, watch: Stopwatch, description: Any) -> FlaskClient:
    app = create_app(replace(services, limiter=Limiter(watch, SMALL)))
    app.test_client_class = description.checking_client()
    return app.test_client()


@pytest.fixture
def person(limited: FlaskClient) -> Person:
    return register(limited)


def test_every_answer_says_what_is_left(person: Person, watch: Stopwatch) -> None:
    answers = [person.get("/players/me") for _ in range(3)]
    assert {answer.headers["RateLimit-Policy"] for answer in answers} == {'"reads";q=3;w=60'}
    left = [answer.headers["RateLimit"] for answer in answers]
    assert left == ['"reads";r=2;t=20', '"reads";r=1;t=40', '"reads";r=0;t=60']
    refused = person.get("/players/me")
    assert code(refused) == (429, "too_many_requests")
    assert refused.headers["Retry-After"] == "20"
    assert refused.get_json()["policy"] == "reads"
    watch.now += 19.5
    assert person.get("/players/me").headers.get("Retry-After") == "1"
    watch.now += 1
    assert person.get("/players/me").status_code == 200
    assert person.get("/players/me").status_code == 429


def test_policies_and_callers_are_counted_apart(
    person: Person, limited: FlaskClient, watch: Stopwatch
) -> None:
    other = register(limited, "Anna")
    for _ in range(3):
        assert person.get("/games").status_code == 200
    assert person.get("/games").status_code == 429
    assert other.get("/games").status_code == 200
    assert limited.get("/games").status_code == 200
    bots = [{"seat": 2}, {"seat": 3}]
    opening = {"ruleset": "jokers-go-boom", "seats": 3, "bots": bots}
    game = person.post("/games", opening).get_json()["view"]["game"]
    path = f"/games/{game}/seats/1/contribution"
    assert [person.put(path, {"contribution": "x"}).status_code for _ in range(4)][-1] == 429
    moves = [person.move(game, {"type": "draw"}).status_code for _ in range(4)]
    assert moves[-1] == 429
    assert 429 not in moves[:3]
    watch.now += 60
    headers = {"Accept": "application/x-ndjson"}
    for _ in range(2):
        watch.now += 21
        answer = person.get(f"/games/{game}/events", headers=headers, buffered=False)
        assert answer.status_code == 200
        answer.close()


def test_who_guesses_keys_is_slowed_down(limited: FlaskClient, watch: Stopwatch) -> None:
    bad = {"Authorization": "Bearer fd_pk_nonsense"}
    answers = [limited.get("/players/me", headers=bad).status_code for _ in range(4)]
    assert answers == [401, 401, 401, 429]
    watch.now += 20
    assert limited.get("/players/me", headers=bad).status_code == 401


def test_whoever_watches_over_the_process_is_not_counted(limited: FlaskClient) -> None:
    for _ in range(6):
        answer = limited.get("/livez")
        assert answer.status_code == 200
        assert "RateLimit" not in answer.headers
    assert [limited.get("/").status_code for _ in range(4)] == [200, 200, 200, 429]


def test_streams_are_counted_beside_reads(
    services: Services, watch: Stopwatch, description: Any
) -> None:
    policies = {**SMALL, READS: Policy(READS, 100, 60)}
    app = create_app(replace(services, limiter=Limiter(watch, policies)))
    app.test_client_class = description.checking_client()
    person = register(app.test_client())
    game = person.post("/games", {"ruleset": "jokers-go-boom", "seats": 3}).get_json()
    path = f"/games/{game['view']['game']}/events"
    found = []
    for _ in range(4):
        answer = person.get(path, headers={"Accept": "text/event-stream"}, buffered=False)
        found.append(answer.status_code)
        answer.close()
    assert found == [200, 200, 200, 429]
    assert answer.get_json()["policy"] == STREAMS


def test_the_standard_policies_leave_a_bot_its_pace() -> None:
    assert set(POLICIES) == {MOVES, READS, WRITES, CREATION, STREAMS, FAILED_AUTHENTICATION}
    assert POLICIES[MOVES].quota / POLICIES[MOVES].seconds >= 20


@given(st.lists(st.floats(0, 5), max_size=60), st.integers(1, 10), st.integers(1, 20))
def test_no_window_holds_more_than_twice_the_quota_and_patience_is_rewarded(
    pauses: list[float], quota: int, seconds: int
) -> None:
    watch = Stopwatch()
    limiter = Limiter(watch, {"p": Policy("p", quota, seconds)})
    taken: list[float] = []
    for pause in pauses:
        watch.now += pause
        try:
            standing = limiter.take("p", "me")
        except TooManyRequests as refused:
            watch.now += refused.retry_after
            standing = limiter.take("p", "me")
        taken.append(watch.now)
        assert 0 <= standing.remaining < quota
        within = [moment for moment in taken if moment > watch.now - seconds]
        assert len(within) <= 2 * quota


def test_limits_are_on_unless_they_are_switched_off(urls: Urls, tmp_path: Any) -> None:
    settings = Settings(home=tmp_path, database_url=urls.service)
    made = [make_services(settings), make_services(replace(settings, has_rate_limits=False))]
    assert [services.limiter is not None for services in made] == [True, False]
    for services in made:
        services.database.engine.dispose()


def test_without_limits_nothing_is_counted(client: FlaskClient) -> None:
    assert "RateLimit" not in client.get("/").headers
