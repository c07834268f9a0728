"""Who is there: said by each process of its own streams, over soon unless it is said again."""

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import pytest
from api.test_games import opened, started
from conftest import Person
from flask.testing import FlaskClient

from service.api.sources import EventSource, House
from service.play.presence import PRESENT_FOR, Present, say_present, who_is_present
from service.play.services import Services, utc_now
from service.play.streaming import Follower, Following, MustRead
from service.store.presence import drop_stale_presence


@pytest.fixture
def people(someone: Callable[..., Person]) -> list[Person]:
    return [someone(name) for name in ("Ilze", "Jānis", "Anna")]


def seats(client: FlaskClient, game: str) -> list[int]:
    found: list[int] = client.get(f"/games/{game}/presence").get_json()["seats"]
    return found


def test_each_process_speaks_for_its_own_streams(
    people: list[Person], services: Services, client: FlaskClient
) -> None:
    game = started(people)
    here, there = Present(process="here"), Present(process="there")
    one, two = (game, people[0].id), (game, people[1].id)
    assert seats(client, game) == []
    say_present(services, here, {one, two})
    say_present(services, there, {one})
    assert seats(client, game) == [1, 2]
    say_present(services, here, set())
    assert seats(client, game) == [1]
    later = replace(services, now=lambda: utc_now() + PRESENT_FOR + timedelta(seconds=1))
    assert who_is_present(later, [game]) == {game: frozenset()}
    say_present(later, there, {one})
    assert who_is_present(later, [game]) == {game: {people[0].id}}
    drop_stale_presence(services.database, later.now() + PRESENT_FOR)
    assert seats(client, game) == []


def test_a_crashed_process_is_not_there_for_long(
    people: list[Person], services: Services, client: FlaskClient
) -> None:
    game = started(people)
    say_present(services, Present(process="crashed"), {(game, people[0].id)})
    assert seats(client, game) == [1]
    later = replace(services, now=lambda: utc_now() + PRESENT_FOR)
    assert who_is_present(later, [game]) == {game: frozenset()}


def parts(source: EventSource) -> str:
    found = b""
    while True:
        try:
            part = source.ready()
        except MustRead:
            source.read()
            continue
        if part is None:
            return found.decode()
        found += part


def test_an_event_stream_tells_when_somebody_comes_or_goes(
    people: list[Person], services: Services
) -> None:
    game = started(people)
    version = people[0].view(game)["version"]

    def source(person: Person | None, media: str) -> EventSource:
        follower = Follower(player=person.id if person else None)
        following = Following(services, follower, game, version)
        return EventSource(following, media, "", following.close)

    house = House(services)
    watching = source(None, "text/event-stream")
    playing = source(people[1], "text/event-stream")
    lines = source(people[0], "application/x-ndjson")
    assert parts(watching) == parts(playing) == parts(lines) == ""
    house.keep_up([watching, playing, lines])
    said = 'event: presence\ndata: {"seats":[1,2]}\n\n'
    assert parts(watching) == parts(playing) == said
    assert parts(watching) == parts(lines) == ""
    lines.close()
    house.keep_up([watching, playing])
    assert parts(watching) == said.replace("1,2", "2")
    for one in (watching, playing):
        one.close()


def test_who_only_looks_on_is_not_told_of(people: list[Person], services: Services) -> None:
    game = opened(people[0])["game"]
    following = Following(services, Follower(player=people[2].id), game, 0)
    source = EventSource(following, "text/event-stream", "", following.close)
    parts(source)
    House(services).keep_up([source])
    assert json.loads(parts(source).split("data: ")[1]) == {"seats": []}
    source.close()
