"""The rulesets: what there is to play, and the rules by number."""

from collections.abc import Mapping
from functools import cache

from service.api import answers
from service.api.describing import json_schema, moves_json_schema
from service.api.languages import language_of
from service.api.operation import JSON, Answer, Call, Operation, Returns
from service.canonical import JsonMap
from service.play.refusals import RulesetNotFound
from service.rules.registry import UnknownRuleset, current, find, rulesets, schemas_of
from service.rules.ruleset import AnyRuleset

CACHED: Mapping[str, str] = {"Cache-Control": "public, max-age=300", "Vary": "Accept-Language"}


def get_rulesets(_call: Call) -> Answer:
    """List rulesets."""
    items = [_item(ruleset) for ruleset in current().values()]
    return Answer(200, {"items": items, "next_cursor": None}, CACHED)


def get_ruleset(call: Call, name: str, version: str | None = None) -> Answer:
    """Describe a ruleset."""
    try:
        ruleset = find(name, version)
    except UnknownRuleset as error:
        raise RulesetNotFound(name=name, version=version or "newest") from error
    language = language_of(call.request)
    texts = ruleset.texts[language]
    body: JsonMap = {
        **_item(ruleset),
        **_shapes(ruleset.name, ruleset.version),
        "rules": [{"rule": rule, "text": text} for rule, text in texts.items()],
    }
    return Answer(200, body, {**CACHED, "Content-Language": language})


@cache
def _shapes(name: str, version: str) -> JsonMap:
    """Options and moves as JSON Schema: the same for as long as the process lives."""
    ruleset = find(name, version)
    options = json_schema(schemas_of(ruleset).OPTIONS)
    return {"options": options, "moves": moves_json_schema(ruleset)}


def _item(ruleset: AnyRuleset) -> JsonMap:
    return {
        "name": ruleset.name,
        "version": ruleset.version,
        "title": ruleset.title,
        "seats": {"least": ruleset.seats[0], "most": ruleset.seats[-1]},
        "versions": [version for name, version in rulesets() if name == ruleset.name],
        "url": f"/rulesets/{ruleset.name}/{ruleset.version}",
    }


OPERATIONS = (
    Operation(
        id="listRulesets",
        method="GET",
        path="/rulesets",
        tag="Rulesets",
        summary="List what there is to play",
        view=get_rulesets,
        is_open=True,
        returns={200: Returns("The rulesets.", {JSON: answers.RulesetsSchema()})},
    ),
    Operation(
        id="describeNewestRuleset",
        method="GET",
        path="/rulesets/{name}",
        tag="Rulesets",
        summary="A ruleset, in its newest version",
        view=get_ruleset,
        is_open=True,
        returns={200: Returns("The ruleset.", {JSON: answers.RulesetSchema()})},
        refuses=("ruleset-not-found",),
    ),
    Operation(
        id="describeRuleset",
        method="GET",
        path="/rulesets/{name}/{version}",
        tag="Rulesets",
        summary="A ruleset, in one version",
        description="Options and moves as JSON Schema, and the rules by the numbers that "
        "refusals cite, in the language of `Accept-Language`: en, lv or hy.",
        view=get_ruleset,
        is_open=True,
        returns={200: Returns("The ruleset.", {JSON: answers.RulesetSchema()})},
        refuses=("ruleset-not-found",),
    ),
)
