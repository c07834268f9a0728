"""A bot in plain Python: it sits down at a table, follows the game, and plays what is legal.

    python examples/bot.py http://127.0.0.1:8000                opens a table with two bots
    python examples/bot.py http://127.0.0.1:8000 --game 01j…    sits down at somebody's table

Whatever it sends it may send again: a move has an Idempotency-Key, so the answer
to a retry is the answer that was lost. It waits for its turn by long polls.
"""

import argparse
import json
import random
import time
import urllib.error
import urllib.request
import uuid
from typing import Any

PATIENCE = 60
"""Seconds for which a service that does not answer is asked again."""


class Refused(Exception):
    """The service said no; `problem` says why, for programs and for people."""

    def __init__(self, problem: dict[str, Any]) -> None:
        super().__init__(f"{problem.get('code')}: {problem.get('detail')}")
        self.problem = problem


class Service:
    """The API, as far as a player needs it."""

    def __init__(self, url: str, name: str) -> None:
        self.url = url.rstrip("/")
        self.token = ""
        made = self.ask("POST", "/players", {"name": name, "kind": "bot"})
        self.player, self.token = made["player"]["id"], made["key"]["token"]

    def ask(self, method: str, path: str, body: Any = None, key: str = "") -> Any:
        """Ask, and ask again as long as there is no answer; raises Refused."""
        headers = {"Content-Type": "application/json"}
        headers |= {"Authorization": f"Bearer {self.token}"} if self.token else {}
        headers |= {"Idempotency-Key": key} if key else {}
        data = None if body is None else json.dumps(body).encode()
        deadline = time.monotonic() + PATIENCE
        while True:
            request = urllib.request.Request(self.url + path, data, headers, method=method)
            try:
                with urllib.request.urlopen(request, timeout=60) as answer:
                    return json.load(answer)
            except urllib.error.HTTPError as error:
                if error.code not in (429, 502, 503, 504):
                    raise Refused(json.load(error)) from error
                pause = float(error.headers.get("Retry-After", 1))
            except OSError:
                pause = 1
            if time.monotonic() > deadline:
                raise TimeoutError(path)
            time.sleep(pause)


def sit_down(service: Service, game: str | None) -> str:
    """Take a seat at the table, or open one; what we contribute to the shuffle is ours alone."""
    contribution = {"contribution": uuid.uuid4().hex}
    if game is not None:
        service.ask("POST", f"/games/{game}/seats", contribution, uuid.uuid4().hex)
        return game
    opening = {"ruleset": "jokers-go-boom", "seats": 3, "bots": [{"seat": 2}, {"seat": 3}]}
    view = service.ask("POST", "/games", opening, uuid.uuid4().hex)["view"]
    service.ask("PUT", f"/games/{view['game']}/seats/1/contribution", contribution)
    return str(view["game"])


def choose(view: dict[str, Any]) -> Any:
    """Where a better bot would think."""
    return random.choice(view["legal_moves"])


def play(service: Service, game: str) -> dict[str, Any]:
    """Play until the game is over; how it ended."""
    while (view := service.ask("GET", f"/games/{game}"))["result"] is None:
        if not view["legal_moves"]:
            service.ask("GET", f"/games/{game}/events?after={view['version']}&wait=20")
            continue
        move = {"move": choose(view), "expected_version": view["version"]}
        try:
            service.ask("POST", f"/games/{game}/moves", move, uuid.uuid4().hex)
        except Refused as refused:
            if refused.problem["code"] not in ("version_conflict", "not_your_turn"):
                raise
    return dict(view["result"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("url")
    parser.add_argument("--game", help="a table to sit down at")
    parser.add_argument("--name", default="A bot in plain Python")
    asked = parser.parse_args()
    service = Service(asked.url, asked.name)
    game = sit_down(service, asked.game)
    print(json.dumps({"game": game, "result": play(service, game)}))


if __name__ == "__main__":
    main()
