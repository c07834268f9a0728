"""The Python client against a real server, over connections that break."""

import json
import random
import socket
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from threading import Thread
from typing import Any

import httpx
import pytest
from faults.servers import gunicorn

from fairdeal_client import (
    Fairdeal,
    Forbidden,
    IllegalMove,
    Invalid,
    NotFound,
    NotYourTurn,
    Problem,
    Retrying,
    TooManyRequests,
    Unauthenticated,
    VersionConflict,
)
from service.log.events import GENESIS, broken_link, parse_event
from service.play.noticing import Dispatcher
from service.play.services import Services
from service.store.embedded import Urls

CLIENTS: list[Fairdeal] = []
HASTY = Retrying(patience=20, least=0.01, most=0.05)


@pytest.fixture(scope="module")
def server(urls: Urls) -> Iterator[int]:
    with gunicorn(urls.service) as (port, _):
        yield port


@pytest.fixture(autouse=True)
def _closed() -> Iterator[None]:
    yield
    while CLIENTS:
        CLIENTS.pop().close()


def client_of(*arguments: Any, **options: Any) -> Fairdeal:
    CLIENTS.append(Fairdeal(*arguments, **options))
    return CLIENTS[-1]


class Cutter:
    """A way to the server on which connections break after some bytes, half of the answers too."""

    def __init__(self, target: int, chance: random.Random, cuts: int) -> None:
        self.target, self.chance, self.left = target, chance, cuts
        self.ends: list[socket.socket] = []
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        self.listener.close()
        for end in self.ends:
            end.close()

    def _accept(self) -> None:
        while True:
            try:
                near, _ = self.listener.accept()
            except OSError:
                return
            far = socket.create_connection(("127.0.0.1", self.target))
            self.ends += [near, far]
            limit = 10**9
            if self.left > 0:
                self.left -= 1
                limit = self.chance.randint(0, 4000)
            Thread(target=self._pump, args=(near, far, 10**9), daemon=True).start()
            Thread(target=self._pump, args=(far, near, limit), daemon=True).start()

    def _pump(self, source: socket.socket, sink: socket.socket, limit: int) -> None:
        try:
            while limit > 0 and (data := source.recv(min(2048, limit))):
                sink.sendall(data)
                limit -= len(data)
        except OSError:
            pass
        for end in (source, sink):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                continue


@contextmanager
def cutter(target: int, seed: int, cuts: int) -> Iterator[Cutter]:
    made = Cutter(target, random.Random(seed), cuts)
    yield made
    made.close()


def url(port: int) -> str:
    return f"http://127.0.0.1:{port}"


def players(port: int, through: int, count: int = 3) -> list[Fairdeal]:
    made = []
    for number in range(count):
        registered = Fairdeal.register(url(port), f"Player {number}")
        made.append(client_of(url(through), registered.token, retrying=HASTY))
        made[-1].player = registered.player
        registered.close()
    return made


def play(people: list[Fairdeal], game: str, chance: random.Random) -> None:
    while (seat := people[0].view(game)["to_act"]) is not None:
        view = people[seat - 1].view(game)
        people[seat - 1].move(game, chance.choice(view["legal_moves"]), version=view["version"])


def test_a_game_is_played_and_followed_over_connections_that_break(server: int) -> None:
    with cutter(server, 7, cuts=120) as cut:
        people = players(server, cut.port)
        game = people[0].open_game("jokers-go-boom", 3, options={"rounds": 2})["view"]["game"]
        with ThreadPoolExecutor(1) as pool:
            following = pool.submit(lambda: list(people[1].events(game)))
            for person in people[1:]:
                person.sit(game, contribution="mine")
            play(people, game, random.Random(3))
            events = following.result(60)
        assert cut.left == 0
        lines = people[0].export(game).splitlines()[1:-1]
    chain = [parse_event(line) for line in lines]
    prev = GENESIS
    for seq, event in enumerate(chain, 1):
        assert broken_link(event, seq, prev) is None
        prev = event.hash
    assert [{k: v for k, v in event.items() if k != "private"} for event in events] == [
        json.loads(line) for line in lines
    ]
    moves = [event for event in chain if event.type == "move"]
    assert len({event.seq for event in moves}) == len(moves)


def test_refusals_are_typed(server: int) -> None:
    people = players(server, server)
    stranger = client_of(url(server), "fd_pk_nobody")
    game = people[0].open_game("jokers-go-boom", 3)["view"]["game"]
    people[1].sit(game)
    people[2].sit(game)
    seat = people[0].view(game)["to_act"] or 1
    mover, other = people[seat - 1], people[seat % 3]
    version = mover.view(game)["version"]
    with pytest.raises(IllegalMove) as illegal:
        mover.move(game, {"type": "pass"}, version=version)
    assert illegal.value.rule.startswith("G")
    assert illegal.value.legal_moves == mover.view(game)["legal_moves"]
    assert (illegal.value.move_index, illegal.value.status) == (0, 422)
    with pytest.raises(NotYourTurn) as early:
        other.move(game, {"type": "draw"}, version=version)
    assert early.value.to_act == seat
    with pytest.raises(VersionConflict) as late:
        mover.move(game, illegal.value.legal_moves[0], version=2)
    assert late.value.current_version == version
    assert late.value.missed_events[0]["seq"] == 3
    with pytest.raises(Invalid) as invalid:
        mover.open_game("jokers-go-boom", 3, colour="red")
    assert invalid.value.errors[0]["pointer"] == "/colour"
    with pytest.raises(Forbidden):
        mover.view(game, seat=str(seat % 3 + 1))
    with pytest.raises(NotFound) as missing:
        mover.view("0" * 26)
    assert missing.value.code == "game_not_found"
    with pytest.raises(Unauthenticated):
        stranger.resign(game)
    in_latvian = client_of(url(server), mover.token, language="lv")
    with pytest.raises(NotFound) as told:
        in_latvian.view("0" * 26)
    assert told.value.detail != missing.value.detail


def test_whatever_a_client_may_call_is_called(server: int, services: Services) -> None:
    dispatcher = Dispatcher(services)
    people = players(server, server)
    game = people[0].open_game("jokers-go-boom", 3, options={"rounds": 1}, visibility="private")[
        "view"
    ]["game"]
    people[0].invite(game, player=people[1].player)
    people[1].sit(game, seat=2)
    people[2].sit(game, invitation=people[0].invite(game)["token"])
    play(people, game, random.Random(5))
    assert people[2].view(game, seat="all")["seats"][0].get("hand") is not None
    again = people[2].rematch(game)["view"]
    assert again["rematch_of"] == game
    assert people[0].sit(again["game"], contribution="x")["seat"] == 1
    while dispatcher.run():
        pass
    types = []
    with closing(people[1].notices()) as notices:
        for notice in notices:
            types.append(notice["type"])
            if notice["type"] == "game.rematch":
                break
    assert types[0] == "game.invitation"
    assert "game.ended" in types
    with people[0] as person:
        seated = person.open_game("jokers-go-boom", 3, bots=[{"seat": 2}, {"seat": 3}])
        started = person.contribute(seated["view"]["game"], 1)
        assert started["view"]["status"] == "active"
        assert person.resign(seated["view"]["game"])["seat"] == 1
        assert person.ask("DELETE", f"/players/me/keys/{key_of(person)}") is None


def key_of(person: Fairdeal) -> str:
    return str(person.ask("GET", "/players/me/keys")["items"][0]["id"])


Handler = Callable[[httpx.Request], httpx.Response]


def scripted(*answers: Any) -> tuple[Fairdeal, list[httpx.Request], list[float]]:
    """A client whose requests are answered by a script, and how long it rested between them."""
    requests: list[httpx.Request] = []
    rests: list[float] = []
    script = iter(answers)

    def handle(request: httpx.Request) -> httpx.Response:
        requests.append(request)
        answer = next(script)
        if isinstance(answer, Exception):
            raise answer
        return answer

    transport = httpx.MockTransport(handle)
    client = client_of("http://x", "t", transport=transport, retrying=HASTY, sleep=rests.append)
    return client, requests, rests


def test_a_retry_is_the_same_request_and_waits_as_it_is_asked_to() -> None:
    client, requests, rests = scripted(
        httpx.ReadTimeout("lost"),
        httpx.Response(503, headers={"Retry-After": "3"}),
        httpx.Response(429, headers={"Retry-After": "2"}, json={"code": "too_many_requests"}),
        httpx.Response(201, json={"version": 5}),
    )
    assert client.move("g", {"type": "draw"}) == {"version": 5}
    keys = {request.headers["Idempotency-Key"] for request in requests}
    assert len(keys) == 1
    assert len({request.content for request in requests}) == 1
    assert rests[0] < 1
    assert rests[1:] == [3.0, 2.0]


def test_what_may_not_be_sent_twice_is_not() -> None:
    client, requests, _ = scripted(httpx.ReadTimeout("lost"))
    with pytest.raises(httpx.ReadTimeout):
        client.ask("POST", "/players", {"name": "x"}, key=None)
    assert len(requests) == 1
    client, requests, _ = scripted(httpx.ConnectError("away"), httpx.Response(201, json={}))
    assert client.ask("POST", "/players", {"name": "x"}, key=None) == {}
    client, _, _ = scripted(httpx.Response(503))
    with pytest.raises(Problem):
        client.ask("POST", "/players", {"name": "x"}, key=None)


def test_a_service_that_stays_away_is_given_up() -> None:
    gone = Retrying(patience=-1)
    for fault in (httpx.ConnectError("away"), httpx.ReadTimeout("lost")):
        transport = httpx.MockTransport(lambda _, fault=fault: (_ for _ in ()).throw(fault))
        client = client_of("http://x", transport=transport, retrying=gone)
        with pytest.raises(httpx.TransportError):
            client.view("g")
        with pytest.raises(httpx.TransportError):
            list(client.events("g"))
    transport = httpx.MockTransport(lambda _: httpx.Response(429, text="<html>"))
    client = client_of("http://x", transport=transport, retrying=gone)
    with pytest.raises(TooManyRequests) as told:
        client.view("g")
    assert (told.value.code, told.value.detail, told.value.errors) == ("", "", [])


def test_a_stream_resumes_after_what_was_taken() -> None:
    client, requests, _ = scripted(
        httpx.Response(200, text='{"seq":1}\n\n{"seq":2}\n{"seq":3'),
        httpx.Response(503, headers={"Retry-After": "1"}),
        httpx.Response(200, text='{"seq":3}\n'),
        httpx.Response(204),
    )
    assert [event["seq"] for event in client.events("g")] == [1, 2, 3]
    assert [request.url.params["after"] for request in requests] == ["0", "2", "2", "3"]
    busy = httpx.MockTransport(lambda _: httpx.Response(503, headers={"Retry-After": "3600"}))
    for patience in (-1, 60):
        rests: list[float] = []
        client = client_of(
            "http://x", transport=busy, retrying=Retrying(patience=patience), sleep=rests.append
        )
        for ask in (lambda c=client: list(c.events("g")), lambda c=client: c.view("g")):
            with pytest.raises(Problem) as told:
                ask()
            assert told.value.status == 503
        assert sum(rests) == 0
    client, _, _ = scripted(httpx.ReadTimeout("lost"), httpx.Response(404))
    assert client.ask("DELETE", "/webhooks/w") is None
    client, _, _ = scripted(httpx.Response(404, json={"code": "game_not_found"}))
    with pytest.raises(NotFound):
        list(client.events("g"))
    client, _, _ = scripted(httpx.Response(200, json=[]), httpx.Response(400, json=[]))
    assert client.ask("GET", "/x") == []
    with pytest.raises(Problem):
        client.ask("GET", "/x")
