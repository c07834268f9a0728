"""What the service says to people, in their language; `code`, `type` and enums never change.

The catalogues are PO files beside this module, read by Babel when the process
starts. What a game's rules say stands with its ruleset.
"""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType

from babel.messages.pofile import read_po
from flask import Request

from service.play.refusals import IllegalMove, Refusal

ENGLISH = "en"
LANGUAGES = (ENGLISH, "lv", "hy")
TEXTS = Path(__file__).parent / "texts"


def language_of(request: Request) -> str:
    """The language that the request asks for, of those that there are; English unless it does."""
    for tag, quality in request.accept_languages:
        language = tag.partition("-")[0].lower()
        if quality > 0 and language in LANGUAGES:
            return language
    return ENGLISH


@cache
def catalogue(language: str) -> Mapping[str, str]:
    """The texts of a language by the English ones; empty for English."""
    if language == ENGLISH:
        return MappingProxyType({})
    with (TEXTS / f"{language}.po").open("rb") as file:
        messages = read_po(file, locale=language)
    return MappingProxyType(
        {str(message.id): str(message.string) for message in messages if message.string}
    )


def translated(text: str, language: str) -> str:
    """The text in that language; as it is where there is no other."""
    return catalogue(language).get(text, text)


def detail_of(refusal: Refusal, language: str) -> str:
    """Why the request is refused, in that language."""
    if isinstance(refusal, IllegalMove):
        violation = refusal.violation
        messages = refusal.ruleset.messages.get(language, {})
        return messages.get(violation.message, violation.message).format(**violation.params)
    return translated(refusal.message, language).format(**refusal.params)
