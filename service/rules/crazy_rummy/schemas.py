"""How the JSON of Crazy Rummy is checked and described at the edge."""

from typing import Any

from marshmallow import Schema, fields, post_load, validate

from service.rules.crazy_rummy.melds import LARGEST_RUN, SMALLEST_MELD
from service.rules.crazy_rummy.moves import (
    Discard,
    Draw,
    LayDown,
    LayOff,
    Move,
    Source,
    TakeWild,
)
from service.rules.crazy_rummy.options import ROUNDS, DiscardTaken, Options
from service.rules.fields import CardField, SeatField, StrictInteger

MELDS_AT_MOST = 52


class OptionsSchema(Schema):
    """House rules of Crazy Rummy."""

    rounds = StrictInteger(
        load_default=ROUNDS,
        validate=validate.Range(1, ROUNDS),
        metadata={"description": "Rounds to play: the first so many of thirteen (C4)."},
    )
    discard_taken = fields.Enum(
        DiscardTaken,
        by_value=fields.String(),
        load_default=DiscardTaken.ALLOWED,
        metadata={
            "description": "Whether the card taken from the discard pile may be discarded in the "
            "same turn (C15)."
        },
    )

    @post_load
    def build(self, data: dict[str, Any], **_: object) -> Options:
        """The options as the rules know them."""
        return Options(**data)


def _meld() -> StrictInteger:
    return StrictInteger(
        required=True,
        validate=validate.Range(1, MELDS_AT_MOST),
        metadata={"description": "A meld's id."},
    )


class DrawSchema(Schema):
    """Draw the top card of the stock or of the discard pile (C8)."""

    type = fields.String(required=True, validate=validate.Equal("draw"))
    source = fields.Enum(Source, by_value=fields.String(), required=True, data_key="from")

    @post_load
    def build(self, data: dict[str, Any], **_: object) -> Move:
        """The move as the rules know it."""
        return Draw(data["source"])


class MeldSchema(Schema):
    """Put down a meld (C9). `as` says card by card what each stands for (C11)."""

    type = fields.String(required=True, validate=validate.Equal("meld"))
    cards = fields.List(
        CardField(), required=True, validate=validate.Length(SMALLEST_MELD, LARGEST_RUN)
    )
    stands_for = fields.List(
        CardField(), data_key="as", validate=validate.Length(SMALLEST_MELD, LARGEST_RUN)
    )

    @post_load
    def build(self, data: dict[str, Any], **_: object) -> Move:
        """The move as the rules know it."""
        stands_for = data.get("stands_for")
        return LayDown(tuple(data["cards"]), None if stands_for is None else tuple(stands_for))


class LayOffSchema(Schema):
    """Add a card to a meld on the table (C12)."""

    type = fields.String(required=True, validate=validate.Equal("lay_off"))
    meld = _meld()
    card = CardField(required=True)
    stands_for = CardField(data_key="as")

    @post_load
    def build(self, data: dict[str, Any], **_: object) -> Move:
        """The move as the rules know it."""
        return LayOff(data["meld"], data["card"], data.get("stands_for"))


class TakeWildSchema(Schema):
    """Take a wild card for the very card that it stands for (C13)."""

    type = fields.String(required=True, validate=validate.Equal("take_wild"))
    meld = _meld()
    wild = CardField(required=True)
    card = CardField(required=True)

    @post_load
    def build(self, data: dict[str, Any], **_: object) -> Move:
        """The move as the rules know it."""
        return TakeWild(data["meld"], data["wild"], data["card"])


class DiscardSchema(Schema):
    """Discard a card; the turn ends (C15)."""

    type = fields.String(required=True, validate=validate.Equal("discard"))
    card = CardField(required=True)

    @post_load
    def build(self, data: dict[str, Any], **_: object) -> Move:
        """The move as the rules know it."""
        return Discard(data["card"])


class DiscardPileSchema(Schema):
    """The discard pile: what lies on top, null where it is empty, and how many cards it has."""

    top = CardField(required=True, allow_none=True)
    count = StrictInteger(required=True)


class MeldedCardSchema(Schema):
    """A card in a meld, and what it stands for."""

    card = CardField(required=True)
    stands_for = CardField(required=True, data_key="as")


class TableMeldSchema(Schema):
    """A meld on the table."""

    id = StrictInteger(required=True)
    seat = SeatField(required=True)
    kind = fields.String(required=True, validate=validate.OneOf(["set", "run"]))
    cards = fields.List(fields.Nested(MeldedCardSchema), required=True)


class TableSchema(Schema):
    """The table of Crazy Rummy."""

    stock = StrictInteger(required=True, metadata={"description": "Cards left in the stock."})
    discard = fields.Nested(DiscardPileSchema, required=True)
    wild = fields.String(required=True, validate=validate.OneOf("A23456789TJQK"))
    melded = fields.List(SeatField(), required=True)
    melds = fields.List(fields.Nested(TableMeldSchema), required=True)


class OutcomeSchema(Schema):
    """What everybody sees of a move."""

    drew = StrictInteger()
    took = CardField()
    meld = StrictInteger()
    wild = CardField()


class PrivateSchema(Schema):
    """What one seat alone learned from a move."""

    drew = fields.List(CardField())


class FactsSchema(Schema):
    """What is public when the cards are dealt (C4)."""

    wild = fields.String(required=True, validate=validate.OneOf("A23456789TJQK"))


OPTIONS = OptionsSchema()
MOVES = {
    "draw": DrawSchema(),
    "meld": MeldSchema(),
    "lay_off": LayOffSchema(),
    "take_wild": TakeWildSchema(),
    "discard": DiscardSchema(),
}
TABLE = TableSchema()
OUTCOME = OutcomeSchema()
PRIVATE = PrivateSchema()
FACTS = FactsSchema()
