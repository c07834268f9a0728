"""How the JSON of Jokers Go Boom is checked and described at the edge."""

from typing import Any

from marshmallow import Schema, fields, post_load, validate

from service.cards import JOKERS_AT_MOST
from service.rules.fields import CardField, SeatField, StrictInteger
from service.rules.jokers_go_boom.codec import CALL
from service.rules.jokers_go_boom.moves import Draw, Move, Pass, Play
from service.rules.jokers_go_boom.options import (
    JOKERS,
    ROUNDS_AT_MOST,
    AfterBoom,
    BoomCall,
    Options,
)


class OptionsSchema(Schema):
    """House rules of Jokers Go Boom."""

    jokers = StrictInteger(
        load_default=JOKERS,
        validate=validate.Range(0, JOKERS_AT_MOST),
        metadata={"description": "Jokers in the pack; with none, the aces boom (G2, G3)."},
    )
    after_boom = fields.Enum(
        AfterBoom,
        by_value=fields.String(),
        load_default=AfterBoom.ANYTHING,
        metadata={"description": "What may be played on a joker (G10)."},
    )
    boom_call = fields.Enum(
        BoomCall,
        by_value=fields.String(),
        load_default=BoomCall.AUTOMATIC,
        metadata={"description": 'Who calls "BOOM!": the table, or the move itself (G17).'},
    )
    rounds = StrictInteger(
        load_default=None,
        validate=validate.Range(1, ROUNDS_AT_MOST),
        metadata={"description": "Rounds to play; as many as players unless set (G15)."},
    )

    @post_load
    def build(self, data: dict[str, Any], **_: object) -> Options:
        """The options as the rules know them."""
        return Options(**data)


class PlaySchema(Schema):
    """Play a card on the discard pile (G7, G9)."""

    type = fields.String(required=True, validate=validate.Equal("play"))
    card = CardField(required=True)
    call = fields.String(
        validate=validate.Equal(CALL),
        metadata={"description": "With a boom card, where the option asks for it (G17)."},
    )

    @post_load
    def build(self, data: dict[str, Any], **_: object) -> Move:
        """The move as the rules know it."""
        return Play(data["card"], call="call" in data)


class DrawSchema(Schema):
    """Draw the top card of the stock (G8)."""

    type = fields.String(required=True, validate=validate.Equal("draw"))

    @post_load
    def build(self, _data: dict[str, Any], **_: object) -> Move:
        """The move as the rules know it."""
        return Draw()


class PassSchema(Schema):
    """Pass, with an empty stock and nothing to play (G11)."""

    type = fields.String(required=True, validate=validate.Equal("pass"))

    @post_load
    def build(self, _data: dict[str, Any], **_: object) -> Move:
        """The move as the rules know it."""
        return Pass()


class DiscardPileSchema(Schema):
    """The discard pile: what lies on top, and how many cards it has."""

    top = CardField(required=True)
    count = StrictInteger(required=True)


class FollowSchema(Schema):
    """What must be followed (G7)."""

    suit = fields.String(required=True, validate=validate.OneOf("cdhs"))
    rank = fields.String(required=True, validate=validate.OneOf("23456789TJQKA"))


class TableSchema(Schema):
    """The table of Jokers Go Boom; `follow` is null where anything may be played."""

    stock = StrictInteger(required=True, metadata={"description": "Cards left in the stock."})
    discard = fields.Nested(DiscardPileSchema, required=True)
    follow = fields.Nested(FollowSchema, required=True, allow_none=True)


class OutcomeSchema(Schema):
    """What everybody sees of a move: whether it boomed, and which seats drew a card each."""

    boom = fields.Boolean()
    drew = fields.List(SeatField())


class PrivateSchema(Schema):
    """What one seat alone learned from a move."""

    drew = fields.List(CardField())


class FactsSchema(Schema):
    """What is public when the cards are dealt (G5)."""

    upcard = CardField(required=True)


OPTIONS = OptionsSchema()
MOVES = {"play": PlaySchema(), "draw": DrawSchema(), "pass": PassSchema()}
TABLE = TableSchema()
OUTCOME = OutcomeSchema()
PRIVATE = PrivateSchema()
FACTS = FactsSchema()
