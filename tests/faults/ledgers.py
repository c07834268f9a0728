"""Clients that write down what was acknowledged, and the reckoning at the end.

Each retries with the same key whatever it got no answer to.
"""

import json
import threading
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any, TypeAlias
from uuid import uuid4

import httpx
from chains import first_break
from faults.caller import HTTP

from service.canonical import canonical_text
from service.log.events import parse_event

PATIENCE = 60
PLAY_SECONDS = 60
AFTERWARDS = 1.0
OPENING: Any = {"ruleset": "jokers-go-boom", "seats": 3, "options": {"rounds": 20}}


@dataclass
class Client:
    """A person who plays all the seats of a sandbox game, and gives up on nothing."""

    base: str
    headers: dict[str, str] = field(default_factory=dict)
    game: str = ""
    ledger: dict[int, str] = field(default_factory=dict)
    keys: list[str] = field(default_factory=list)
    replayed: int = 0
    failed: int = 0
    refused: list[str] = field(default_factory=list)

    def begin(self) -> None:
        made = self.call("POST", "/players", {"name": "Ilze"}).json()
        self.headers = {"Authorization": f"Bearer {made['key']['token']}"}
        sandbox = {"secret": uuid4().hex * 2}
        opening = {**OPENING, "sandbox": sandbox}
        self.game = self.call("POST", "/games", opening, uuid4().hex).json()["view"]["game"]
        for _ in range(OPENING["seats"] - 1):
            self.call("POST", f"/games/{self.game}/seats", {}, uuid4().hex)

    def play(self, is_over: threading.Event) -> None:
        deadline = time.monotonic() + PLAY_SECONDS
        while not is_over.is_set() and time.monotonic() < deadline:
            view = self.call("GET", f"/games/{self.game}").json()
            if view["status"] != "active":
                return
            self.move(view["legal_moves"][0])

    def move(self, move: Any) -> None:
        key = uuid4().hex
        answer = self.call("POST", f"/games/{self.game}/moves", {"move": move}, key)
        if answer.status_code != HTTPStatus.CREATED:
            self.refused.append(answer.text)
            return
        self.keys.append(key)
        self.replayed += "Idempotent-Replayed" in answer.headers
        for event in answer.json()["events"]:
            self.ledger.setdefault(event["seq"], event["hash"])  # what was said first counts

    def call(self, method: str, path: str, body: Any = None, key: str = "") -> httpx.Response:
        """Send until there is an answer, with the same key."""
        headers = {**self.headers, **({"Idempotency-Key": key} if key else {})}
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                answer = HTTP.request(
                    method, self.base + path, json=body, headers=headers, timeout=10
                )
            except httpx.TransportError:
                self.failed += 1
            else:
                if answer.status_code not in (500, 502, 503):
                    return answer
                assert answer.status_code == 503, answer.text
                self.failed += 1
            assert time.monotonic() < deadline, "no answer"
            time.sleep(0.05)


@dataclass(frozen=True)
class Reckoning:
    """What clients went through together, and what the log says of it."""

    acknowledged: int
    failed: int
    replayed: int
    lost: int
    doubled: int
    refused: int

    @property
    def is_clean(self) -> bool:
        """Whether all that was said is true, and every move could be made."""
        return (self.lost, self.doubled, self.refused) == (0, 0, 0)

    def row(self, what: str) -> str:
        """A line of the table in docs/reliability.md."""
        cells = (what, self.acknowledged, self.failed, self.replayed, self.lost, self.doubled)
        return f"| {' | '.join(map(str, cells))} |"


Note: TypeAlias = Callable[[str, Reckoning], None]
"""Puts a row into the table that stands at the end of `make faults`."""


def reckon(clients: Iterable[Client], lines: Callable[[Client], list[str]]) -> Reckoning:
    """Hold each ledger against its log; every chain must hold, whatever was lost."""
    found = [_reckon(client, lines(client)) for client in clients]
    return Reckoning(*(sum(column) for column in zip(*found, strict=True)))


def _reckon(client: Client, lines: list[str]) -> tuple[int, ...]:
    events = [parse_event(line) for line in lines]
    assert first_break(events) is None
    hashes = {event.seq: event.hash for event in events}
    lost = sum(hashes.get(seq) != digest for seq, digest in client.ledger.items())
    own = sum(event.type == "move" for event in events)
    doubled = max(0, own - len(client.keys))
    refused = len(client.refused)
    return len(client.keys), client.failed, client.replayed, lost, doubled, refused


def check(client: Client, lines: list[str]) -> None:
    """The ledger stands in the log, once each, and the chain holds."""
    assert reckon([client], lambda _client: lines).is_clean


def lines_of(client: Client) -> list[str]:
    """The game's log, asked for page by page."""
    lines: list[str] = []
    after = 0
    while True:
        page = client.call("GET", f"/games/{client.game}/events?after={after}&limit=200")
        lines += own_lines(page.text)
        after = page.json()["next_after"]
        if not page.json()["more"]:
            return lines


def own_lines(text: str) -> list[str]:
    """The events of a page without their private part, as they were chained."""
    items = json.loads(text)["items"]
    return [canonical_text({k: v for k, v in item.items() if k != "private"}) for item in items]


def play_together(clients: list[Client], meanwhile: Callable[[], None]) -> None:
    """Let all of them play at once while something happens, and a little longer."""
    is_over = threading.Event()
    with ThreadPoolExecutor(len(clients)) as pool:
        played = [pool.submit(client.play, is_over) for client in clients]
        try:
            meanwhile()
            time.sleep(AFTERWARDS)
        finally:
            is_over.set()
        for future in played:
            future.result()
