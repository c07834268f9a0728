"""The examples, run as they stand against a real server."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx
from faults.servers import ROOT, fairdeal_serve, free_port, gunicorn, wait_until_ready

from service.store.embedded import Urls


def start(*arguments: str) -> "subprocess.Popen[str]":
    command = [sys.executable, ROOT / "examples" / "bot.py", *arguments]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def said(process: "subprocess.Popen[str]") -> Any:
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    return json.loads(out)


def test_the_bot_plays_a_game_against_bots(own_home: Path) -> None:
    port = free_port()
    with fairdeal_serve(own_home, port):
        wait_until_ready(port)
        told = said(start(f"http://127.0.0.1:{port}"))
        view = httpx.get(f"http://127.0.0.1:{port}/games/{told['game']}").json()
        assert told["result"] == view["result"]
        assert view["status"] == "finished"


def test_bots_sit_down_at_somebodys_table_and_play_each_other(urls: Urls) -> None:
    with gunicorn(urls.service) as (port, _):
        url = f"http://127.0.0.1:{port}"
        made = httpx.post(f"{url}/players", json={"name": "Ilze"}).json()
        key = {"Authorization": f"Bearer {made['key']['token']}"}
        opening = {"ruleset": "crazy-rummy", "seats": 3, "sit": False, "options": {"rounds": 1}}
        game = httpx.post(f"{url}/games", json=opening, headers=key).json()["view"]["game"]
        players = [start(url, "--game", game, "--name", f"Bot {n}") for n in range(3)]
        results = [said(player)["result"] for player in players]
        assert results[0] == results[1] == results[2]
        assert results[0]["reason"] == "finished"
