"""How the service's own bots play, by level."""

import random
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, TypeAlias

from service.rules.ruleset import AnyRuleset, View

Level: TypeAlias = Callable[[AnyRuleset, Any, View[Any], random.Random], Any]


def choose(
    level: str, ruleset: AnyRuleset, options: object, view: View[Any], chance: random.Random
) -> Any:  # noqa: ANN401  a move of the ruleset's own
    """The move of the bot of that level, of those that the view lists."""
    return LEVELS[level](ruleset, options, view, chance)


def _random(_ruleset: AnyRuleset, _options: object, view: View[Any], chance: random.Random) -> Any:  # noqa: ANN401
    return chance.choice(view.legal_moves)


def _steady(ruleset: AnyRuleset, options: object, view: View[Any], _chance: random.Random) -> Any:  # noqa: ANN401
    return ruleset.steady(options, view)


LEVELS: Mapping[str, Level] = MappingProxyType({"random": _random, "steady": _steady})
