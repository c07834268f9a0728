"""The pages for people: a shell that plain modules fill, over the public API alone."""

from functools import cache

from flask import render_template

from service.api import answers
from service.api.languages import LANGUAGES, catalogue
from service.api.operation import HTML, JSON, Answer, Call, Operation, Returns
from service.play.refusals import Refusal

PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'"
)
"""Nothing from elsewhere, nothing inline, and no text that becomes markup."""

PAGE_HEADERS = {
    "Cache-Control": "no-cache",
    "Content-Security-Policy": PAGE_POLICY,
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}
CACHED = {"Cache-Control": "public, max-age=300"}


class LanguageNotFound(Refusal):
    """The pages do not speak it."""

    slug = "not-found"
    message = "There are no texts in `{name}`: `/rulesets` tells which languages there are."


def page_answer(module: str) -> Answer:
    """The page that the module fills."""
    return Answer(200, _shell(module), {**PAGE_HEADERS, "Vary": "Accept"}, HTML)


@cache
def _shell(module: str) -> str:
    return render_template("app.html", module=module)


def get_texts(_call: Call, language: str) -> Answer:
    """What the pages say, by the English of it."""
    if language not in LANGUAGES:
        raise LanguageNotFound(name=language)
    return Answer(200, {"language": language, "texts": dict(catalogue(language))}, CACHED)


def _page(name: str, path: str, summary: str, module: str) -> Operation:
    return Operation(
        id=name,
        method="GET",
        path=path,
        tag="Pages",
        summary=summary,
        view=lambda _call, **_path: page_answer(module),
        is_open=True,
        returns={200: Returns("The page.", {HTML: None})},
    )


OPERATIONS = (
    _page("tablePage", "/table/{game}", "Play at a table", "table"),
    _page("replayPage", "/replay/{game}", "Watch a game again, and check it", "replay"),
    _page("replayFilePage", "/replay", "Watch and check a file", "replay"),
    _page("refereePage", "/referee", "Work at the referee's desk", "referee"),
    Operation(
        id="readTexts",
        method="GET",
        path="/texts/{language}",
        tag="Pages",
        summary="What is said to people, in a language",
        view=get_texts,
        is_open=True,
        returns={200: Returns("The texts.", {JSON: answers.TextsSchema()})},
        refuses=("not-found",),
    ),
)
