"""The client: one method for what a player does often, `ask` for all the rest."""

import json
import random
import time
import uuid
from collections.abc import Callable, Generator, Iterator, Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self, cast

import httpx

from fairdeal_client.models import Event, Invitation, Moved, Notice, Seated, View
from fairdeal_client.problems import Problem, problem_of

AGAIN = frozenset({429, 502, 503, 504})
"""Statuses after which the same request may be sent once more."""

QUIET_SECONDS = 25.0
"""A stream that says nothing for so long is broken: signs of life come more often."""


@dataclass(frozen=True)
class Retrying:
    """How long to go on asking a service that does not answer: seconds in all, and between."""

    patience: float = 60.0
    least: float = 0.2
    most: float = 10.0

    def pause(self, attempt: int) -> float:
        """Seconds before the next attempt: longer each time, and never the same for all."""
        return random.uniform(0.5, 1.0) * min(self.most, self.least * 2.0**attempt)


class Fairdeal:
    """A player's way to the service at `url`, by the token of one of their keys.

    Every POST carries an Idempotency-Key, so whatever is sent may be sent
    again: a lost answer is asked for once more, and is the same one. Refusals
    raise `Problem` or what is derived from it; a service that can't be reached
    for longer than `retrying` says raises `httpx.TransportError`.
    """

    def __init__(
        self,
        url: str,
        token: str | None = None,
        *,
        language: str | None = None,
        retrying: Retrying | None = None,
        transport: httpx.BaseTransport | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        headers = {"Accept-Language": language} if language else {}
        self._http = httpx.Client(base_url=url, headers=headers, timeout=60, transport=transport)
        self._retrying = retrying or Retrying()
        self._sleep = sleep
        self.token = token
        self.player: str | None = None

    @classmethod
    def register(cls, url: str, name: str, kind: str = "bot", **options: Any) -> Self:
        """A client for a new account; keep its `token`, which is shown this once."""
        client = cls(url, **options)
        made = client.ask("POST", "/players", {"name": name, "kind": kind}, key=None)
        client.token, client.player = made["key"]["token"], made["player"]["id"]
        return client

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def open_game(self, ruleset: str, seats: int, **body: Any) -> Seated:
        """Open a game, and sit in seat 1 unless `sit=False`."""
        return cast(
            "Seated", self.ask("POST", "/games", {"ruleset": ruleset, "seats": seats, **body})
        )

    def sit(self, game: str, seat: int | None = None, **body: Any) -> Seated:
        """Sit down; `contribution` is one's part in the shuffle, `invitation` lets one in."""
        asked = body if seat is None else {"seat": seat, **body}
        return cast("Seated", self.ask("POST", f"/games/{game}/seats", asked))

    def contribute(self, game: str, seat: int, contribution: str | None = None) -> Seated:
        """Give one's part in the shuffle, a random one unless it is given."""
        body = {"contribution": uuid.uuid4().hex if contribution is None else contribution}
        return cast("Seated", self.ask("PUT", f"/games/{game}/seats/{seat}/contribution", body))

    def invite(self, game: str, **body: Any) -> Invitation:
        """Invite to an open game: by the link in the answer, or `player` by their id."""
        return cast("Invitation", self.ask("POST", f"/games/{game}/invitations", body))

    def rematch(self, game: str) -> Seated:
        """The game that goes on from a finished one; sit down in it by `sit`."""
        return cast("Seated", self.ask("POST", f"/games/{game}/rematch", {}))

    def resign(self, game: str) -> Seated:
        """Hand one's seat to a bot."""
        return cast("Seated", self.ask("POST", f"/games/{game}/resignation", {}))

    def view(self, game: str, at: int | None = None, seat: str | None = None) -> View:
        """The table as one may see it: now, or at a version; through another's eyes, once ended."""
        return cast("View", self.ask("GET", f"/games/{game}", at=at, seat=seat))

    def move(self, game: str, *moves: Mapping[str, Any], version: int | None = None) -> Moved:
        """Make a move, or several, all or nothing; only at that version of the game, if given."""
        body: dict[str, Any] = {"moves": list(moves)}
        if version is not None:
            body["expected_version"] = version
        return cast("Moved", self.ask("POST", f"/games/{game}/moves", body))

    def events(self, game: str, after: int = 0) -> Generator[Event, None, None]:
        """Every event after a seq, as it happens, until the game has ended.

        A connection that breaks is made anew, and goes on where it broke off.
        """
        place: dict[str, str | int] = {"after": after}
        for line in self._lines(f"/games/{game}/events", place):
            event = json.loads(line)
            place["after"] = event["seq"]
            yield event

    def notices(self, cursor: str | None = None) -> Generator[Notice, None, None]:
        """What happens in all one's games, from a cursor on, for ever."""
        place: dict[str, str | int] = {"cursor": cursor} if cursor else {}
        for line in self._lines("/players/me/events", place, ends=False):
            notice = json.loads(line)
            place["cursor"] = notice["cursor"]
            yield notice

    def export(self, game: str) -> str:
        """The game's log, for `fairdeal verify`."""
        return self._answer("GET", f"/games/{game}/export", {}, None, None).text

    def ask(
        self,
        method: str,
        path: str,
        body: Any = None,
        key: str | None = "",
        **query: str | int | None,
    ) -> Any:
        """Any request, as JSON; None for an empty answer.

        `key` is the Idempotency-Key of a POST: one of its own unless given,
        none where it is None.
        """
        if method == "POST" and key == "":
            key = uuid.uuid4().hex
        answer = self._answer(method, path, query, body, key or None)
        return answer.json() if answer.content else None

    def _answer(
        self,
        method: str,
        path: str,
        query: Mapping[str, str | int | None],
        body: Any,
        key: str | None,
    ) -> httpx.Response:
        """The answer, asked for until there is one; raises Problem and httpx.TransportError."""
        params = {name: value for name, value in query.items() if value is not None}
        headers = {**self._headers(), **({"Idempotency-Key": key} if key else {})}
        sent = {} if body is None else {"json": body}
        is_safe = method != "POST" or key is not None
        until = time.monotonic() + self._retrying.patience
        attempt = 0
        while True:
            try:
                answer = self._http.request(method, path, params=params, headers=headers, **sent)
            except httpx.ConnectError:
                if time.monotonic() > until:
                    raise
                pause = self._retrying.pause(attempt)
            except httpx.TransportError:
                if not is_safe or time.monotonic() > until:
                    raise
                pause = self._retrying.pause(attempt)
            else:
                if answer.is_success:
                    return answer
                if answer.status_code == 404 and method == "DELETE" and attempt:
                    return httpx.Response(204)
                can_wait = answer.status_code in AGAIN and (is_safe or answer.status_code == 429)
                pause = max(self._retrying.pause(attempt), _asked_to_wait(answer))
                if not can_wait or time.monotonic() + pause > until:
                    raise problem_of(answer)
            self._sleep(pause)
            attempt += 1

    def _lines(
        self, path: str, place: Mapping[str, str | int], *, ends: bool = True
    ) -> Iterator[str]:
        """The lines of a stream, over as many connections as it takes, until it ends.

        Each connection begins at the place where whoever takes the lines is.
        """
        attempt = 0
        failing_since: float | None = None
        while True:
            try:
                for line in self._connection(path, place, ends=ends):
                    if line is None:
                        return
                    attempt, failing_since = 0, None
                    if line:
                        yield line
            except (httpx.TransportError, _Busy) as error:
                failing_since = failing_since or time.monotonic()
                pause = error.pause if isinstance(error, _Busy) else 0.0
                if time.monotonic() + pause - failing_since > self._retrying.patience:
                    raise error.problem if isinstance(error, _Busy) else error from None
                self._sleep(pause)
            self._sleep(self._retrying.pause(attempt))
            attempt += 1

    def _connection(
        self, path: str, place: Mapping[str, str | int], *, ends: bool
    ) -> Iterator[str | None]:
        """The lines of one connection, blank signs of life too; None when there is no more."""
        headers = {**self._headers(), "Accept": "application/x-ndjson"}
        timeout = httpx.Timeout(60, read=QUIET_SECONDS)
        with self._http.stream(
            "GET", path, params=dict(place), headers=headers, timeout=timeout
        ) as answer:
            if answer.status_code == 204 and ends:
                yield None
            if not answer.is_success:
                answer.read()
                if answer.status_code in AGAIN:
                    raise _Busy(_asked_to_wait(answer), problem_of(answer))
                raise problem_of(answer)
            yield from _whole_lines(answer)

    def _headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.token}"} if self.token else {}


class _Busy(Exception):
    """The service asks to come back later."""

    def __init__(self, pause: float, problem: Problem) -> None:
        super().__init__(str(problem))
        self.pause = pause
        self.problem = problem


def _whole_lines(answer: httpx.Response) -> Iterator[str]:
    """The lines that came whole: one that was cut off is not one."""
    rest = ""
    for text in answer.iter_text():
        *lines, rest = (rest + text).split("\n")
        yield from lines


def _asked_to_wait(answer: httpx.Response) -> float:
    asked = answer.headers.get("Retry-After", "")
    return float(asked) if asked.isdecimal() else 0.0
