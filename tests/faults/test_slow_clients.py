"""Clients that send slowly, or nothing: whoever sends a whole request is answered meanwhile."""

import os
import socket
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from faults.caller import HTTP
from faults.servers import descendants, gunicorn

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
        status, rest = answer(connection)
        while status == 100 and not rest:
            status, rest = answer(connection)
        assert status == 201 or rest.startswith(b"HTTP/1.1 201")


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


def is_answered(port: int) -> bool:
    began = time.monotonic()
    found = HTTP.get(f"http://127.0.0.1:{port}/livez", timeout=15)
    return found.status_code == 200 and time.monotonic() - began < 8


@pytest.mark.parametrize(
    "sent",
    [b"GET /livez HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", b"nonsense\r\n\r\n"],
    ids=["who-asked-to-close", "who-is-refused"],
)
def test_who_does_not_hang_up_keeps_nobody_waiting(port: int, sent: bytes) -> None:
    crowd = [connected(port, sent) for _ in range(10)]
    assert all(answer(connection)[0] in (200, 400) for connection in crowd)
    assert is_answered(port)
    for connection in crowd:
        connection.close()


@pytest.mark.parametrize(
    "head", [b"Content-Length: 100000\r\n\r\n", b"Transfer-Encoding: chunked\r\n\r\nffff\r\n"]
)
def test_a_body_that_nobody_wants_is_not_waited_for(port: int, head: bytes) -> None:
    crowd = [connected(port, b"GET /livez HTTP/1.1\r\nHost: x\r\n" + head) for _ in range(20)]
    for _ in range(4):
        for connection in crowd:
            with suppress(OSError):
                connection.sendall(b"a")
        time.sleep(0.5)
        assert is_answered(port)
    for connection in crowd:
        connection.close()


@pytest.mark.long
def test_who_reads_nothing_keeps_nobody_waiting_for_long(port: int) -> None:
    crowd = []
    for _ in range(10):
        connection = socket.socket()
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.connect(("127.0.0.1", port))
        connection.sendall(b"GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n" * 50)
        crowd.append(connection)
    time.sleep(9)
    assert is_answered(port)
    for connection in crowd:
        connection.close()


def test_a_byte_out_of_band_costs_no_time(port: int) -> None:
    with connected(port, b"P") as connection:
        connection.send(b"x", socket.MSG_OOB)
        connection.sendall(b"OST")
        time.sleep(0.3)
        before = processor_seconds()
        time.sleep(1)
        assert processor_seconds() - before < 0.5
        assert is_answered(port)


def processor_seconds() -> float:
    """Of all processes that this one started."""
    ticks = 0
    for pid in descendants(os.getpid()):
        with suppress(OSError):
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def test_a_head_with_bare_line_feeds_is_refused_at_once(port: int) -> None:
    with connected(port, b"GET / HTTP/1.1\nHost: x\n\n") as connection:
        began = time.monotonic()
        assert answer(connection)[0] == 400
        assert time.monotonic() - began < 5


def test_a_crowd_that_waits_to_be_asked_keeps_nobody_waiting(port: int) -> None:
    head = HEAD + b"Content-Length: 12\r\nExpect: 100-continue\r\n\r\n"
    crowd = [connected(port, head) for _ in range(30)]
    assert all(connection.recv(1000).startswith(b"HTTP/1.1 100") for connection in crowd)
    assert is_answered(port)
    for connection in crowd:
        connection.close()
