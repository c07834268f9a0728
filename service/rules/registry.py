"""The rulesets that there are: each folder beside this file that holds a RULESET."""

from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from types import MappingProxyType, ModuleType

from service import rules
from service.rules.ruleset import AnyRuleset


class UnknownRuleset(LookupError):
    """No ruleset has that name, or none that version."""


@cache
def rulesets() -> Mapping[tuple[str, str], AnyRuleset]:
    """Every ruleset that games may be stored under, by name and version."""
    found = (ruleset for folder in _folders() for ruleset in folder.RULESETS)
    return MappingProxyType({(ruleset.name, ruleset.version): ruleset for ruleset in found})


@cache
def current() -> Mapping[str, AnyRuleset]:
    """The rulesets that new games are played by: of each name the newest version."""
    newest = (folder.RULESETS[-1] for folder in _folders())
    return MappingProxyType({ruleset.name: ruleset for ruleset in newest})


def find(name: str, version: str | None = None) -> AnyRuleset:
    """The ruleset of that name, the newest unless a version is given.

    Raises UnknownRuleset.
    """
    try:
        return rulesets()[name, version] if version is not None else current()[name]
    except KeyError as error:
        raise UnknownRuleset(name, version) from error


def schemas_of(ruleset: AnyRuleset) -> ModuleType:
    """The ruleset's `schemas` module: the one that knows how its JSON is checked at the edge."""
    return import_module(f"{rules.__name__}.{folder_of(ruleset)}.schemas")


def folder_of(ruleset: AnyRuleset) -> str:
    """The name of the folder that holds the ruleset: its name, as Python writes it."""
    return ruleset.name.replace("-", "_")


def _folders() -> Iterator[ModuleType]:
    for module in sorted(iter_modules(rules.__path__), key=lambda module: module.name):
        if module.ispkg:
            yield import_module(f"{rules.__name__}.{module.name}")
