"""marshmallow fields for the words that every ruleset's schemas use.

Strict: a number is a JSON integer, never a string or a fraction that happens
to look like one.
"""

from collections.abc import Mapping
from typing import Any

from marshmallow import fields

from service.cards import Card, card_text, parse_card

NOT_A_CARD = "Not a card: cards are written like 4h, Td or X1."
CARD_PATTERN = "^([2-9TJQKA][cdhs]|X[1-8])$"


class StrictInteger(fields.Integer):
    """A JSON integer; 3.0, "3" and true are refused."""

    def _validated(self, value: Any) -> int:  # noqa: ANN401  JSON enters here
        if type(value) is not int:
            raise self.make_error("invalid")
        return value


class SeatField(StrictInteger):
    """A seat: 1 and up, clockwise."""

    def __init__(self, **kwargs: Any) -> None:  # noqa: ANN401  marshmallow's own keywords
        """Take marshmallow's keywords, and describe the field as a seat."""
        described = {"minimum": 1, "description": "A seat, numbered clockwise from 1."}
        super().__init__(metadata=described | kwargs.pop("metadata", {}), **kwargs)


class CardField(fields.Field[Card]):
    """A card as text: `4h`, `Td`, `X1`."""

    default_error_messages = {"invalid": NOT_A_CARD}  # noqa: RUF012  marshmallow's own way

    def __init__(self, **kwargs: Any) -> None:  # noqa: ANN401  marshmallow's own keywords
        """Take marshmallow's keywords, and describe the field as a card."""
        described = {"type": "string", "pattern": CARD_PATTERN}
        super().__init__(metadata=described | kwargs.pop("metadata", {}), **kwargs)

    def _serialize(self, value: Card | None, *_: object, **__: object) -> str | None:
        return None if value is None else card_text(value)

    def _deserialize(
        self,
        value: Any,  # noqa: ANN401  JSON enters here
        attr: str | None,  # noqa: ARG002  marshmallow's signature
        data: Mapping[str, Any] | None,  # noqa: ARG002
        **kwargs: Any,  # noqa: ANN401, ARG002
    ) -> Card:
        if not isinstance(value, str):
            raise self.make_error("invalid")
        try:
            return parse_card(value)
        except ValueError as error:
            raise self.make_error("invalid") from error
