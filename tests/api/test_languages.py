"""English, Latvian, Armenian: nothing is missing in any of them."""

import ast
import string
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import Person
from flask.testing import FlaskClient
from pages.test_texts import page_texts

import service.api
import service.rules
from service.api.languages import ENGLISH, LANGUAGES, catalogue
from service.api.problems import BY_STATUS, FAILED, PROBLEMS, UNAVAILABLE
from service.play.refusals import Refusal
from service.rules.registry import folder_of, rulesets
from service.rules.ruleset import AnyRuleset

OTHERS = [language for language in LANGUAGES if language != ENGLISH]
RULES_FOLDER = Path(service.rules.__path__[0])


def refusals(kind: type[Refusal] = Refusal) -> Iterator[type[Refusal]]:
    for child in kind.__subclasses__():
        yield child
        yield from refusals(child)


def said_by_the_service() -> set[str]:
    titles = {page.title for page in PROBLEMS.values()}
    meanings = {PROBLEMS[slug].meaning for slug in (*BY_STATUS.values(), "bad-request")}
    messages = {kind.message for kind in refusals() if "message" in vars(kind)}
    return titles | meanings | messages | {FAILED, UNAVAILABLE}


def said_by(ruleset: AnyRuleset) -> set[str]:
    """The templates of every RuleViolation that is raised in the ruleset's folder."""
    found = set()
    for file in (RULES_FOLDER / folder_of(ruleset)).glob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "RuleViolation":
                found.add(ast.literal_eval(node.args[1]))
    return found


def placeholders(text: str) -> list[str]:
    return sorted(name for _, name, _, _ in string.Formatter().parse(text) if name)


@pytest.mark.parametrize("language", OTHERS)
def test_every_text_of_the_service_is_there(language: str, client: FlaskClient) -> None:
    texts = catalogue(language)
    assert set(texts) - {""} == said_by_the_service() | page_texts(client)
    for english, other in texts.items():
        assert other.strip()
        assert placeholders(english) == placeholders(other)


@pytest.mark.parametrize("ruleset", rulesets().values(), ids=lambda ruleset: ruleset.name)
def test_every_refusal_of_a_ruleset_is_there(ruleset: AnyRuleset) -> None:
    english = said_by(ruleset)
    assert len(english) > 5
    assert set(ruleset.texts) == set(LANGUAGES)
    assert set(ruleset.messages) == set(OTHERS)
    for messages in ruleset.messages.values():
        assert set(messages) == english
        for template, other in messages.items():
            assert placeholders(template) == placeholders(other)
            assert other != template


@pytest.mark.parametrize(
    ("asked", "given"),
    [
        ("lv", "lv"),
        ("hy-AM, en;q=0.5", "hy"),
        ("de, lv;q=0.3", "lv"),
        ("de", "en"),
        ("en-GB", "en"),
        ("", "en"),
        ("*", "en"),
        ("nonsense;;q=x", "en"),
    ],
)
def test_a_problem_is_told_in_the_language_that_is_asked_for(
    client: FlaskClient, asked: str, given: str
) -> None:
    answer = client.get("/games?limit=0", headers={"Accept-Language": asked})
    titles = {"en": "Invalid query", "lv": "Nederīgs vaicājuma", "hy": "Հարցման սխալ"}
    assert answer.get_json()["title"].startswith(titles[given])
    assert answer.headers["Content-Language"] == given
    assert answer.get_json()["code"] == "invalid_query"
    assert answer.get_json()["type"] == "/problems/invalid-query"


@pytest.mark.parametrize(
    ("language", "begins"),
    [("en", "Nobody passes"), ("lv", "Kamēr kaudzē"), ("hy", "Քանի դեռ")],
)
def test_an_illegal_move_is_told_in_the_words_of_its_ruleset(
    ilze: Person, language: str, begins: str
) -> None:
    body = {"ruleset": "jokers-go-boom", "seats": 3, "bots": [{"seat": 2}, {"seat": 3}]}
    game = ilze.post("/games", body).get_json()["view"]["game"]
    ilze.put(f"/games/{game}/seats/1/contribution", {"contribution": ""})
    version = ilze.view(game)["version"]
    answer = ilze.post(
        f"/games/{game}/moves",
        {"move": {"type": "pass"}, "expected_version": version},
        headers={"Accept-Language": language},
    )
    assert answer.get_json()["detail"].startswith(begins)
    assert answer.get_json()["rule"] == "G11"


def test_the_rules_are_told_in_each_language_under_the_same_numbers(client: FlaskClient) -> None:
    for ruleset in rulesets().values():
        told: dict[str, Any] = {}
        for language in LANGUAGES:
            answer = client.get(
                f"/rulesets/{ruleset.name}/{ruleset.version}",
                headers={"Accept-Language": language},
            )
            assert answer.headers["Content-Language"] == language
            assert "Accept-Language" in answer.headers["Vary"]
            told[language] = answer.get_json()["rules"]
        numbers = {language: [rule["rule"] for rule in rules] for language, rules in told.items()}
        assert numbers["en"] == numbers["lv"] == numbers["hy"]
        assert told["en"] != told["lv"] != told["hy"]
