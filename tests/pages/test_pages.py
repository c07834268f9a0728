"""The pages, as people use them: whole games, replays that prove themselves, the referee's desk."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from pages.browsing import begin, browser, heard, hidden_cards, site, tab  # noqa: F401  fixtures

from service.play.admins import ADMIN_SCOPES
from service.play.services import new_ulid, utc_now
from service.play.tokens import ADMIN_PREFIX, digest, make_token
from service.store.admins import AdminKey, add_admin_key, owner_engine
from service.store.embedded import Urls

STEPS_AT_MOST = 400


def opened(page: Any, game: str, seats: dict[int, str], **fields: str) -> str:
    """Open a table in the lobby; its path."""
    page.get_by_label("Game", exact=True).select_option(game)
    page.get_by_label("Players").select_option(str(len(seats) + 1))
    for seat, who in seats.items():
        page.get_by_label(f"Seat {seat}", exact=True).select_option(who)
    page.get_by_text("House rules").click()
    for label, value in fields.items():
        page.get_by_label(label, exact=True).fill(value)
    page.get_by_role("button", name="Open the table").click()
    page.wait_for_url("**/table/*")
    page.locator(".wait").wait_for()
    return str(page.url)


def step(page: Any) -> bool:
    """Make a move, if it is this person's turn: the first that the page offers."""
    return bool(
        page.evaluate(
            """() => {
              const main = document.querySelector("main.table.acting");
              const find = (key) => document.querySelector(`[data-key="${key}"]:not(:disabled)`);
              if (!main || document.querySelector(".actions button:disabled:not([data-key=meld]):not([data-key=out])")) return false;
              const answer = find("answer-0");
              if (answer) { answer.click(); return true; }
              const draw = find("draw") ?? find("pass");
              const legal = document.querySelector(".hand.own .card.legal");
              if (main.querySelector(".melds")) {
                if (draw) { draw.click(); return true; }
                const out = find("out");
                if (out) { out.click(); return true; }
                legal?.click();
                return Boolean(legal);
              }
              const next = legal ?? draw;
              next?.click();
              return Boolean(next);
            }"""
        )
    )


def play_to_the_end(pages: list[Any], *, stop: Callable[[int], None] = lambda _: None) -> None:
    """Whoever is to act moves, until the game is over for everybody."""
    for number in range(STEPS_AT_MOST):
        if all(page.locator(".result").count() for page in pages):
            return
        moved = [step(page) for page in pages]
        if not any(moved):
            pages[0].wait_for_timeout(60)
        stop(number)
    raise AssertionError("the game does not end")


def own_hands(page: Any) -> int:
    """How often the page was sent a hand of its own."""
    views = [value for value in heard(page) if isinstance(value, dict) and "viewer" in value]
    return sum("hand" in seat for view in views for seat in view["seats"])


@pytest.mark.parametrize("game", ["jokers-go-boom", "crazy-rummy"])
def test_two_people_and_a_bot_play_a_game_through(game: str, tab: Any) -> None:  # noqa: F811
    ilze, janis = tab(), tab()
    begin(ilze, "Ilze")
    begin(janis, "Jānis")
    where = opened(ilze, game, {2: "", 3: "steady"}, rounds="1")
    ilze.get_by_role("button", name="Put them in").click()
    ilze.get_by_text("Your words are in the shuffle.").wait_for()
    janis.goto(where)
    janis.get_by_role("button", name="Sit down in seat 2").click()
    for page in (ilze, janis):
        page.locator(".hand.own .card").first.wait_for()

    def cut(number: int) -> None:
        """In the middle of the game Ilze is away for a while."""
        if number == 6:
            ilze.context.set_offline(True)
            for _ in range(10):
                step(janis)
                janis.wait_for_timeout(50)
            ilze.context.set_offline(False)

    play_to_the_end([ilze, janis], stop=cut)
    assert ilze.locator(".result").inner_text() == janis.locator(".result").inner_text()
    for page in (ilze, janis):
        assert hidden_cards(page) == []
        assert own_hands(page) > 5  # what is looked through is what was sent
    ilze.get_by_role("link", name="Watch and check this game").first.click()
    ilze.get_by_role("button", name="Check this game").click()
    ilze.locator(".outcome").wait_for()
    ilze.get_by_role("button", name="Let the service check the moves").click()
    ilze.locator('[data-check="moves"].passed').wait_for()
    assert ilze.locator(".checks .failed").count() == 0
    assert ilze.locator(".checks .passed").count() >= 9


class Api:
    """A player who calls the service without a page."""

    def __init__(self, page: Any, name: str) -> None:
        self.request = page.request
        made = self._sent("POST", "/players", {"name": name})
        self.id, self.token = made["player"]["id"], made["key"]["token"]

    def call(self, method: str, path: str, body: Any = None, **headers: str) -> Any:
        own = {"Authorization": f"Bearer {self.token}", **headers}
        return self._sent(method, path, body, **own)

    def _sent(self, method: str, path: str, body: Any = None, **headers: str) -> Any:
        key = {"Idempotency-Key": uuid4().hex} if method == "POST" and path != "/players" else {}
        answer = self.request.fetch(path, method=method, data=body, headers={**headers, **key})
        return answer.json()


def running(people: list[Api], **body: Any) -> str:
    """A game of these people, started; its id."""
    asked = {"ruleset": "jokers-go-boom", "seats": len(people), "options": {"rounds": 1}, **body}
    game: str = people[0].call("POST", "/games", asked)["view"]["game"]
    for person in people[1:]:
        person.call("POST", f"/games/{game}/seats", {})
    return game


def moved(people: list[Api], game: str, times: int) -> None:
    """That many moves, or as many as there are to the end."""
    for _ in range(times):
        view = people[0].call("GET", f"/games/{game}")
        if view["status"] != "active":
            return
        mover = people[view["to_act"] - 1]
        move = mover.call("GET", f"/games/{game}")["legal_moves"][0]
        mover.call("POST", f"/games/{game}/moves", {"move": move})


@pytest.fixture
def key(urls: Urls) -> Iterator[str]:
    """An admin's key, with every scope."""
    token = make_token(uuid4().bytes + uuid4().bytes, ADMIN_PREFIX)
    made = AdminKey(
        id=new_ulid(), name="Referee", scopes=ADMIN_SCOPES, players=(), created_at=utc_now()
    )
    engine = owner_engine(urls.owner)
    add_admin_key(engine, made, digest(token))
    yield token
    engine.dispose()


def test_the_referees_story(tab: Any, key: str, tmp_path: Path) -> None:  # noqa: F811
    page = tab()
    people = [Api(page, name) for name in ("Ilze", "Jānis", "Anna")]
    game = running(people)
    moved(people, game, 5)
    version = people[0].call("GET", f"/games/{game}")["version"]
    people[0].call("POST", f"/games/{game}/moves", {"move": {"type": "pass"}})  # refused
    player = tab()
    player.goto("/")
    player.evaluate("token => localStorage.setItem('key', token)", people[1].token)
    player.goto(f"/table/{game}")
    player.get_by_text("File a dispute").click()
    player.get_by_label("Events", exact=True).fill(str(version))
    player.get_by_label("What is wrong").fill("Anna looked at my cards.")
    player.get_by_role("button", name="File it").click()
    player.get_by_text("It is filed").wait_for()
    moved(people, game, 2)

    page.goto("/referee")
    page.get_by_label("Admin key").fill(key)
    page.get_by_role("button", name="Come in").click()
    page.locator(".cases button").first.click()
    page.get_by_text("Anna looked at my cards.").wait_for()
    page.get_by_role("button", name="Take it on").click()
    page.get_by_role("button", name="Put it back").wait_for()
    page.get_by_role("button", name="Hold the game").click()
    page.get_by_text("The game is held.").first.wait_for()
    assert page.locator(".timeline .attempt").count() == 1
    page.get_by_label("Kind").select_option("attempt")
    page.wait_for_function("document.querySelectorAll('.timeline li').length === 1")
    page.get_by_label("Kind").select_option("")
    page.get_by_label("Why").fill("The player says that Anna saw the cards.")
    page.get_by_role("button", name="See them").click()
    page.locator(".sides .hand .card").first.wait_for()
    assert page.locator(".sides .side").count() == 3
    page.locator(".sides .side.acts .hand button").first.click()
    page.locator(".tried li").first.wait_for()
    page.get_by_label("Remedy").select_option("rewind")
    page.get_by_label("Back to event").fill(str(version))
    page.get_by_label("Reason, for the players").fill("The cards were seen.")
    page.get_by_role("button", name="See what it would do").click()
    page.locator(".preview").wait_for()
    assert "rewound" in page.locator(".preview").inner_text()
    page.once("dialog", lambda dialog: dialog.accept())
    page.get_by_role("button", name="Rule", exact=True).click()
    page.get_by_text("Ruled: upheld").wait_for()
    page.get_by_role("button", name="Trail").click()
    page.get_by_text("hidden-read", exact=True).first.wait_for()
    assert page.evaluate("localStorage.getItem('admin-key')") is None

    view = people[0].call("GET", f"/games/{game}")
    if view["status"] == "held":
        page.request.post(f"/admin/games/{game}/resume", data={}, headers={"Authorization": f"Bearer {key}"})
    moved(people, game, STEPS_AT_MOST)
    page.goto(f"/replay/{game}")
    page.locator(".lines .taken-back").first.wait_for()
    taken = int(page.locator(".lines .taken-back").first.get_attribute("data-seq"))
    page.goto(f"/replay/{game}#{taken}")
    page.get_by_text("it does not count").wait_for()
    page.get_by_role("button", name="Check this game").click()
    page.locator("[data-outcome=incomplete]").wait_for()

    text = page.request.get(f"/games/{game}/export").text()
    lines = text.splitlines(keepends=True)
    tampered = tmp_path / "tampered.jsonl"
    tampered.write_text("".join([*lines[:9], lines[9].replace('"seat":', '"seat": '), *lines[10:]]))
    whole = tmp_path / "whole.jsonl"
    whole.write_text(text)
    for file, outcome in ((whole, "incomplete"), (tampered, "failed")):
        page.goto("/replay")
        page.get_by_label("Choose a file").set_input_files(file)
        page.get_by_role("button", name="Check this game").click()
        page.locator(f"[data-outcome={outcome}]").wait_for()
        assert page.locator(".lines li").count() == (len(lines) - 2 if file == whole else 0)
