"""A real browser before a real server: Debian's Chromium, driven by Playwright."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
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
const ask = window.fetch;
window.fetch = async (...asked) => {
  const answer = await ask(...asked);
  const at = window.heard.push("") - 1;
  const reader = answer.clone().body?.pipeThrough(new TextDecoderStream()).getReader();
  (async () => {
    try {
      for (;;) {
        const { done, value } = await reader.read();
        if (done) return;
        window.heard[at] += value;
      }
    } catch { /* it was cut */ }
  })();
  return answer;
};
"""
"""Keeps every body that the page is sent, streams as far as they came."""


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
        context = browser.new_context(base_url=site, **{"locale": "en", "viewport": WIDE, **options})
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


def heard(page: Any) -> list[Any]:
    """Every JSON value that the page was sent, out of streams too."""
    found: list[Any] = []
    for body in page.evaluate("window.heard"):
        lines = [line.removeprefix("data: ") for line in body.splitlines() if line.startswith("data: ")]
        for text in lines or [body]:
            try:
                found.append(json.loads(text))
            except ValueError:
                continue
    return found


def hidden_cards(page: Any) -> list[Any]:
    """What the page was sent of other seats' hands while their game ran."""
    leaks: list[Any] = []

    def look(value: Any, own: int | None, *, runs: bool) -> None:
        if isinstance(value, list):
            for item in value:
                look(item, own, runs=runs)
        if not isinstance(value, dict):
            return
        if "viewer" in value and "seats" in value:
            own, runs = value["viewer"]["seat"], value["status"] in ("active", "held")
            leaks.extend(s for s in value["seats"] if runs and "hand" in s and s["seat"] != own)
        if "private" in value and runs:
            leaks.extend(seat for seat in value["private"] if own is not None and int(seat) != own)
        for item in value.values():
            look(item, own, runs=runs)

    own: int | None = None
    for value in heard(page):
        if isinstance(value, dict) and isinstance(value.get("viewer"), dict):
            own = value["viewer"]["seat"]
        look(value, own, runs=True)
    return leaks
