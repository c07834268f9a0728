"""A real browser before a real server: Debian's Chromium, driven by Playwright."""

import json
import os
import shutil
import subprocess
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from tempfile import gettempdir
from typing import Any

import pytest
from faults.servers import gunicorn
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

from service.store.embedded import Urls

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or ""
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
WIDE = {"width": 1440, "height": 900}
NARROW = {"width": 360, "height": 720}
PATIENCE_MS = 20_000

LISTEN = """
window.heard = [];
window.answers = 0;
const ask = window.fetch;
window.fetch = async (...asked) => {
  const answer = await ask(...asked);
  const id = window.answers += 1;
  const reader = answer.clone().body?.pipeThrough(new TextDecoderStream()).getReader();
  (async () => {
    try {
      for (;;) {
        const { done, value } = await reader.read();
        if (done) return;
        window.heard.push([id, value, Date.now()]);
      }
    } catch { /* it was cut */ }
  })();
  return answer;
};
"""
"""Keeps every part of every body that the page is sent, and when it came."""


class Tab(Page):
    """A page whose faults are kept."""

    faults: list[str]


@pytest.fixture(scope="module")
def site(urls: Urls) -> Iterator[str]:
    """The service as people run it: web processes and a worker."""
    with gunicorn(urls.service) as (port, _):
        keys = Path(gettempdir(), f"fairdeal-test-{os.getpid()}-keys.json")
        environment = {
            **os.environ,
            "DATABASE_URL": urls.service,
            "FAIRDEAL_SIGNING_KEYS": str(keys),
            "FAIRDEAL_CHECKPOINTS": str(keys.with_name(f"{keys.stem}-checkpoints")),
            "FAIRDEAL_CHECKPOINT_SECONDS": "1",
        }
        command = [sys.executable, "-m", "service.cli", "worker"]
        with subprocess.Popen(
            command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        ) as worker:
            yield f"http://127.0.0.1:{port}"
            worker.terminate()
            worker.wait(30)
        shutil.rmtree(environment["FAIRDEAL_CHECKPOINTS"], ignore_errors=True)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    if not CHROMIUM:
        pytest.skip("there is no chromium on this machine")
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield opened
        opened.close()


@pytest.fixture
def tab(browser: Browser, site: str) -> Iterator[Callable[..., Any]]:
    """Opens a browser of its own for one person: a page whose faults are none at the end."""
    contexts: list[BrowserContext] = []
    faults: list[str] = []

    def make(**options: Any) -> Any:
        context = browser.new_context(
            base_url=site, **{"locale": "en", "viewport": WIDE, **options}
        )
        context.add_init_script(LISTEN)
        context.set_default_timeout(PATIENCE_MS)
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on("console", lambda told: faults.append(told.text) if _is_fault(told) else None)
        return page

    yield make
    for context in contexts:
        context.close()
    assert not faults, faults


def _is_fault(told: Any) -> bool:
    """What a page must not say; a refusal that it shows, or a network that is away, is no fault."""
    expected = ("Failed to load resource", "net::ERR")
    return told.type == "error" and not any(words in told.text for words in expected)


def begin(page: Any, name: str) -> None:
    """Say who one is, in the lobby."""
    page.goto("/")
    page.get_by_label("Your name").fill(name)
    page.get_by_role("button", name="Begin").click()
    page.get_by_text(f"You play as {name}.").wait_for()


def heard(page: Any) -> list[tuple[int, Any]]:
    """Every JSON value that the page was sent, out of streams too, and when: Unix milliseconds."""
    parts: list[tuple[int, str, int]] = page.evaluate("window.heard")
    bodies: dict[int, str] = defaultdict(str)
    last = {number: at for at, (number, *_) in enumerate(parts)}
    found: list[tuple[int, Any]] = []
    for at, (number, text, time) in enumerate(parts):
        bodies[number] += text
        *lines, rest = bodies[number].split("\n")
        if any(line.startswith(("data: ", "retry: ")) for line in lines):
            bodies[number] = rest
            found += [(time, json.loads(line[6:])) for line in lines if line.startswith("data: {")]
        elif last[number] == at and bodies[number].startswith("{"):
            with suppress(ValueError):
                found.append((time, json.loads(bodies[number])))
    return found


def hidden_cards(page: Any) -> list[Any]:
    """What the page was sent of other seats' hands before its game was over.

    The clocks of the page and of the service are one machine's: what comes
    after the end's own time may show everything, be it of an earlier event.
    """
    objects = [(time, one) for time, value in heard(page) for one in _objects(value)]
    seats = (one["viewer"]["seat"] for _, one in objects if "viewer" in one)
    own = next((seat for seat in seats if seat), None)
    ends = [one["at"] for _, one in objects if one.get("type") == "game_ended"]
    end = datetime.fromisoformat(ends[0]).timestamp() * 1000 if ends else float("inf")
    leaks: list[Any] = []
    for time, one in objects:
        if time >= end:
            continue
        if "viewer" in one and "seats" in one:
            leaks += [seat for seat in one["seats"] if "hand" in seat and seat["seat"] != own]
        leaks += [(one["seq"], seat) for seat in one.get("private", ()) if int(seat) != own]
    return leaks


def _objects(value: Any) -> Iterator[dict[str, Any]]:
    """Every object in a JSON value, that itself first."""
    if isinstance(value, dict):
        yield value
    for item in value.values() if isinstance(value, dict) else value:
        if isinstance(item, dict | list):
            yield from _objects(item)
