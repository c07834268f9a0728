"""The examples, run as they stand against a real server."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import httpx
from faults.caller import HTTP
from faults.servers import ROOT, fairdeal_serve, free_port, gunicorn, wait_until_ready

from service.store.embedded import Urls


def start(example: str, *arguments: str, **environment: str) -> "subprocess.Popen[str]":
    command = [sys.executable, ROOT / "examples" / example, *arguments]
    return subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT / "clients" / "python"), **environment},
    )


def said(process: "subprocess.Popen[str]") -> Any:
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    return json.loads(out)


def test_both_bots_play_against_bots_and_a_receiver_is_told(own_home: Path) -> None:
    """One server for all: a bot in plain Python, one over the client, a webhook for the latter."""
    port, hook = free_port(), free_port()
    url = f"http://127.0.0.1:{port}"
    with fairdeal_serve(own_home, port, FAIRDEAL_WEBHOOK_ADDRESSES="any"):
        wait_until_ready(port)
        client = httpx.Client(verify=False, base_url=url, timeout=20)
        made = client.post("/players", json={"name": "Ilze"}).json()
        key = {"Authorization": f"Bearer {made['key']['token']}"}
        body = {"url": f"http://127.0.0.1:{hook}/", "types": ["game.started", "game.ended"]}
        secret = client.post("/webhooks", json=body, headers=key).json()["secret"]
        receiver = start("webhook_receiver.py", "--port", str(hook), FAIRDEAL_WEBHOOK_SECRET=secret)
        opening = {
            "ruleset": "jokers-go-boom",
            "seats": 3,
            "options": {"rounds": 1},
            "turn_seconds": 5,
        }
        game = client.post("/games", json=opening, headers=key).json()["view"]["game"]
        bots = [start("client_bot.py", url, "--game", game) for _ in range(2)]
        alone = start("bot.py", url)
        while client.get(f"/games/{game}").json()["status"] == "open":
            time.sleep(0.1)
        client.post(f"/games/{game}/resignation", json={}, headers=key)
        results = [said(bot)["result"] for bot in bots]
        told = said(alone)
        for ended, result in ((game, results[0]), (told["game"], told["result"])):
            view = client.get(f"/games/{ended}").json()
            assert (view["status"], view["result"]) == ("finished", result)
        assert results[0] == results[1]
        assert receiver.stdout is not None
        assert json.loads(receiver.stdout.readline())["type"] == "game.started"
        bad = HTTP.post(f"http://127.0.0.1:{hook}/", json={}, headers={"webhook-id": "x"})
        assert bad.status_code == 401
        receiver.terminate()
        receiver.communicate(timeout=20)
        client.close()


def test_bots_sit_down_at_somebodys_table_and_play_each_other(urls: Urls) -> None:
    with gunicorn(urls.service) as (port, _):
        url = f"http://127.0.0.1:{port}"
        made = HTTP.post(f"{url}/players", json={"name": "Ilze"}).json()
        key = {"Authorization": f"Bearer {made['key']['token']}"}
        opening = {"ruleset": "crazy-rummy", "seats": 3, "sit": False, "options": {"rounds": 1}}
        game = HTTP.post(f"{url}/games", json=opening, headers=key).json()["view"]["game"]
        players = [start("bot.py", url, "--game", game, "--name", f"Bot {n}") for n in range(3)]
        results = [said(player)["result"] for player in players]
        assert results[0] == results[1] == results[2]
        assert results[0]["reason"] == "finished"
