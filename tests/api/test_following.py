"""What streams say, and to whom; how they hold under cuts and crowds is in tests/faults."""

import json
import random
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from threading import Thread
from typing import Any

import pytest
from api.test_games import code, mover, opened, started
from conftest import Person, fresh_key
from flask.testing import FlaskClient
from play_through import play_on

from service.api import handoff, sources
from service.api.sources import STREAMS_EACH, Streams
from service.log.projection import event_line
from service.log.viewer import SPECTATOR, everybody
from service.play import streaming, tickets
from service.play.feed import FRAMES_KEPT, Feed, Topic
from service.play.games import current_game, frames_of
from service.play.refusals import TooManyStreams, Unauthenticated
from service.play.services import Services, utc_now
from service.play.streaming import Batch, Follower, Following, MustRead
from service.store.database import StoreUnavailable
from service.store.wakeups import payloads, read_payload

NDJSON = {"Accept": "application/x-ndjson"}
EVENT_STREAM = {"Accept": "text/event-stream"}


@pytest.fixture
def people(someone: Callable[..., Person]) -> list[Person]:
    return [someone(name) for name in ("Ilze", "Jānis", "Anna")]


@pytest.fixture
def ended(people: list[Person], services: Services) -> str:
    game = started(people, options={"rounds": 1})
    play_on(services, people, game, random.Random(7))
    return game


def blocks(text: str) -> list[dict[str, str]]:
    """The events of an event stream, by field."""
    return [
        dict(line.split(": ", 1) for line in block.split("\n"))
        for block in text.removesuffix("\n\n").split("\n\n")
    ]


def test_the_three_representations_have_the_same_bytes(ended: str, people: list[Person]) -> None:
    path = f"/games/{ended}/events"
    for person in people:
        page = person.get(f"{path}?limit=200").text
        lines = person.get(path, headers=NDJSON).text.splitlines()
        sent = blocks(person.get(f"{path}?after=0", headers=EVENT_STREAM).text)
        assert sent[0] == {"retry": "3000"}
        assert sent[-1] == {"event": "end", "data": "{}"}
        events = sent[1:-1]
        assert [event["data"] for event in events] == lines
        assert f'"items":[{",".join(lines)}]' in page
        assert [event["id"] for event in events] == [str(n) for n in range(1, len(lines) + 1)]
        assert [event["event"] for event in events] == [json.loads(ln)["type"] for ln in lines]


def test_an_event_stream_begins_with_a_snapshot_of_what_the_viewer_sees(
    ended: str, people: list[Person]
) -> None:
    answer = people[0].get(f"/games/{ended}/events", headers=EVENT_STREAM)
    assert answer.mimetype == "text/event-stream"
    assert "no-store" in answer.headers["Cache-Control"]
    first, snapshot, end = blocks(answer.text)
    assert snapshot["event"] == "snapshot"
    view = json.loads(snapshot["data"])
    own = people[0].view(ended)
    assert view.pop("present") == []
    assert {**view, "server_time": ""} == {**own, "server_time": ""}
    assert snapshot["id"] == str(own["version"])
    assert (first, end["event"]) == ({"retry": "3000"}, "end")


def test_a_stream_resumes_and_ends_where_there_is_no_more(ended: str, client: FlaskClient) -> None:
    path = f"/games/{ended}/events"
    version = client.get(f"/games/{ended}").get_json()["version"]
    for headers in (NDJSON, EVENT_STREAM):
        rest = client.get(path, headers={**headers, "Last-Event-ID": str(version - 2)}).text
        assert rest.count('"seq":') == 2
        over = client.get(f"{path}?after=3", headers={**headers, "Last-Event-ID": str(version)})
        assert (over.status_code, over.data) == (204, b"")
        past = client.get(f"{path}?after={version + 1}", headers=headers)
        assert code(past) == (404, "version_not_found")
        for seen in ("x", "-1", "9" * 12):
            bad = client.get(path, headers={**headers, "Last-Event-ID": seen})
            assert code(bad) == (400, "invalid_query")
    assert client.head(path, headers=NDJSON).data == b""


def test_a_long_poll_answers_at_once_or_when_something_happens(
    people: list[Person], services: Services
) -> None:
    game = started(people)
    view = people[0].view(game)
    path = f"/games/{game}/events?after={view['version']}"
    assert people[0].get(f"{path}&wait=0").get_json()["items"] == []
    assert people[0].get(f"{path}&wait=1").get_json()["items"] == []
    found: list[Any] = []
    waiting = Thread(target=lambda: found.append(people[0].get(f"{path}&wait=20").get_json()))
    waiting.start()
    while not services.feed.followed():
        pass
    turn = mover(people, game)
    turn.move(game, turn.view(game)["legal_moves"][0])
    waiting.join(10)
    assert [event["seq"] for event in found[0]["items"]] == [view["version"] + 1]
    early = people[0].get(f"/games/{game}/events?after=1&wait=30&limit=1").get_json()
    assert [event["seq"] for event in early["items"]] == [2]
    for wait in ("31", "-1", "x"):
        assert code(people[0].get(f"{path}&wait={wait}")) == (400, "invalid_query")


def test_a_long_poll_of_an_ended_game_waits_for_nothing(ended: str, client: FlaskClient) -> None:
    version = client.get(f"/games/{ended}").get_json()["version"]
    page = client.get(f"/games/{ended}/events?after={version}&wait=30").get_json()
    assert (page["items"], page["more"]) == ([], False)


def test_signs_of_life_come_when_nothing_happens(
    people: list[Person], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        sources, "QUIET_SECONDS", {"application/x-ndjson": 0.01, "text/event-stream": 0.01}
    )
    game = opened(people[0])["game"]
    for headers, sign in ((NDJSON, b"\n"), (EVENT_STREAM, b": hb\n\n")):
        answer = people[0].get(f"/games/{game}/events?after=2", headers=headers, buffered=False)
        parts = iter(answer.response)
        found = b"".join(next(parts) for _ in range(3))
        assert found.endswith(sign)
        answer.close()


def batches(following: Following) -> Iterator[Batch]:
    """What the follower gets, as long as there is something."""
    while True:
        try:
            batch = following.ready()
        except MustRead:
            following.read()
            continue
        if batch is not None:
            yield batch
        if following.is_over:
            return
        if batch is None:
            following.wait(0.05)


def lines(following: Following, count: int) -> list[str]:
    """The next so many lines."""
    found: list[str] = []
    for batch in batches(following):
        found += [line for _, _, line in batch.lines()]
        if len(found) >= count:
            break
    return found


def test_a_follower_sees_each_event_once_as_their_own_seat_does(
    people: list[Person], services: Services
) -> None:
    game = started(people)
    seat_one = Following(services, Follower(player=people[0].id), game, 0)
    nobody = Following(services, Follower(), game, 3)
    version = people[0].view(game)["version"]
    seen, public = lines(seat_one, version), lines(nobody, version - 3)
    for _ in range(4):
        turn = mover(people, game)
        turn.move(game, turn.view(game)["legal_moves"][0])
        seen += lines(seat_one, 1)
        public += lines(nobody, 1)
    page = people[0].get(f"/games/{game}/events?limit=200").text
    assert f'"items":[{",".join(seen)}]' in page
    assert "private" not in "".join(public)
    assert len(public) == len(seen) - 3
    assert list(services.feed.followed()) == [game]
    seat_one.close()
    nobody.close()
    assert services.feed.followed() == {}


def test_a_backlog_is_read_in_parts(
    people: list[Person], services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streaming, "EVENTS_AT_ONCE", 7)
    game = started(people, options={"rounds": 1})
    play_on(services, people, game, random.Random(3))
    following = Following(services, Follower(), game, 0)
    got = list(batches(following))
    following.close()
    assert {len(batch.frames) for batch in got[:-1]} == {7}
    assert [batch.is_end for batch in got] == [False] * (len(got) - 1) + [True]
    present = current_game(services, game, None)
    texts = [event_line(f, _all(present)) for f in frames_of(services, present, 1, present.version)]
    assert [line for batch in got for _, _, line in batch.lines()] == texts


def _all(present: Any) -> Any:
    return everybody(present, SPECTATOR)


def test_a_database_that_is_away_is_waited_for(
    people: list[Person], services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streaming, "TROUBLE_SECONDS", 0.01)
    game = started(people)
    real, faults = streaming.catch_up, iter([1, 1, 1])

    def flaky(*arguments: Any) -> Any:
        if next(faults, None):
            raise StoreUnavailable
        return real(*arguments)

    monkeypatch.setattr(streaming, "catch_up", flaky)
    following = Following(services, Follower(), game, 0)
    assert len(lines(following, 6)) == 6
    following.close()


def test_who_may_not_see_a_game_any_more_sees_no_more_of_it(
    ilze: Person, services: Services
) -> None:
    bots = [{"seat": 2}, {"seat": 3}]
    game = opened(ilze, bots=bots, visibility="private")["game"]
    following = Following(services, Follower(), game, 0)
    assert list(batches(following)) == []
    following.close()
    assert code(ilze.client.get(f"/games/{game}/events", headers=NDJSON)) == (404, "game_not_found")


def test_a_ticket_is_its_holders_eyes_once(
    people: list[Person], services: Services, client: FlaskClient, monkeypatch: Any
) -> None:
    game = started(people, options={"rounds": 1})
    play_on(services, people, game, random.Random(2))
    path = f"/games/{game}/stream-tickets"

    def ticket() -> str:
        token: str = people[0].post(path).get_json()["ticket"]
        return token

    used = ticket()
    answer = client.get(f"/games/{game}/events?ticket={used}", headers=NDJSON)
    assert answer.text == people[0].get(f"/games/{game}/events", headers=NDJSON).text
    other = started(people)
    kept = ticket()
    early = client.get(f"/games/{game}/events?ticket={kept}&after=9999", headers=NDJSON)
    assert code(early) == (404, "version_not_found")
    assert client.get(f"/games/{game}/events?ticket={kept}", headers=NDJSON).text == answer.text
    with pytest.raises(Unauthenticated):
        tickets.use_ticket(services, kept)
    for token, at in ((used, game), (ticket(), other), ("fd_st_x", game), (ticket()[:-1], game)):
        answer = client.get(f"/games/{at}/events?ticket={token}", headers=NDJSON)
        assert code(answer) == (401, "unauthenticated")
    monkeypatch.setattr(tickets, "TICKET_LIVES", -tickets.TICKET_LIVES)
    late = client.get(f"/games/{game}/events?ticket={ticket()}", headers=NDJSON)
    assert code(late) == (401, "unauthenticated")
    assert code(people[0].post("/games/" + "0" * 26 + "/stream-tickets")) == (404, "game_not_found")


def test_a_ticket_is_shown_once(people: list[Person]) -> None:
    game, other = started(people), started(people)
    key = fresh_key()
    assert people[0].post(f"/games/{game}/stream-tickets", headers=key).status_code == 201
    again = people[0].post(f"/games/{game}/stream-tickets", headers=key)
    assert code(again) == (409, "secret_already_shown")
    assert people[0].post(f"/games/{other}/stream-tickets", headers=key).status_code == 201


def test_a_stream_ends_with_its_key(people: list[Person], services: Services) -> None:
    game = started(people)
    made = people[0].post("/players/me/keys", {"label": "tab", "scopes": ["read"]}).get_json()
    with_key = {"Authorization": f"Bearer {made['token']}"}
    token = people[0].post(f"/games/{game}/stream-tickets", headers=with_key).get_json()["ticket"]
    holder = tickets.holder_of_ticket(services, token, game)
    assert holder == Follower(player=people[0].id, key=made["id"])
    following = Following(services, holder, game, 0)
    version = people[0].view(game)["version"]
    assert len(lines(following, version)) == version
    people[0].delete(f"/players/me/keys/{made['id']}")
    turn = mover(people, game)
    turn.move(game, turn.view(game)["legal_moves"][0])
    assert list(batches(following)) == []
    following.close()


def test_a_quiet_stream_ends_with_its_key_too(people: list[Person], services: Services) -> None:
    game = started(people)
    made = people[0].post("/players/me/keys", {"label": "tab", "scopes": ["read"]}).get_json()
    holders = [Follower(player=people[0].id, key=made["id"]), Follower()]
    quiet = [
        sources.EventSource(Following(services, holder, game, 6), "application/x-ndjson", "", bool)
        for holder in holders
    ]
    sources.House(services).keep_up(quiet)
    assert not any(source.is_over for source in quiet)
    people[0].delete(f"/players/me/keys/{made['id']}")
    sources.House(services).keep_up(quiet)
    assert [source.is_over for source in quiet] == [True, False]
    for source in quiet:
        source.following.close()


def test_streams_are_counted_by_who_holds_them() -> None:
    places = Streams()
    leaves = [places.enter("one") for _ in range(STREAMS_EACH)]
    with pytest.raises(TooManyStreams):
        places.enter("one")
    places.enter("two")
    leaves[0]()
    leaves[0]()
    again = places.enter("one")
    with pytest.raises(TooManyStreams):
        places.enter("one")
    for leave in (*leaves, again):
        leave()
    assert [places.enter("one") for _ in range(STREAMS_EACH)]


@contextmanager
def following(feed: Feed, game: str) -> Iterator[Topic]:
    yield feed.join(game)
    feed.leave(game)


def test_the_feed_keeps_the_newest_events_of_followed_games(
    people: list[Person], services: Services
) -> None:
    game = started(people, options={"rounds": 20})
    present = current_game(services, game, None)
    frames = list(frames_of(services, present, 1, present.version))
    feed = Feed()
    feed.moved(game, frames)
    with following(feed, game) as topic:
        assert topic.frames(0, 6) is None
        feed.moved(game, frames[:3])
        feed.read(game, frames[2:4])
        assert topic.frames(1, 4) == frames[1:4]
        assert topic.frames(0, 6) is None
        assert topic.version == 3
        feed.read(game, frames[5:])
        assert topic.frames(5, 6) == frames[5:]
        assert topic.frames(4, 6) is None
        assert topic.wait(2, 0.01)
        assert not topic.wait(3, 0.01)
        feed.close()
        assert topic.is_closed
        assert not topic.wait(9, 10)
    with following(feed, game) as topic:
        assert topic.is_closed
    assert FRAMES_KEPT >= 200


def test_wake_ups_are_told_in_short_notifications() -> None:
    moved = {f"01j{number:023d}": number for number in range(600)}
    texts = list(payloads(moved))
    assert len(texts) > 1
    assert all(len(text) < 8_000 for text in texts)
    assert dict(pair for text in texts for pair in read_payload(text)) == moved
    assert list(payloads({})) == []
    assert list(read_payload("probe:ab,x,:,a:1:2")) == []


def test_a_long_poll_that_was_told_of_something_while_it_looked_looks_again() -> None:
    topic = Topic()
    topic.tell(7)
    pages = iter([None, "page"])
    poll = sources.LongPoll("g", topic, lambda _: next(pages), 6, 30, bool)
    with pytest.raises(MustRead):
        poll.ready()
    poll.read()
    assert poll.ready() is None
    topic.tell(8)
    with pytest.raises(MustRead):
        poll.ready()
    poll.read()
    assert (poll.ready(), poll.is_over) == (b"page", True)


def test_a_slow_database_ends_no_stream_whose_key_is_live(
    people: list[Person], services: Services
) -> None:
    game, minutes = started(people), iter(range(100))
    key = people[0].get("/players/me/keys").get_json()["items"][0]["id"]
    slow = replace(services, now=lambda: utc_now() + timedelta(seconds=30 * next(minutes)))
    follower = Follower(player=people[0].id, key=key)
    following = Following(services, follower, game, 6)
    source = sources.EventSource(following, "application/x-ndjson", "", following.close)
    sources.House(slow).keep_up([source])
    assert not source.is_over
    streaming.confirm(slow, follower)
    source.close()


class Stubborn:
    """Housekeeping that fails, every other time."""

    def __init__(self) -> None:
        self.asked = 0

    def is_behind(self, _topic: str) -> bool:
        self.asked += 1
        if self.asked % 2:
            raise ValueError(self.asked)
        return True

    def catch_up(self, _topics: Any) -> None:
        raise ValueError

    def keep_up(self, _streams: Any) -> None:
        raise ValueError


class Ticking:
    """A stream of one part each time that it is woken."""

    topic = "g"

    def __init__(self) -> None:
        self.parts: list[bytes] = [b"first"]
        self.is_over = False

    def ready(self) -> bytes | None:
        return self.parts.pop(0) if self.parts else None

    def read(self) -> None:
        raise NotImplementedError

    def wait(self) -> None:
        raise NotImplementedError

    def close(self) -> None:
        self.parts = []


def test_whatever_goes_wrong_with_one_stream_the_others_are_sent(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(handoff, "LOOK_SECONDS", 0.05)
    monkeypatch.setattr(handoff, "UPKEEP_SECONDS", 0.05)
    sender, stream = handoff.Sender(Stubborn()), Ticking()
    near, far = socket.socketpair()
    near.settimeout(0)
    far.settimeout(5)
    sender.add(handoff.Outgoing(near, b"head ", stream))
    got = b""
    for part in (b"second", b"third"):
        stream.parts.append(part)
        sender.wake("g")
        while not got.endswith(part):
            got += far.recv(100)
    stream.is_over = True
    sender.drain(5)
    assert got.startswith(b"head ")
    assert far.recv(100) == b""
    far.close()
