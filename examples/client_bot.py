"""A bot over the Python client: it plays in every game that it is told of, until it has played one.

    python examples/client_bot.py http://127.0.0.1:8000                opens a table with two bots
    python examples/client_bot.py http://127.0.0.1:8000 --game 01j…    sits down at somebody's table

It needs the client: `pip install ./clients/python`.
"""

import argparse
import json
import random
import uuid
from typing import Any

from fairdeal_client import Conflict, Fairdeal


def sit_down(me: Fairdeal, game: str | None) -> str:
    """Take a seat at the table, or open one; what we contribute to the shuffle is ours alone."""
    if game is not None:
        me.sit(game, contribution=uuid.uuid4().hex)
        return game
    bots = [{"seat": 2}, {"seat": 3}]
    view = me.open_game("jokers-go-boom", 3, bots=bots)["view"]
    me.contribute(view["game"], seat=1)
    return view["game"]


def choose(view: Any) -> Any:
    """Where a better bot would think."""
    return random.choice(view["legal_moves"])


def take_turn(me: Fairdeal, game: str) -> None:
    """Move as long as it is our turn; somebody else may have moved for us."""
    view = me.view(game)
    while view["legal_moves"]:
        try:
            view = me.move(game, choose(view), version=view["version"])["view"]
        except Conflict:
            view = me.view(game)


def play(me: Fairdeal, game: str) -> Any:
    """Follow what happens, and move when it is our turn, until the game is over."""
    for notice in me.notices():
        if notice["data"]["game"] != game:
            continue
        if notice["type"] == "game.turn":
            take_turn(me, game)
        if notice["type"] == "game.ended":
            break
    return me.view(game)["result"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("url")
    parser.add_argument("--game", help="a table to sit down at")
    parser.add_argument("--name", default="A bot over the client")
    asked = parser.parse_args()
    with Fairdeal.register(asked.url, asked.name) as me:
        game = sit_down(me, asked.game)
        print(json.dumps({"game": game, "result": play(me, game)}))


if __name__ == "__main__":
    main()
