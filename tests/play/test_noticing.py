"""What players are told of their games: once, in order, and never a card."""

import json
import random
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from api.test_games import code, mover, opened, started
from conftest import Person, fresh_key
from flask.testing import FlaskClient
from play_through import play_on

from service.api.notices import NoticeSource
from service.api.sources import House
from service.play import noticing
from service.play.clocks import run_out
from service.play.mailbox import NOTICES_KEPT, Mailing
from service.play.noticing import TYPES, Dispatcher
from service.play.seating import SeatRequest, take_seat
from service.play.services import Services, utc_now
from service.play.streaming import Follower, MustRead
from service.store.notices import drop_old_notices

PATH = "/players/me/events"
NDJSON = {"Accept": "application/x-ndjson"}
EVENT_STREAM = {"Accept": "text/event-stream"}


@pytest.fixture
def people(someone: Callable[..., Person]) -> list[Person]:
    return [someone(name) for name in ("Ilze", "Jānis", "Anna")]


@pytest.fixture
def tell(services: Services) -> Callable[[], int]:
    """Tells all that there is to tell."""
    dispatcher = Dispatcher(services)

    def run() -> int:
        total = 0
        while count := dispatcher.run():
            total += count
        return total

    run()
    return run


def told(person: Person, cursor: str | None = None) -> list[Any]:
    query = "?limit=200" + (f"&cursor={cursor}" if cursor else "")
    items: list[Any] = person.get(PATH + query).get_json()["items"]
    return items


def kinds(person: Person) -> list[str]:
    return [item["type"].removeprefix("game.") for item in told(person)]


def test_players_are_told_of_the_start_of_their_turns_and_of_the_end(
    people: list[Person], services: Services, tell: Callable[[], int]
) -> None:
    game = started(people, options={"rounds": 1}, turn_seconds=600)
    tell()
    view = people[0].view(game)
    first = view["to_act"]
    for seat, person in enumerate(people, 1):
        assert kinds(person) == (["started", "turn"] if seat == first else ["started"])
    turn = told(people[first - 1])[-1]
    assert turn["data"] == {
        "game": game,
        "seq": view["version"],
        "deadline_at": people[0].view(game)["deadline_at"],
    }
    assert tell() == 0
    turns = {seat: int(seat == first) for seat in (1, 2, 3)}
    for _ in range(6):
        before = people[0].view(game)["to_act"]
        turning = mover(people, game)
        turning.move(game, turning.view(game)["legal_moves"][0])
        tell()
        after = people[0].view(game)["to_act"]
        turns[after] += after != before
    for seat, person in enumerate(people, 1):
        assert kinds(person).count("turn") == turns[seat]
    last = play_on(services, people, game, random.Random(1))
    tell()
    for person in people:
        end = told(person)[-1]
        assert (end["type"], end["data"]) == (
            "game.ended",
            {"game": game, "seq": end["data"]["seq"], "reason": "finished"},
        )
        assert end["data"]["seq"] <= last["version"]
        assert kinds(person).count("started") == kinds(person).count("ended") == 1


def test_a_turn_of_several_moves_is_told_once_and_one_that_is_over_never(
    people: list[Person], tell: Callable[[], int]
) -> None:
    game = started(people, ruleset="crazy-rummy")
    turning = mover(people, game)
    tell()
    assert kinds(turning).count("turn") == 1
    turning.move(game, {"type": "draw", "from": "stock"})
    tell()
    assert kinds(turning).count("turn") == 1
    discards = [m for m in turning.view(game)["legal_moves"] if m["type"] == "discard"]
    turning.move(game, discards[0])
    skipped = mover(people, game)
    skipped.move(game, {"type": "draw", "from": "stock"})
    discards = [m for m in skipped.view(game)["legal_moves"] if m["type"] == "discard"]
    skipped.move(game, discards[0])
    tell()
    assert kinds(skipped).count("turn") == 0
    assert kinds(mover(people, game)).count("turn") == 1


def test_who_lost_a_seat_is_told(
    people: list[Person], services: Services, tell: Callable[[], int]
) -> None:
    game = started(people, turn_seconds=5)
    for person in people:
        ahead = 0
        while "seat_lost" not in kinds(person):
            ahead += 1
            later = replace(services, now=lambda n=ahead: utc_now() + timedelta(hours=n))  # type: ignore[misc]
            run_out(later, game)
            tell()
            assert ahead < 60
    assert told(people[2])[-1]["data"]["game"] == game
    lost = next(item for item in told(people[1]) if item["type"] == "game.seat_lost")
    assert lost["data"]["seat"] == 2


def test_who_is_invited_by_name_is_told_and_sits_down_without_the_token(
    people: list[Person], tell: Callable[[], int]
) -> None:
    game = opened(people[0], visibility="private")["game"]
    asked = {"player": people[1].id, "expires_in": 600}
    made = people[0].post(f"/games/{game}/invitations", asked).get_json()
    tell()
    notice = told(people[1])[-1]
    assert notice["type"] == "game.invitation"
    assert notice["data"] == {
        "game": game,
        "invitation": made["id"],
        "from": people[0].id,
        "expires_at": made["expires_at"],
    }
    waits = [one["game"] for one in snapshot(people[1])["invitations"]]
    assert waits == [game]
    assert code(people[2].post(f"/games/{game}/seats")) == (404, "game_not_found")
    assert people[1].post(f"/games/{game}/seats").status_code == 201
    assert snapshot(people[1])["invitations"] == []
    unknown = people[0].post(f"/games/{game}/invitations", {"player": "0" * 26})
    assert (code(unknown), unknown.get_json()["errors"][0]["pointer"]) == (
        (422, "validation_failed"),
        "/player",
    )
    revoked = people[0].post(f"/games/{game}/invitations", {"player": people[2].id}).get_json()
    people[0].delete(f"/games/{game}/invitations/{revoked['id']}")
    assert code(people[2].post(f"/games/{game}/seats")) == (404, "game_not_found")


def snapshot(person: Person) -> Any:
    """The snapshot that an event stream begins with."""
    answer = person.get(PATH, headers=EVENT_STREAM, buffered=False)
    first = next(iter(answer.response)).decode()
    answer.close()
    _, block, _ = first.split("\n\n")
    fields = dict(line.split(": ", 1) for line in block.split("\n"))
    assert fields["event"] == "snapshot"
    return json.loads(fields["data"])


def test_a_snapshot_has_the_turns_that_wait(people: list[Person]) -> None:
    games = [started(people) for _ in range(2)]
    turns = {person.id: snapshot(person)["turns"] for person in people}
    for game in games:
        waits = mover(people, game).id
        for person in people:
            found = [turn for turn in turns[person.id] if turn["game"] == game]
            assert len(found) == (person.id == waits)


def test_players_are_told_of_a_rematch_that_another_asked_for(
    people: list[Person], services: Services, tell: Callable[[], int]
) -> None:
    game = started(people, options={"rounds": 1})
    play_on(services, people, game, random.Random(3))
    rematch = people[1].post(f"/games/{game}/rematch").get_json()["view"]["game"]
    tell()
    for seat, person in enumerate(people, 1):
        notices = [item["data"] for item in told(person) if item["type"] == "game.rematch"]
        own = {"game": rematch, "seq": 1, "of": game, "seat": seat}
        assert notices == ([] if seat == 2 else [own])


def test_two_dispatchers_tell_nothing_twice(people: list[Person], services: Services) -> None:
    dispatchers = [Dispatcher(services) for _ in range(4)]
    games = [started(people) for _ in range(3)]
    with ThreadPoolExecutor(4) as pool:
        for _ in range(6):
            list(pool.map(lambda dispatcher: dispatcher.run(), dispatchers))
    for person in people:
        mine = [item["data"]["game"] for item in told(person) if item["type"] == "game.started"]
        assert sorted(mine) == sorted(games)


def test_a_dispatcher_that_starts_anew_tells_nothing_again(
    people: list[Person], services: Services, tell: Callable[[], int]
) -> None:
    started(people)
    tell()
    before = [told(person) for person in people]
    assert Dispatcher(services).run() == 0
    assert [told(person) for person in people] == before


def test_notices_are_read_from_any_cursor_once_each(
    people: list[Person], services: Services, tell: Callable[[], int]
) -> None:
    game = started(people, options={"rounds": 1})
    play_on(services, people, game, random.Random(5))
    for _ in range(3):
        started(people)
        tell()
    whole = told(people[0])
    assert len(whole) >= 4
    cursor, read = None, []
    while True:
        page = people[0].get(f"{PATH}?limit=2" + (f"&cursor={cursor}" if cursor else "")).get_json()
        read += page["items"]
        cursor = page["next_cursor"]
        if not page["more"]:
            break
    assert read == whole
    assert told(people[0], whole[1]["cursor"]) == whole[2:]
    assert told(people[0], cursor) == []
    assert {item["type"] for item in whole} <= set(TYPES)


def test_a_long_poll_for_notices_waits_for_one(
    people: list[Person], services: Services, tell: Callable[[], int]
) -> None:
    cursor = people[0].get(PATH).get_json()["next_cursor"]
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(people[0].get, f"{PATH}?cursor={cursor}&wait=20")
        while people[0].id not in services.feed.followed():
            pass
        started(people)
        tell()
        page = waiting.result(10).get_json()
    assert page["items"][0]["type"] == "game.started"
    assert people[0].get(f"{PATH}?cursor={page['next_cursor']}&wait=0").get_json()["items"] == []
    assert services.feed.followed() == {}


def test_streams_of_notices_resume_and_end_with_their_key(
    people: list[Person], services: Services, tell: Callable[[], int]
) -> None:
    made = people[0].post("/players/me/keys", {"label": "tab", "scopes": ["read"]}).get_json()
    mailing = Mailing(services, Follower(player=people[0].id, key=made["id"]), people[0].id, 0)
    lines = NoticeSource(mailing, "application/x-ndjson", "", mailing.close)

    def read() -> list[Any]:
        found = b""
        while True:
            try:
                part = lines.ready()
            except MustRead:
                lines.read()
                continue
            if part is None:
                return [json.loads(line) for line in found.splitlines()]
            found += part

    assert read() == []
    games = []
    for _ in range(2):
        games.append(started(people))
        tell()
        assert games[-1] in [item["data"]["game"] for item in read()]
    whole = told(people[0])
    resumed = people[0].get(
        PATH, headers={**EVENT_STREAM, "Last-Event-ID": whole[0]["cursor"]}, buffered=False
    )
    parts = iter(resumed.response)
    text = b"".join(next(parts) for _ in range(2)).decode()
    resumed.close()
    assert text.startswith("retry: 3000\n\n")
    assert [block.split("data: ")[1] for block in text.split("\n\n")[1:-1]] == [
        json.dumps(item, separators=(",", ":")) for item in whole[1:]
    ]
    people[0].delete(f"/players/me/keys/{made['id']}")
    House(services).keep_up([lines])
    assert lines.is_over
    lines.close()


def test_notices_are_their_players_own(people: list[Person], client: FlaskClient) -> None:
    assert code(client.get(PATH)) == (401, "unauthenticated")
    game = started(people)
    of_game = people[0].post(f"/games/{game}/stream-tickets").get_json()["ticket"]
    own = people[0].post("/players/me/stream-tickets").get_json()["ticket"]
    assert code(client.get(f"{PATH}?ticket={of_game}")) == (401, "unauthenticated")
    assert code(client.get(f"/games/{game}/events?ticket={own}")) == (401, "unauthenticated")
    assert client.get(f"{PATH}?ticket={own}").status_code == 200
    assert code(client.get(f"{PATH}?ticket={own}")) == (401, "unauthenticated")
    key = fresh_key()
    assert people[0].post("/players/me/stream-tickets", headers=key).status_code == 201
    again = people[0].post("/players/me/stream-tickets", headers=key)
    assert code(again) == (409, "secret_already_shown")


@pytest.mark.parametrize("cursor", ["x", "!", "MDEyYQ", "OTk5OTk5OTk5OTk5"])
def test_a_cursor_that_nobody_gave_is_refused(ilze: Person, cursor: str) -> None:
    assert code(ilze.get(f"{PATH}?cursor={cursor}")) == (400, "invalid_query")
    headers = {**EVENT_STREAM, "Last-Event-ID": cursor}
    assert code(ilze.get(PATH, headers=headers)) == (400, "invalid_query")


def test_old_notices_are_dropped_and_their_numbers_are_not_given_again(
    people: list[Person], services: Services, tell: Callable[[], int]
) -> None:
    started(people)
    tell()
    cursor = told(people[0])[-1]["cursor"]
    drop_old_notices(services.database, services.now() + NOTICES_KEPT)
    assert told(people[0]) == []
    game = started(people)
    tell()
    assert told(people[0], cursor)[0]["data"]["game"] == game


def test_what_others_do_out_of_turn_begins_no_turn(
    people: list[Person], tell: Callable[[], int]
) -> None:
    game = started(people)
    turning = mover(people, game)
    tell()
    other = next(person for person in people if person is not turning)
    other.post(f"/games/{game}/resignation")
    tell()
    assert kinds(turning).count("turn") == 1


def test_a_game_that_can_not_be_read_keeps_no_other_from_being_told(
    people: list[Person], tell: Callable[[], int], monkeypatch: pytest.MonkeyPatch
) -> None:
    broken, whole = started(people), started(people)
    real = noticing.parse_event

    def parse(line: str) -> Any:
        if broken in line:
            raise ValueError(line)
        return real(line)

    monkeypatch.setattr(noticing, "parse_event", parse)
    tell()
    games = {item["data"]["game"] for item in told(people[0])}
    assert games == {whole}
    assert tell() == 0


def test_a_server_with_a_wrong_clock_is_caught_up_with(
    people: list[Person], services: Services
) -> None:
    slow = replace(services, now=lambda: utc_now() - timedelta(minutes=10))
    game = opened(people[0])["game"]
    for person in people[1:]:
        take_seat(slow, person.id, game, lambda: SeatRequest(None, ""), None)
    fresh = Dispatcher(services)
    while fresh.run():
        pass
    assert "started" in kinds(people[0])
