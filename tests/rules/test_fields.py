from typing import Any

import pytest
from marshmallow import Schema, ValidationError

from service.cards import parse_card
from service.rules.fields import CardField, SeatField, StrictInteger
from service.rules.registry import current, schemas_of


class Everything(Schema):
    number = StrictInteger()
    seat = SeatField()
    card = CardField()


@pytest.mark.parametrize("value", ["3", 3.0, True, None, [3], 3.5])
def test_a_number_is_a_json_integer(value: Any) -> None:
    for field in ("number", "seat"):
        with pytest.raises(ValidationError):
            Everything().load({field: value})


@pytest.mark.parametrize("value", ["4H", "", 4, None, ["4h"], {"card": "4h"}])
def test_a_card_is_its_two_characters(value: Any) -> None:
    with pytest.raises(ValidationError):
        Everything().load({"card": value})


def test_what_is_loaded_is_dumped_alike() -> None:
    sent = {"number": 3, "seat": 2, "card": "4h"}
    loaded = Everything().load(sent)
    assert loaded["card"] == parse_card("4h")
    assert Everything().dump(loaded) == sent
    assert Everything().dump({"card": None}) == {"card": None}


def test_the_options_that_are_not_set_are_those_of_the_standard_game() -> None:
    for ruleset in current().values():
        assert schemas_of(ruleset).OPTIONS.load({}) == ruleset.options()
