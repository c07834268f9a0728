"""Clients that send slowly, or nothing: whoever sends a whole request is answered meanwhile."""

import socket
import time
from collections.abc import Iterator

import pytest
from faults.caller import HTTP
from faults.servers import gunicorn

from service.store.embedded import Urls

CROWD = 80
HEAD = b"POST /players HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
WHOLE = HEAD + b'Content-Length: 12\r\n\r\n{"name":"a"}'
FIELDS_AT_MOST = 8190


@pytest.fixture(scope="module")
def port(urls: Urls) -> Iterator[int]:
    with gunicorn(urls.service, workers=1) as (running, _):
        yield running


def connected(port: int, sent: bytes = b"") -> socket.socket:
    connection = socket.create_connection(("127.0.0.1", port), timeout=20)
    connection.sendall(sent)
    return connection


def answer(connection: socket.socket) -> tuple[int, bytes]:
    """The next answer on the connection: its status, and what came with or after it."""
    got = b""
    while b"\r\n\r\n" not in got:
        part = connection.recv(65_536)
        if not part:
            break
        got += part
    top, _, rest = got.partition(b"\r\n\r\n")
    if b"ontent-" in top:
        length = int(top.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
        while len(rest) < length:
            rest += connection.recv(65_536)
        rest = rest[length:]
    return (int(top.split()[1]) if top else 0), rest


@pytest.mark.parametrize(
    "part",
    [
        b"",
        b"P",
        b"POST /players HTTP/1.1\r\nHost: x\r\nX-A",
        HEAD + b'Content-Length: 12\r\n\r\n{"na',
        HEAD + b"Content-Length: 60000\r\n\r\n" + b" " * 40_000,
        WHOLE + HEAD,
    ],
    ids=["nothing", "a-letter", "half-a-head", "half-a-body", "a-large-body", "the-next-head"],
)
def test_a_crowd_that_sends_slowly_keeps_nobody_waiting(port: int, part: bytes) -> None:
    crowd = [connected(port, part) for _ in range(CROWD)]
    time.sleep(0.5)
    slowest = 0.0
    for number in range(20):
        crowd[number].sendall(b"-")
        began = time.monotonic()
        assert HTTP.get(f"http://127.0.0.1:{port}/livez").status_code == 200
        slowest = max(slowest, time.monotonic() - began)
    for connection in crowd:
        connection.close()
    assert slowest < 5


def test_what_comes_byte_by_byte_is_answered(port: int) -> None:
    with connected(port) as connection:
        for number in range(len(WHOLE)):
            connection.sendall(WHOLE[number : number + 1])
        assert answer(connection) == (201, b"")
        connection.sendall(WHOLE)
        assert answer(connection) == (201, b"")


def test_several_requests_in_one_part_are_answered_in_order(port: int) -> None:
    with connected(port, WHOLE + WHOLE + WHOLE[:-5]) as connection:
        status, rest = answer(connection)
        assert status == 201
        if b"HTTP/1.1 201" not in rest:
            assert answer(connection)[0] == 201
        connection.sendall(WHOLE[-5:])
        assert answer(connection)[0] == 201


def test_who_waits_to_be_asked_for_the_body_is_asked(port: int) -> None:
    head, body = WHOLE.split(b"\r\n\r\n")
    with connected(port, head + b"\r\nExpect: 100-continue\r\n\r\n") as connection:
        assert connection.recv(1000).startswith(b"HTTP/1.1 100")
        connection.sendall(body)
        assert answer(connection)[0] == 201


def test_who_takes_too_long_is_told_and_closed(port: int) -> None:
    with connected(port, HEAD) as slow, connected(port) as silent:
        began = time.monotonic()
        got = b""
        while part := slow.recv(1000):
            got += part
        assert got.startswith(b"HTTP/1.1 408")
        assert b'"code":"request_timeout"' in got
        assert silent.recv(1000) == b""
        assert 5 < time.monotonic() - began < 20


def test_who_says_that_nothing_more_comes_is_answered_at_once(port: int) -> None:
    with connected(port, HEAD + b'Content-Length: 50\r\n\r\n{"name"') as connection:
        connection.shutdown(socket.SHUT_WR)
        began = time.monotonic()
        assert answer(connection)[0] == 400
        assert time.monotonic() - began < 5


def test_a_head_that_is_too_large_is_not_waited_for(port: int) -> None:
    with connected(port, HEAD + b"X-A: " + b"a" * 5 * FIELDS_AT_MOST) as connection:
        began = time.monotonic()
        assert answer(connection)[0] == 431
        assert time.monotonic() - began < 5


def test_a_connection_that_is_gone_leaves_nothing_behind(port: int) -> None:
    for _ in range(300):
        connected(port, HEAD).close()
    assert HTTP.get(f"http://127.0.0.1:{port}/livez").status_code == 200
