"""What the pages say, in every language: from the same catalogues as the rest."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from flask.testing import FlaskClient

from service.api.languages import ENGLISH, LANGUAGES, catalogue
from service.rules.registry import current

SCRIPTS = sorted((Path(__file__).parents[2] / "service/api/static/app").glob("*.js"))
STRING = r'("(?:[^"\\]|\\.)*")'
SAID = (
    re.compile(rf"\b[tn]\(\s*{STRING}"),
    re.compile(rf"\bt\([^;\n]*?\?\s*{STRING}\s*:\s*{STRING}"),
)
STATES = (
    *("active", "held", "finished", "voided", "awarded"),
    *("under review", "passed", "failed", "not checked", "player", "admin"),
)
OTHERS = [language for language in LANGUAGES if language != ENGLISH]


def said() -> Iterator[str]:
    """Every text that a script says, wherever it says it."""
    for script in SCRIPTS:
        for pattern in SAID:
            for match in pattern.finditer(script.read_text()):
                yield from (json.loads(text) for text in match.groups())


def options(client: FlaskClient) -> Iterator[str]:
    """The names, words and hints of every house rule."""
    for name in current():
        schema = client.get(f"/rulesets/{name}").get_json()["options"]
        for option, about in next(iter(schema["$defs"].values()))["properties"].items():
            yield from (option, about["description"], *about.get("enum", ()))


def page_texts(client: FlaskClient) -> set[str]:
    """Every text that the pages may say."""
    hints = set(options(client))
    words = {text.replace("_", " ") for text in hints if " " not in text}
    return {text for text in said() if text} | set(STATES) | words | {t for t in hints if " " in t}


@pytest.mark.parametrize("language", OTHERS)
def test_every_text_of_the_pages_is_in_every_language(language: str, client: FlaskClient) -> None:
    wanted = page_texts(client)
    texts = client.get(f"/texts/{language}").get_json()["texts"]
    assert len(wanted) > 350
    assert sorted(wanted - set(texts)) == []


@pytest.mark.parametrize("language", OTHERS)
def test_a_text_has_the_same_names_in_it_in_every_language(language: str) -> None:
    def names(text: str) -> set[str]:
        return set(re.findall(r"\{(\w+)\}", text))

    wrong = [text for text, other in catalogue(language).items() if names(text) != names(other)]
    assert wrong == []


def test_the_texts_of_english_are_the_keys_and_of_no_language_there_are_none(
    client: FlaskClient,
) -> None:
    assert client.get("/texts/en").get_json() == {"language": "en", "texts": {}}
    assert client.get("/texts/xx").status_code == 404


def test_no_script_makes_markup_of_text_or_asks_another_site() -> None:
    forbidden = ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "//cdn")
    for script in SCRIPTS:
        text = script.read_text()
        assert not [word for word in forbidden if word in text], script.name
        assert not re.findall(r"https?://(?!www\.w3\.org/)", text), script.name


def test_the_pages_have_their_own_policy_and_nothing_else_does(client: FlaskClient) -> None:
    html = {"Accept": "text/html"}
    pages = ("/", "/table/01j00000000000000000000000", "/replay", "/referee")
    for path in pages:
        answer = client.get(path, headers=html)
        assert answer.mimetype == "text/html"
        policies = answer.headers.getlist("Content-Security-Policy")
        assert len(policies) == 1
        assert "script-src 'self'" in policies[0]
        assert "unsafe" not in policies[0]
        assert "<script>" not in answer.text
    assert client.get("/").mimetype == "application/json"
    assert client.get("/").headers["Vary"] == "Accept"
    told = client.get("/rulesets").headers.getlist("Content-Security-Policy")
    assert len(told) == 1
    assert "script-src" not in told[0]
