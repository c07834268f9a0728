"""Bodies as they come over a real connection, through a real gunicorn."""

import json
import socket
from collections.abc import Iterator
from typing import Any

import pytest
from faults.servers import gunicorn

from service.store.embedded import Urls


@pytest.fixture(scope="module")
def port(urls: Urls) -> Iterator[int]:
    with gunicorn(urls.service, workers=1) as (running, _):
        yield running


def send(port: int, headers: str, body: bytes, *, half_close: bool = False) -> tuple[int, Any]:
    head = (
        f"POST /players HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n{headers}\r\n\r\n"
    )
    with socket.create_connection(("127.0.0.1", port), timeout=20) as connection:
        connection.sendall(head.encode() + body)
        if half_close:
            connection.shutdown(socket.SHUT_WR)
        answer = b""
        while b"\r\n\r\n" not in answer:
            answer += connection.recv(65_536)
        top, _, rest = answer.partition(b"\r\n\r\n")
        length = int(top.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
        while len(rest) < length:
            rest += connection.recv(65_536)
    return int(top.split()[1]), json.loads(rest)


def chunk(data: bytes) -> bytes:
    return f"{len(data):x}\r\n".encode() + data + b"\r\n"


def test_a_body_in_chunks_is_read(port: int) -> None:
    status, _ = send(
        port, "Transfer-Encoding: chunked", chunk(b'{"name":') + chunk(b'"a"}') + b"0\r\n\r\n"
    )
    assert status == 201


@pytest.mark.parametrize("padding", [b" ", b"GARBAGE"])
def test_a_body_in_chunks_that_is_too_large_is_refused(port: int, padding: bytes) -> None:
    body = b'{"name":"a"}' + b" " * 65_524 + padding * 9_000
    status, problem = send(port, "Transfer-Encoding: chunked", chunk(body) + b"0\r\n\r\n")
    assert (status, problem["code"]) == (413, "body_too_large")


@pytest.mark.parametrize("size", [b"zz", b"-5"])
def test_a_body_in_malformed_chunks_is_refused(port: int, size: bytes) -> None:
    status, problem = send(port, "Transfer-Encoding: chunked", size + b"\r\n{}\r\n0\r\n\r\n")
    assert (status, problem["code"]) == (400, "malformed_json")


def test_a_body_that_ends_early_is_not_acted_on(port: int) -> None:
    status, problem = send(port, "Content-Length: 100", b'{"name":"a"}', half_close=True)
    assert (status, problem["code"]) == (400, "malformed_json")


def test_a_body_that_is_declared_too_large_is_refused_unread(port: int) -> None:
    for length in ("65537", "9" * 40):
        status, problem = send(port, f"Content-Length: {length}", b"")
        assert (status, problem["code"]) == (413, "body_too_large")


def test_without_a_body_there_is_no_json(port: int) -> None:
    status, problem = send(port, "Accept: */*", b"")
    assert (status, problem["code"]) == (400, "malformed_json")


@pytest.mark.long
def test_a_body_that_never_comes_is_waited_for_a_while(port: int) -> None:
    status, problem = send(port, "Content-Length: 12", b"")
    assert (status, problem["code"]) == (408, "request_timeout")


@pytest.mark.long
def test_a_body_in_chunks_that_stalls_is_waited_for_a_while(port: int) -> None:
    status, problem = send(port, "Transfer-Encoding: chunked", chunk(b'{"name":'))
    assert (status, problem["code"]) == (400, "malformed_json")
    assert "stalled" in problem["detail"]
