"""(b) What a move costs at the start and at the end of the longest game, and to list legal moves.

Two games, one at its start and one near its end, move in turn over one
connection, so that whatever the machine does meanwhile it does to both.
"""

import asyncio
import logging
import random
import statistics
import time
from dataclasses import replace
from typing import Any

import structlog

from bench.machine import database, gunicorn, services_over
from bench.moves import LONGEST, planned_moves
from service.app import create_app
from service.bots import choose
from service.cards import Seat, parse_cards
from service.log import steps
from service.log.events import Actor
from service.log.game import Game
from service.log.replay import resume
from service.play.services import Services
from service.rules.crazy_rummy.melds import rank_for_round
from service.rules.crazy_rummy.state import State
from service.rules.registry import current
from service.rules.ruleset import Round
from service.store.appends import append
from service.store.reads import load

GAMES = {"jokers-go-boom": 4, "crazy-rummy": 6}
MOVES = 150
ROUNDS_OF_OTHERS = (1, 2, 3, 4, 9, 10, 11, 12, 13)
"""The rounds of Crazy Rummy in which 5, 6, 7 and 8 are not wild."""
COLD = 40
DEEP = 30
"""Moves into their rounds, both games are rebuilt: how long that takes goes by how many there were."""


def main() -> None:
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING))
    print("| game | events before its last round | | first round | last round | ratio |")
    print("|---|---|---|---|---|---|")
    with database() as urls, gunicorn("service.app:wsgi()", urls.service, workers=1) as port:
        services = services_over(urls.service)
        app = create_app(services).test_client()
        for ruleset, seats in GAMES.items():
            tokens = _players(app, seats)
            early, late = (_opened(services, app, tokens, ruleset) for _ in range(2))
            appends: list[float] = []
            late = _played_to_the_last_round(services, late, appends)
            plans = [planned_moves(game, tokens, MOVES) for game in (early, late)]
            each = min(map(len, plans))
            deep = min(DEEP, each // 2)
            asyncio.run(_alternate(port, plans[0][:deep], plans[1][:deep]))
            cold = _cold(services, early, late)
            first, last = asyncio.run(_alternate(port, plans[0][deep:each], plans[1][deep:each]))
            head = f"| {ruleset}, {seats} seats | {late.version} "
            print(head + _row("a move, warm, ms (median)", first, last))
            print(head + _row("rebuilt cold, ms (median)", *cold))
    _listing(statistics.median(appends) * 1000)


def _row(what: str, first: list[float], last: list[float]) -> str:
    a, b = statistics.median(first) * 1000, statistics.median(last) * 1000
    return f"| {what} | {a:.2f} | {b:.2f} | **{b / a:.2f}** |"


def _players(app: Any, seats: int) -> list[dict[str, str]]:
    made = [app.post("/players", json={"name": f"P{n}"}).get_json() for n in range(seats)]
    return [{"Authorization": f"Bearer {one['key']['token']}"} for one in made]


def _opened(services: Services, app: Any, tokens: list[dict[str, str]], ruleset: str) -> Game:
    rounds = {"rounds": LONGEST[ruleset]}
    opening = {"ruleset": ruleset, "seats": len(tokens), "options": rounds}
    game = app.post("/games", json=opening, headers=tokens[0]).get_json()["view"]["game"]
    for token in tokens[1:]:
        app.post(f"/games/{game}/seats", json={}, headers=token)
    found = services.games.get(game)
    assert found is not None
    return found


def _played_to_the_last_round(services: Services, game: Game, appends: list[float]) -> Game:
    """The game in its last round; `appends` gets the seconds that each append took."""
    chance = random.Random(3)
    while game.round is not None and game.round.number < game.rounds:
        view = game.ruleset.view(game.round.state, game.to_act)
        move = choose("random", game.ruleset, game.options, view, chance)
        frame = steps.write(steps.play(game, move, Actor(kind="player", id="x")), game, game.at)
        frames = [frame, *steps.consequences(frame.after, game.at)]
        began = time.perf_counter()
        assert append(services.database, frames)
        appends.append(time.perf_counter() - began)
        game = frames[-1].after
    return game


def _cold(services: Services, early: Game, late: Game) -> tuple[list[float], list[float]]:
    """Rebuilding each game from the database as it stands now, in turn."""
    seconds: tuple[list[float], list[float]] = ([], [])
    for _ in range(COLD):
        for index, game in enumerate((early, late)):
            began = time.perf_counter()
            stored = load(services.database, game.id)
            assert stored is not None
            resume(stored[1], stored[0])
            seconds[index].append(time.perf_counter() - began)
    return seconds


def _listing(append_ms: float) -> None:
    """What it takes to list the legal moves of an ordinary hand and of the worst, beside an append.

    The worst hand holds all four wild cards beside a run of four: once as
    it is first seen, and once as it is asked for again.
    """
    print("\n| Crazy Rummy hand | legal moves | ms (median) | as a share of one append |")
    print("|---|---|---|---|")
    hands = [
        (_holding(number, [*(rank_for_round(number).text + wild for wild in "cdhs"), *run]))
        for number in ROUNDS_OF_OTHERS
        for run in ([rank + suit for rank in "5678"] for suit in "cdhs")
    ]
    ordinary = [_holding(3, ["2c", "5d", "7h", "9s", "Jc", "Kd", "4s", "8d"])] * len(hands)
    tables = {"ordinary": ordinary, "worst, first seen": hands, "worst, seen before": hands}
    for name, states in tables.items():
        times, counts = zip(*map(_listed, states), strict=True)
        ms = statistics.median(times) * 1000
        print(f"| {name} | {max(counts)} | {ms:.2f} | **{ms / append_ms:.2f}** |")


def _holding(number: int, texts: list[str]) -> State:
    """The round of that number, its first player holding these cards."""
    rummy = current()["crazy-rummy"]
    dealt: State = rummy.deal(
        rummy.options(), Round(number, Seat(1), 3), rummy.pack(rummy.options())
    )
    hand = tuple(sorted(parse_cards(texts)))
    return replace(dealt, hands=(dealt.hands[0], hand, dealt.hands[2]))


def _listed(state: State) -> tuple[float, int]:
    began = time.perf_counter()
    moves = current()["crazy-rummy"].legal_moves(state)
    return time.perf_counter() - began, len(moves)


async def _alternate(
    port: int, first: list[bytes], last: list[bytes]
) -> tuple[list[float], list[float]]:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    seconds: tuple[list[float], list[float]] = ([], [])
    for pair in zip(first, last, strict=True):
        for index, request in enumerate(pair):
            began = time.perf_counter()
            writer.write(request)
            head = await reader.readuntil(b"\r\n\r\n")
            length = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])
            await reader.readexactly(length)
            assert head.startswith(b"HTTP/1.1 201"), head
            seconds[index].append(time.perf_counter() - began)
    writer.close()
    await writer.wait_closed()
    return seconds[0][5:], seconds[1][5:]


if __name__ == "__main__":
    main()
