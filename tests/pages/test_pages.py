"""The pages, as people use them: whole games, replays that prove themselves, the referee's desk."""

import itertools
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from axe_playwright_python.sync_playwright import Axe
from pages.browsing import (  # noqa: F401  fixtures
    NARROW,
    WIDE,
    begin,
    browser,
    heard,
    hidden_cards,
    site,
    tab,
)

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


def until(page: Any, condition: str) -> None:
    """Wait for it; the page's policy lets no expression be evaluated in it, so it is asked."""
    for _ in range(400):
        if page.evaluate(condition):
            return
        page.wait_for_timeout(50)
    raise AssertionError(condition)


def step(page: Any) -> bool:
    """Make a move, if it is this person's turn: the first that the page offers."""
    return bool(
        page.evaluate(
            """() => {
              const main = document.querySelector("main.table.acting");
              const free = ":not([aria-disabled])";
              const find = (key) => document.querySelector(`[data-key="${key}"]${free}`);
              const busy = "[data-key=draw][aria-disabled], [data-key=pass][aria-disabled]";
              if (!main || document.querySelector(busy)) return false;
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
    views = [value for _, value in heard(page) if "viewer" in value]
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


def test_the_referees_story(  # noqa: PLR0915  a story
    tab: Any,  # noqa: F811
    key: str,
    tmp_path: Path,
) -> None:
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
    until(page, "document.querySelectorAll('.timeline li').length === 1")
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
        page.request.post(
            f"/admin/games/{game}/resume", data={}, headers={"Authorization": f"Bearer {key}"}
        )
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


@dataclass(frozen=True)
class World:
    """What there is to look at: games in every state, and a dispute."""

    token: str
    paths: dict[str, str]


@pytest.fixture(scope="module")
def world(browser: Any, site: str) -> Iterator[World]:  # noqa: F811
    page = browser.new_page(base_url=site)
    people = [Api(page, name) for name in ("Ilze", "Jānis", "Anna")]
    boom = running(people)
    rummy = running(people, ruleset="crazy-rummy")
    moved(people, rummy, 9)
    ended = running(people, ruleset="crazy-rummy")
    moved(people, ended, STEPS_AT_MOST)
    asked = {"ruleset": "crazy-rummy", "seats": 4}
    waiting = people[0].call("POST", "/games", asked)["view"]["game"]
    people[1].call(
        "POST", f"/games/{rummy}/disputes", {"reason": "conduct", "seqs": [9], "statement": "x"}
    )
    paths = {
        "lobby": "/",
        "waiting": f"/table/{waiting}",
        "boom": f"/table/{boom}",
        "rummy": f"/table/{rummy}",
        "ended": f"/table/{ended}",
        "replay": f"/replay/{ended}#20",
        "file": "/replay",
        "referee": "/referee",
        "missing": f"/table/{'0' * 26}",
    }
    yield World(people[0].token, paths)
    page.close()


LOOKS = {
    "en": {"viewport": WIDE, "color_scheme": "light"},
    "lv": {"viewport": NARROW, "color_scheme": "dark"},
    "hy": {"viewport": NARROW, "color_scheme": "light"},
}


def see_a_case(page: Any, key: str) -> None:
    """At the referee's desk: the newest dispute, its hands, a preview."""
    page.evaluate("key => sessionStorage.setItem('admin-key', key)", key)
    page.reload()
    page.locator(".cases button").first.click()
    page.locator(".look textarea").fill("The player says that Anna saw the cards.")
    page.locator(".look .primary").click()
    page.locator(".sides .hand .card").first.wait_for()


@pytest.mark.parametrize("language", LOOKS)
def test_nothing_serious_is_wrong_with_any_page_in_any_language(
    language: str,
    world: World,
    tab: Any,  # noqa: F811
    key: str,
) -> None:
    page = tab(locale=language, **LOOKS[language])
    page.goto("/replay")
    page.evaluate("token => localStorage.setItem('key', token)", world.token)
    found: dict[str, Any] = {}
    for name, path in world.paths.items():
        page.goto(path)
        page.locator("main :is(h1, p)").first.wait_for()
        page.wait_for_load_state("networkidle") if name in ("file", "replay") else None
        if name == "referee":
            see_a_case(page, key)
        if name == "replay":
            page.locator("[data-key=check]").click()
            page.locator(".outcome").wait_for()
        for summary in page.locator("main summary").all():
            summary.click()
        assert page.evaluate("document.documentElement.lang") == language
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), name
        untold = page.evaluate("import('/static/app/i18n.js').then((it) => [...it.missing])")
        assert untold == [], name
        results = Axe().run(page, options={"resultTypes": ["violations"]}).response
        found[name] = [
            (
                one["id"],
                one["nodes"][0]["html"][:200],
                one["nodes"][0].get("failureSummary", "")[:300],
            )
            for one in results["violations"]
            if one["impact"] in ("serious", "critical")
        ]
    assert {name: wrong for name, wrong in found.items() if wrong} == {}


def reach(page: Any, selector: str) -> None:
    """Go there by the Tab key alone."""
    for _ in range(120):
        page.keyboard.press("Tab")
        if page.evaluate("selector => document.activeElement.matches(selector)", selector):
            return
    raise AssertionError(f"{selector} is not reached by keyboard")


@pytest.mark.parametrize("viewport", [WIDE, NARROW], ids=["wide", "narrow"])
def test_everything_is_done_by_keyboard_alone(viewport: Any, tab: Any) -> None:  # noqa: F811
    page = tab(viewport=viewport)
    page.goto("/")
    page.get_by_label("Your name").wait_for()
    reach(page, "input[type=text]")
    page.keyboard.type("Ilze")
    page.keyboard.press("Enter")
    page.get_by_text("You play as Ilze.").wait_for()
    page.locator("form button.primary").wait_for()
    reach(page, "form button.primary")
    page.keyboard.press("Enter")
    page.wait_for_url("**/table/*")
    page.locator("[data-key=shuffle]").wait_for()
    reach(page, "[data-key=shuffle]")
    page.keyboard.press("Enter")
    page.locator("main.acting .actions").wait_for()
    reach(page, "[data-key=draw], [data-key=out], .hand.own .card")
    if page.locator("[data-key=draw]").count():
        page.locator("[data-key=draw]").focus()
        page.keyboard.press("Enter")
        page.locator("[data-key=out]").wait_for()
    reach(page, ".hand.own .card")
    page.keyboard.press("Space")
    page.locator(".hand.own .card.selected").wait_for()
    page.keyboard.press("Escape")
    until(page, "!document.querySelector('.hand.own .card.selected')")
    page.keyboard.press("Space")  # the focus is still on that card
    page.locator(".hand.own .card.selected").wait_for()
    before = page.locator(".hand.own .card").count()
    reach(page, "[data-key=out]")
    page.keyboard.press("Enter")
    until(page, f"document.querySelectorAll('.hand.own .card').length < {before}")
    page.goto(page.url.replace("/table/", "/replay/"))
    page.locator(".lines li").nth(5).wait_for()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    page.wait_for_url("**#3")


@pytest.mark.parametrize("viewport", [WIDE, NARROW], ids=["wide", "narrow"])
def test_the_referees_desk_is_worked_at_by_keyboard_alone(
    viewport: Any,
    tab: Any,  # noqa: F811
    key: str,
) -> None:
    page = tab(viewport=viewport)
    people = [Api(page, name) for name in ("Ilze", "Jānis", "Anna")]
    game = running(people)
    at = people[0].call("GET", f"/games/{game}")["version"]
    asked = {"reason": "other", "seqs": [at], "statement": "It was not my turn."}
    people[0].call("POST", f"/games/{game}/disputes", asked)
    page.goto("/referee")
    page.get_by_label("Admin key").wait_for()
    reach(page, "input[type=password]")
    page.keyboard.type(key)
    page.keyboard.press("Enter")
    page.locator(".cases button").first.wait_for()
    reach(page, ".cases button")
    page.keyboard.press("Enter")
    page.get_by_text("It was not my turn.").wait_for()
    reach(page, ".look textarea")
    page.keyboard.type("The player says that it was not their turn.")
    reach(page, ".look .primary")
    page.keyboard.press("Enter")
    page.locator(".sides .hand button").first.wait_for()
    reach(page, ".sides .hand button")
    page.keyboard.press("Enter")
    page.locator(".tried li").wait_for()
    reach(page, "[data-key=remedy]")
    page.keyboard.type("void")
    reach(page, ".ruling textarea")
    page.keyboard.type("The game was spoilt.")
    reach(page, "[data-key='See what it would do']")
    page.keyboard.press("Enter")
    page.locator(".preview").wait_for()
    page.once("dialog", lambda dialog: dialog.accept())
    reach(page, ".ruling .danger")
    page.keyboard.press("Enter")
    page.get_by_text("Ruled: upheld").wait_for()
    assert people[0].call("GET", f"/games/{game}")["status"] == "voided"


def at_a_table(tab: Any, **body: Any) -> tuple[Any, list[Api], str]:  # noqa: F811
    """The page of the person who begins a rummy game, all its people, and its id."""
    page = tab()
    people = [Api(page, name) for name in ("Ilze", "Jānis", "Anna")]
    game = running(people, **{"ruleset": "crazy-rummy", **body})
    first = people[people[0].call("GET", f"/games/{game}")["to_act"] - 1]
    page.goto("/")
    page.evaluate("token => localStorage.setItem('key', token)", first.token)
    page.goto(f"/table/{game}")
    page.locator(".hand.own .card").first.wait_for()
    return page, people, game


def test_what_a_refusal_means_is_said_with_its_rule(tab: Any) -> None:  # noqa: F811
    page, people, game = at_a_table(tab)
    first = people[people[0].call("GET", f"/games/{game}")["to_act"] - 1]
    hand = first.call("GET", f"/games/{game}")
    legal = [m for m in hand["legal_moves"] if m["type"] == "meld"]
    cards = page.locator(".hand.own .card")
    names = [one.get_attribute("data-card") for one in cards.all()]
    wrong = next(
        three
        for three in itertools.combinations(names, 3)
        if not any(set(three) == set(meld["cards"]) for meld in legal)
        and not any(card[0] == hand["table"]["wild"] for card in three)
    )
    for card in wrong:
        page.locator(f'.hand.own [data-card="{card}"]').click()
    page.get_by_role("button", name="Meld").click()
    page.locator(".toast .rule").wait_for()
    assert re.match(r"C\d+ \S+", page.locator(".toast .rule").inner_text())


def place(found: Any) -> Any:
    """Where it stands on the page; while it is drawn anew it stands nowhere."""
    deadline = time.monotonic() + 10
    while (box := found.bounding_box()) is None:
        assert time.monotonic() < deadline, "it is never there"
        time.sleep(0.05)
    return box


def test_cards_are_dragged_to_where_they_belong(tab: Any) -> None:  # noqa: F811
    page, people, game = at_a_table(tab)
    first = people[people[0].call("GET", f"/games/{game}")["to_act"] - 1]
    cards = page.locator(".hand.own .card")
    dragged = cards.first.get_attribute("data-card")
    page.locator(".side .lines li").nth(3).wait_for()  # nothing more is to be drawn
    source, target = place(cards.first), place(page.locator("[data-drop=discard]"))
    page.mouse.move(source["x"] + 20, source["y"] + 30)
    page.mouse.down()
    page.mouse.move(source["x"] + 20, source["y"] - 40)
    page.mouse.move(target["x"] + 20, target["y"] + 30, steps=5)
    page.mouse.up()
    until(page, "!document.querySelector('main.acting')")
    assert first.call("GET", f"/games/{game}")["table"]["discard"]["top"] == dragged


def test_a_private_table_is_joined_by_its_invitation(tab: Any) -> None:  # noqa: F811
    ilze, janis = tab(), tab()
    begin(ilze, "Ilze")
    begin(janis, "Jānis")
    ilze.get_by_label("Players").select_option("3")
    ilze.get_by_label("Seat 2", exact=True).select_option("")
    ilze.get_by_text("House rules").click()
    ilze.get_by_label("Private table").check()
    ilze.get_by_role("button", name="Open the table").click()
    ilze.wait_for_url("**/table/*")
    janis.goto(ilze.url)
    janis.get_by_text("There is no such table, or it is private.").wait_for()
    ilze.get_by_role("button", name="Copy an invitation").click()
    ilze.get_by_text("Whoever has this link").wait_for()
    janis.goto("/")
    janis.goto(ilze.locator("#invitation").inner_text())
    janis.get_by_text("You are invited").wait_for()
    reach(janis, ".skip")
    janis.keyboard.press("Enter")
    assert "invitation=" in janis.url
    janis.get_by_role("button", name="Sit down").click()
    for page in (ilze, janis):
        page.locator(".hand.own .card").first.wait_for()


def test_a_move_by_keyboard_leaves_the_focus_at_the_hand(tab: Any) -> None:  # noqa: F811
    page, _, _ = at_a_table(tab)
    page.locator(".hand.own .card").first.focus()
    page.keyboard.press("Space")
    reach(page, "[data-key=out]")
    page.keyboard.press("Enter")
    until(page, "!document.querySelector('main.acting')")
    assert page.evaluate("document.activeElement !== document.body")


def test_what_is_typed_and_read_at_a_table_stays_while_the_others_play(tab: Any) -> None:  # noqa: F811
    page, people, game = at_a_table(tab, turn_seconds=600)
    page.get_by_text("File a dispute").click()
    page.get_by_label("What is wrong").fill("Anna loo")
    page.get_by_label("What is wrong").focus()
    before = page.get_by_label("Events", exact=True).input_value()
    moved(people, game, 3)
    until(page, f"document.querySelector('.lines li a').textContent > '{before}'")
    page.wait_for_timeout(1500)  # the clock ticks meanwhile
    page.keyboard.type("ked.")
    assert page.get_by_label("What is wrong").input_value() == "Anna looked."
    assert page.get_by_label("Events", exact=True).input_value() > before


def test_a_key_that_is_none_or_was_revoked_is_said_to_be(tab: Any) -> None:  # noqa: F811
    page = tab()
    page.goto("/")
    page.get_by_text("I have a key").click()
    page.get_by_label("Key", exact=True).fill("fd_pk_abc…")
    page.get_by_role("button", name="Use it").click()
    page.get_by_text("There is no such key.").wait_for()
    page.evaluate("localStorage.setItem('key', 'fd_pk_abc…')")
    page.reload()
    page.get_by_label("Your name").wait_for()
    page, _, game = at_a_table(tab)
    token = page.evaluate("localStorage.getItem('key')")
    own = {"Authorization": f"Bearer {token}"}
    keys = page.request.get("/players/me/keys", headers=own).json()["items"]
    page.request.delete(f"/players/me/keys/{keys[0]['id']}", headers=own)
    page.goto(f"/table/{game}")
    page.get_by_text("Your key is not good any more.").wait_for()
    assert page.evaluate("localStorage.getItem('key')") is None


def test_at_the_desk_nothing_of_one_case_is_left_in_the_next(tab: Any, key: str) -> None:  # noqa: F811
    page = tab()
    people = [Api(page, name) for name in ("Ilze", "Jānis", "Anna")]
    for words in ("The first case.", "The second case."):
        game = running(people)
        asked = {"reason": "other", "seqs": [], "statement": words}
        people[0].call("POST", f"/games/{game}/disputes", asked)
    page.goto("/referee")
    page.evaluate("key => sessionStorage.setItem('admin-key', key)", key)
    page.reload()
    page.locator(".cases button").nth(0).click()
    page.get_by_text("The second case.").wait_for()
    page.get_by_label("Say something").fill("For us alone.")
    page.get_by_label("Who reads it").select_option("admins")
    page.get_by_label("Reason, for the players").fill("So it is.")
    page.get_by_label("Remedy").select_option("void")
    page.get_by_role("button", name="Take it on").click()
    page.get_by_role("button", name="Put it back").wait_for()
    assert page.get_by_label("Who reads it").input_value() == "admins"
    assert page.get_by_label("Say something").input_value() == "For us alone."
    page.locator(".look textarea").fill("The player says that Anna saw the cards.")
    page.locator(".look .primary").click()
    page.locator(".sides .hand .card").first.wait_for()
    page.locator(".cases button").nth(1).click()
    page.get_by_text("The first case.").wait_for()
    assert page.get_by_label("Say something").input_value() == ""
    assert page.get_by_label("Reason, for the players").input_value() == ""
    assert page.get_by_label("Remedy").input_value() == "none"
    assert page.locator(".sides").count() == 0
    page.get_by_role("button", name="Leave").click()
    page.get_by_label("Admin key").fill(key)
    page.get_by_role("button", name="Come in").click()
    page.locator(".cases button").nth(0).click()
    page.get_by_text("The second case.").wait_for()
    assert page.locator(".sides").count() == 0


def test_the_first_look_at_a_table_is_small(world: World, tab: Any) -> None:  # noqa: F811
    page = tab()
    sizes: list[int] = []
    page.on("requestfinished", lambda asked: sizes.append(asked.sizes()["responseBodySize"]))
    page.goto(world.paths["rummy"])
    page.locator(".middle").wait_for()
    page.wait_for_timeout(500)
    assert 20_000 < sum(sizes) < 200_000
