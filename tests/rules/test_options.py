"""Options that no game is played with are refused wherever they are made."""

from typing import Any

import pytest

from service.rules.registry import find


@pytest.mark.parametrize(
    ("ruleset", "options"),
    [
        ("jokers-go-boom", {"jokers": -1}),
        ("jokers-go-boom", {"jokers": 9}),
        ("jokers-go-boom", {"rounds": 0}),
        ("jokers-go-boom", {"rounds": 21}),
        ("crazy-rummy", {"rounds": 0}),
        ("crazy-rummy", {"rounds": 14}),
    ],
)
def test_options_out_of_range_are_refused(ruleset: str, options: dict[str, Any]) -> None:
    rules = find(ruleset)
    with pytest.raises(ValueError, match="there are"):
        rules.options(**options)
    standard = rules.write_options(rules.complete(rules.options(), 3))
    with pytest.raises(ValueError, match="there are"):
        rules.read_options({**standard, **options})  # type: ignore[dict-item]
