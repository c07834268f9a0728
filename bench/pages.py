"""(f) The pages: what the first look at a table weighs, and how long a press takes to be painted.

A press on a card is held against a press on an empty page in the same browser:
what is left is the page's own work.
"""

import json
import os
import statistics
import urllib.request
from shutil import which
from typing import Any

from bench.machine import database, gunicorn

PRESSES = int(os.environ.get("PRESSES", "40"))
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
]
MEASURE = """async ([selector, times]) => {
  const found = [];
  for (let n = 0; n < times; n += 1) {
    const target = selector ? document.querySelectorAll(selector)[n % 5] : document.body;
    const began = performance.now();
    target.click();
    await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
    found.push(performance.now() - began);
  }
  return found;
}"""


def main() -> None:
    chromium = which("chromium")
    if chromium is None:
        print("There is no chromium on this machine.")
        return
    from playwright.sync_api import sync_playwright

    with (
        database() as urls,
        gunicorn("service.app:wsgi()", urls.service, 2) as port,
        sync_playwright() as playwright,
    ):
        base = f"http://127.0.0.1:{port}"
        token, game = _table(base)
        browser = playwright.chromium.launch(executable_path=chromium, args=ARGUMENTS)
        page = browser.new_page()
        page.add_init_script(f"localStorage.setItem('key', {json.dumps(token)})")
        sizes: list[int] = []
        page.on("requestfinished", lambda asked: sizes.append(asked.sizes()["responseBodySize"]))
        page.goto(f"{base}/table/{game}")
        page.locator(".hand.own .card").first.wait_for()
        page.wait_for_timeout(1000)
        weight = sum(sizes)
        pressed, empty = [], []
        for _ in range(5):
            pressed += page.evaluate(MEASURE, [".hand.own .card", PRESSES])
            empty += page.evaluate(MEASURE, ["", PRESSES])
        browser.close()
    print(
        "| first look at a table, kB | a card selected to its paint, ms (p50, p99) | an empty press (p50, p99) | ratio |"
    )
    print("|---|---|---|---|")
    print(
        f"| {weight / 1000:.0f} | {_shown(pressed)} | {_shown(empty)} | **{statistics.median(pressed) / statistics.median(empty):.2f}** |"
    )


def _table(base: str) -> tuple[str, str]:
    """A rummy table with bots, started; the player's key and the game's id."""
    made = _call(base, "POST", "/players", {"name": "Ilze"})
    token = made["key"]["token"]
    body = {"ruleset": "crazy-rummy", "seats": 4, "bots": [{"seat": seat} for seat in (2, 3, 4)]}
    game: str = _call(base, "POST", "/games", body, token)["view"]["game"]
    _call(base, "PUT", f"/games/{game}/seats/1/contribution", {"contribution": "x"}, token)
    return token, game


def _call(base: str, method: str, path: str, body: Any, token: str = "") -> Any:
    headers = {
        "Content-Type": "application/json",
        **({"Authorization": f"Bearer {token}"} if token else {}),
    }
    asked = urllib.request.Request(base + path, json.dumps(body).encode(), headers, method=method)
    with urllib.request.urlopen(asked) as answer:
        return json.load(answer)


def _shown(times: list[float]) -> str:
    ordered = sorted(times)
    return f"{statistics.median(ordered):.1f}, {ordered[int(len(ordered) * 0.99)]:.1f}"


if __name__ == "__main__":
    main()
