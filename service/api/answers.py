"""What the service answers, described; the tests hold every answer against it."""

from collections.abc import Mapping
from typing import Any

from marshmallow import EXCLUDE, INCLUDE, Schema, fields, validate

from service.api.schemas import MOMENTS, move_union
from service.api.unions import AnyOf, Tagged
from service.log.steps import OUTCOMES, REASONS, REMEDIES, SPECTATORS
from service.play.caller import SCOPES
from service.play.ids import ULID_PATTERN
from service.play.noticing import TYPES
from service.proof.verdicts import Check, Outcome
from service.proof.verdicts import Status as VerdictStatus
from service.rules.fields import CardField, SeatField, StrictInteger
from service.rules.registry import rulesets, schemas_of

KEY_ID_PATTERN = "^[0-9a-f]{16}$"
HASH = {"pattern": "^[0-9a-f]{64}$"}
STATUSES = ["open", "active", "held", "finished", "voided"]


class AnswerSchema(Schema):
    """An answer, or a part of one. Clients ignore what they don't know: there will be more."""

    class Meta:
        """marshmallow's settings."""

        unknown = EXCLUDE


class OpenSchema(Schema):
    """A part of an answer that has more members than can be listed here."""

    class Meta:
        """marshmallow's settings."""

        unknown = INCLUDE


def _id(description: str = "", **kwargs: Any) -> fields.String:  # noqa: ANN401  marshmallow's own
    metadata = {"pattern": ULID_PATTERN, "description": description}
    return fields.String(metadata=metadata, **({"required": True} | kwargs))


def _time(**kwargs: Any) -> fields.String:  # noqa: ANN401  marshmallow's own keywords
    return fields.String(metadata={"format": "date-time"}, **({"required": True} | kwargs))


def _hash() -> fields.String:
    return fields.String(required=True, metadata=HASH)


def _each(name: str) -> list[Any]:
    """That schema of every ruleset."""
    return [getattr(schemas_of(ruleset), name) for ruleset in rulesets().values()]


def _moves() -> list[Any]:
    """Each ruleset's union of moves."""
    return [move_union(ruleset) for ruleset in rulesets().values()]


class ProblemFieldSchema(AnswerSchema):
    """One field that is wrong."""

    pointer = fields.String(required=True, metadata={"description": "A JSON pointer."})
    detail = fields.String(required=True)


class ProblemSchema(OpenSchema):
    """RFC 9457. `code` and `type` are for programs, and never translated.

    Beside these stand the members that the problem's page names.
    """

    type = fields.String(required=True, metadata={"format": "uri-reference"})
    title = fields.String(required=True)
    status = StrictInteger(required=True)
    detail = fields.String(required=True)
    instance = fields.String(required=True, metadata={"description": "The request's id."})
    code = fields.String(required=True)
    errors = fields.List(fields.Nested(ProblemFieldSchema))
    rule = fields.String(metadata={"description": "The number of the rule that is broken."})
    rule_url = fields.String()
    move_index = StrictInteger(metadata={"description": "Which move of the batch, from 0."})
    legal_moves = fields.List(AnyOf(_moves()))
    readings = fields.List(
        fields.Raw(), metadata={"description": "Values of `as`, each ready to post."}
    )
    current_version = StrictInteger()
    to_act = SeatField(allow_none=True)
    game_status = fields.String()
    parameter = fields.String()
    scope = fields.String()


class PlayerSchema(AnswerSchema):
    """An account."""

    id = _id()
    name = fields.String(required=True)
    kind = fields.String(required=True, validate=validate.OneOf(["human", "bot"]))
    created_at = _time()


class KeySchema(AnswerSchema):
    """A key, without its token."""

    id = _id()
    label = fields.String(required=True)
    scopes = fields.List(fields.String(validate=validate.OneOf(SCOPES)), required=True)
    created_at = _time()
    expires_at = _time(allow_none=True)
    last_used_at = _time(allow_none=True)
    revoked_at = _time(allow_none=True)


class NewKeySchema(KeySchema):
    """A key and its token, which is shown this once."""

    token = fields.String(required=True, metadata={"pattern": "^fd_pk_[0-9A-Za-z]{49}$"})


class RegisteredSchema(AnswerSchema):
    """A new player, and their first key."""

    player = fields.Nested(PlayerSchema, required=True)
    key = fields.Nested(NewKeySchema, required=True)


class MeSchema(AnswerSchema):
    """The caller's own account, and the key that called."""

    player = fields.Nested(PlayerSchema, required=True)
    scopes = fields.List(fields.String(validate=validate.OneOf(SCOPES)), required=True)


class KeysPageSchema(AnswerSchema):
    """A page of keys."""

    items = fields.List(fields.Nested(KeySchema), required=True)
    next_cursor = fields.String(required=True, allow_none=True)


class ListedPlayerSchema(AnswerSchema):
    """A player in a list of games."""

    seat = SeatField(required=True)
    id = _id()
    name = fields.String(required=True)


class ListedGameSchema(AnswerSchema):
    """A game as lists show it."""

    game = _id()
    ruleset = fields.String(required=True)
    ruleset_version = fields.String(required=True)
    status = fields.String(required=True, validate=validate.OneOf(STATUSES))
    visibility = fields.String(required=True)
    spectators = fields.String(required=True, validate=validate.OneOf(SPECTATORS))
    sandbox = fields.Boolean(required=True)
    version = StrictInteger(
        required=True,
        allow_none=True,
        metadata={"description": "null, as `moved_at` and `to_act`, where you may not look on."},
    )
    seats = StrictInteger(required=True)
    players = fields.List(fields.Nested(ListedPlayerSchema), required=True)
    to_act = fields.String(
        required=True,
        allow_none=True,
        metadata={"description": "The player whose turn it is; null for bots and for nobody."},
    )
    created_at = _time()
    moved_at = _time(allow_none=True)


class GamesPageSchema(AnswerSchema):
    """A page of games, newest first."""

    items = fields.List(fields.Nested(ListedGameSchema), required=True)
    next_cursor = fields.String(required=True, allow_none=True)


class SeatedPlayerSchema(AnswerSchema):
    """Who sits in a seat: a player with an id, or a bot of the service with a level."""

    id = fields.String(metadata={"pattern": ULID_PATTERN})
    name = fields.String(required=True)
    kind = fields.String(required=True, validate=validate.OneOf(["human", "bot"]))
    level = fields.String()


class SeatSchema(AnswerSchema):
    """A seat. `hand` stands only in the seats whose cards you may see."""

    seat = SeatField(required=True)
    player = fields.Nested(SeatedPlayerSchema, required=True, allow_none=True)
    cards = StrictInteger(required=True, metadata={"description": "Cards in the hand."})
    score = StrictInteger(required=True)
    hand = fields.List(CardField(), metadata={"description": "Sorted by suit, then rank."})


class ViewerSchema(AnswerSchema):
    """Who is looking."""

    role = fields.String(required=True, validate=validate.OneOf(["seat", "spectator", "admin"]))
    seat = SeatField(required=True, allow_none=True)


class FairnessSchema(AnswerSchema):
    """What the deal is bound to."""

    algorithm = fields.String(required=True)
    commitment = _hash()
    sandbox_secret = fields.String(metadata=HASH)


class ResultSchema(AnswerSchema):
    """How the game ended."""

    reason = fields.String(required=True)
    scores = fields.Dict(keys=fields.String(), values=StrictInteger(), required=True)
    standings = fields.List(fields.List(SeatField()), required=True)
    winners = fields.List(SeatField(), required=True)


class TableauSchema(AnswerSchema):
    """A game at one version, as you may see it: the view but for the clock."""

    game = _id()
    ruleset = fields.String(required=True)
    ruleset_version = fields.String(required=True)
    status = fields.String(required=True, validate=validate.OneOf(STATUSES))
    sandbox = fields.Boolean(required=True)
    visibility = fields.String(required=True)
    spectators = fields.String(required=True, validate=validate.OneOf(SPECTATORS))
    spectator_delay = StrictInteger(
        required=True,
        metadata={"description": "How many events old is what spectators of a running game see."},
    )
    hold_on_dispute = fields.Boolean(required=True)
    rematch_of = _id(allow_none=True)
    options = AnyOf(_each("OPTIONS"), required=True)
    version = StrictInteger(required=True, metadata={"description": "The newest version."})
    at = StrictInteger(required=True, metadata={"description": "The version shown."})
    head = _hash()
    viewer = fields.Nested(ViewerSchema, required=True)
    round = StrictInteger(required=True, allow_none=True)
    rounds = StrictInteger(required=True)
    dealer = SeatField(required=True, allow_none=True)
    to_act = SeatField(required=True, allow_none=True)
    phase = fields.String(required=True, allow_none=True)
    turn_seconds = StrictInteger(required=True, allow_none=True)
    deadline_at = _time(allow_none=True)
    seats = fields.List(fields.Nested(SeatSchema), required=True)
    table = AnyOf(_each("TABLE"), required=True, allow_none=True)
    legal_moves = fields.List(
        AnyOf(_moves()),
        required=True,
        metadata={"description": "Complete and ready to post, for the seat that is to act."},
    )
    fairness = fields.Nested(FairnessSchema, required=True)
    result = fields.Nested(ResultSchema, required=True, allow_none=True)


class ViewSchema(TableauSchema):
    """A game at one version, as you may see it."""

    server_time = _time()


class ReceiptSchema(AnswerSchema):
    """The service's signature under a game's head: keep it, and nobody can rewrite what it is for.

    Ed25519 over `fairdeal/1 head`, a line feed, and the canonical JSON of
    `game`, `hash` and `seq`; in base64url without padding.
    """

    game = _id()
    seq = StrictInteger(required=True)
    hash = _hash()
    key = fields.String(required=True, metadata={"pattern": KEY_ID_PATTERN})
    signature = fields.String(required=True, metadata={"pattern": "^[0-9A-Za-z_-]{86}$"})


class LeftSchema(AnswerSchema):
    """What is signed once a seat is free."""

    receipt = fields.Nested(ReceiptSchema, required=True, allow_none=True)


class SeatedSchema(AnswerSchema):
    """The seat that you hold, and the game from it. `receipt` is for what you wrote."""

    seat = SeatField(required=True, allow_none=True)
    receipt = fields.Nested(ReceiptSchema, required=True, allow_none=True)
    view = fields.Nested(ViewSchema, required=True)


class ActorSchema(AnswerSchema):
    """Who caused an event."""

    kind = fields.String(
        required=True, validate=validate.OneOf(["player", "bot", "clock", "admin", "system"])
    )
    id = fields.String()


class RematchSchema(AnswerSchema):
    """The game before, which seat the deal passes to, and for whom the seats are kept."""

    of = _id()
    dealer = SeatField(required=True)
    players = fields.Dict(keys=fields.String(), values=_id(), required=True)


class PresenceSchema(AnswerSchema):
    """Who is there: the seats whose players follow the game just now."""

    seats = fields.List(SeatField(), required=True)


class GameCreatedSchema(AnswerSchema):
    """The rules, and the commitment."""

    ruleset = fields.String(required=True)
    ruleset_version = fields.String(required=True)
    options = AnyOf(_each("OPTIONS"), required=True)
    seats = StrictInteger(required=True)
    visibility = fields.String(required=True)
    sandbox = fields.String(required=True, allow_none=True)
    algorithm = fields.String(required=True)
    commitment = _hash()
    turn_seconds = StrictInteger()
    spectators = fields.String(validate=validate.OneOf(SPECTATORS))
    spectator_delay = StrictInteger()
    rematch = fields.Nested(RematchSchema)
    hold_on_dispute = fields.Boolean()


class SeatTakenSchema(AnswerSchema):
    """Who sat down, or gave another contribution."""

    seat = SeatField(required=True)
    kind = fields.String(required=True)
    player = fields.String()
    bot = fields.String()
    contribution = fields.String(required=True)


class SeatLeftSchema(AnswerSchema):
    """Who left."""

    seat = SeatField(required=True)
    kind = fields.String(required=True)
    player = fields.String()
    bot = fields.String()


class CutCardSchema(AnswerSchema):
    """A card shown in the cut."""

    seat = SeatField(required=True)
    card = CardField(required=True)


class GameStartedSchema(AnswerSchema):
    """The cut for the first deal."""

    cut = fields.List(fields.Nested(CutCardSchema), required=True)
    dealer = SeatField(required=True)


def _by_seat(of: fields.Field[Any], *, required: bool = True) -> fields.Dict:
    return fields.Dict(keys=fields.String(), values=of, required=required)


class RoundStartedSchema(OpenSchema):
    """A deal; the ruleset's public facts stand beside these."""

    round = StrictInteger(required=True)
    deal = StrictInteger(required=True)
    dealer = SeatField(required=True)
    first = SeatField(required=True)
    scores = _by_seat(StrictInteger())
    state_mac = _hash()


class MoveMadeSchema(AnswerSchema):
    """A move, and what everybody saw follow."""

    seat = SeatField(required=True)
    move = AnyOf(_moves(), required=True)
    outcome = AnyOf(_each("OUTCOME"), required=True)
    state_mac = _hash()


class RoundEndedSchema(AnswerSchema):
    """The hands laid open, and counted."""

    round = StrictInteger(required=True)
    reason = fields.String(required=True)
    by = SeatField(required=True, allow_none=True)
    hands = _by_seat(fields.List(CardField()))
    points = _by_seat(StrictInteger())
    scores = _by_seat(StrictInteger())


class SecretRevealedSchema(AnswerSchema):
    """The secret that every deck came from."""

    server_secret = _hash()


class SeatReplacedSchema(AnswerSchema):
    """Who plays on in a seat: a bot for who resigned or was absent, or who returned."""

    seat = SeatField(required=True)
    kind = fields.String(required=True)
    player = fields.String()
    bot = fields.String()
    reason = fields.String(
        required=True, validate=validate.OneOf(["resigned", "absent", "returned", "ruled"])
    )


class ClockExtendedSchema(AnswerSchema):
    """The service was down for so long of the turn, or a ruling grants it."""

    seat = SeatField(required=True)
    seconds = StrictInteger(required=True)
    reason = fields.String(required=True, validate=validate.OneOf(["outage", "ruled"]))


class DisputeOpenedSchema(AnswerSchema):
    """Which seat complains of what; its words are not in the log."""

    dispute = _id()
    seat = SeatField(required=True)
    reason = fields.String(required=True, validate=validate.OneOf(REASONS))
    seqs = fields.List(StrictInteger(), required=True)


class DisputeWithdrawnSchema(AnswerSchema):
    """The dispute is over, without a ruling."""

    dispute = _id()


class GameHeldSchema(AnswerSchema):
    """Nobody moves, and no clock runs."""

    dispute = _id(required=False)


class GameResumedSchema(AnswerSchema):
    """The turn, and its clock, begin anew."""


class RulingMadeSchema(AnswerSchema):
    """What was decided; remedies that change the table follow as events of their own."""

    ruling = _id()
    dispute = _id(required=False)
    outcome = fields.String(required=True, validate=validate.OneOf(OUTCOMES))
    remedies = fields.List(fields.String(validate=validate.OneOf(REMEDIES)), required=True)
    scores = _by_seat(StrictInteger(), required=False)
    reason = fields.String()
    standings = fields.List(fields.List(SeatField()))
    winners = fields.List(SeatField())


class RewoundSchema(AnswerSchema):
    """The round stands as it did after `to`; its stock is shuffled anew."""

    to = StrictInteger(required=True)
    round = StrictInteger(required=True)
    deal = StrictInteger(required=True)
    stock = StrictInteger(required=True)
    state_mac = _hash()


class HiddenReadDisclosedSchema(AnswerSchema):
    """An admin looked at these seats' hands while the game ran, at that version."""

    read = _id()
    version = StrictInteger(required=True)
    seats = fields.List(SeatField(), required=True)


EVENT_DATA: Mapping[str, type[Schema]] = {
    "game_created": GameCreatedSchema,
    "seat_taken": SeatTakenSchema,
    "seat_left": SeatLeftSchema,
    "game_started": GameStartedSchema,
    "round_started": RoundStartedSchema,
    "move": MoveMadeSchema,
    "round_ended": RoundEndedSchema,
    "game_ended": ResultSchema,
    "secret_revealed": SecretRevealedSchema,
    "seat_replaced": SeatReplacedSchema,
    "clock_extended": ClockExtendedSchema,
    "dispute_opened": DisputeOpenedSchema,
    "dispute_withdrawn": DisputeWithdrawnSchema,
    "game_held": GameHeldSchema,
    "game_resumed": GameResumedSchema,
    "ruling": RulingMadeSchema,
    "rewound": RewoundSchema,
    "hidden_read_disclosed": HiddenReadDisclosedSchema,
}


class PrivateFactsSchema(AnswerSchema):
    """What one seat alone learned: its hand at a deal, the cards that it drew."""

    hand = fields.List(CardField())
    drew = fields.List(CardField())


def _event(kind: str) -> Schema:
    described: dict[str, Any] = {
        "game": _id(),
        "seq": StrictInteger(required=True),
        "type": fields.String(required=True, validate=validate.Equal(kind)),
        "actor": fields.Nested(ActorSchema, required=True),
        "at": _time(),
        "data": fields.Nested(EVENT_DATA[kind], required=True),
        "prev": _hash(),
        "hash": _hash(),
        "private": fields.Dict(
            keys=fields.String(),
            values=fields.Nested(PrivateFactsSchema),
            metadata={"description": "By seat, for the seats whose cards you may see."},
        ),
    }
    return AnswerSchema.from_dict(described, name=f"{kind.title().replace('_', '')}Event")()


EVENT = Tagged("Event", {kind: _event(kind) for kind in EVENT_DATA})


class MovedSchema(AnswerSchema):
    """What your moves led to.

    `version`, `events` and `receipt` are of this request alone and the same in
    every retry; `view` is the present one, after the bots.
    """

    version = StrictInteger(required=True)
    events = fields.List(EVENT, required=True)
    receipt = fields.Nested(ReceiptSchema, required=True, allow_none=True)
    view = fields.Nested(ViewSchema, required=True)


class NoticeDataSchema(OpenSchema):
    """Which game, and more by the notice's type."""

    game = _id()
    seq = StrictInteger(metadata={"description": "The event that it is about."})


class NoticeSchema(AnswerSchema):
    """What a player is told."""

    cursor = fields.String(required=True, metadata={"description": "To go on from here."})
    type = fields.String(required=True, validate=validate.OneOf(TYPES))
    at = _time()
    data = fields.Nested(NoticeDataSchema, required=True)


class NoticesPageSchema(AnswerSchema):
    """A page of notices, oldest first; `next_cursor` is never null: there will be more."""

    items = fields.List(fields.Nested(NoticeSchema), required=True)
    next_cursor = fields.String(required=True)
    more = fields.Boolean(required=True)


class WebhookSchema(AnswerSchema):
    """A webhook; no `types` stand for all of them."""

    id = _id()
    url = fields.String(required=True)
    types = fields.List(fields.String(), required=True)
    description = fields.String(required=True)
    enabled = fields.Boolean(required=True)
    disabled_reason = fields.String(
        required=True,
        allow_none=True,
        validate=validate.OneOf(["asked", "failing", "gone"]),
    )
    failing_since = _time(allow_none=True)
    created_at = _time()


class NewWebhookSchema(WebhookSchema):
    """A webhook and the secret that signs for it, which is shown this once."""

    secret = fields.String(required=True, metadata={"pattern": "^whsec_[0-9A-Za-z+/]{43}=$"})


class WebhooksPageSchema(AnswerSchema):
    """A page of webhooks, newest first."""

    items = fields.List(fields.Nested(WebhookSchema), required=True)
    next_cursor = fields.String(required=True, allow_none=True)


class PayloadSchema(AnswerSchema):
    """What is posted to a webhook."""

    type = fields.String(required=True)
    timestamp = _time()
    data = fields.Dict(keys=fields.String(), required=True)


class DeliverySchema(AnswerSchema):
    """What was to be delivered to a webhook, and how the last attempt went."""

    id = _id("The `webhook-id` that it is posted with.")
    type = fields.String(required=True)
    status = fields.String(
        required=True, validate=validate.OneOf(["pending", "delivered", "failed"])
    )
    attempts = StrictInteger(required=True)
    created_at = _time()
    next_at = _time(allow_none=True)
    last_at = _time(allow_none=True)
    last_status = StrictInteger(required=True, allow_none=True)
    last_error = fields.String(required=True, allow_none=True)
    payload = fields.Nested(PayloadSchema, required=True)


class DeliveriesPageSchema(AnswerSchema):
    """A page of deliveries, newest first."""

    items = fields.List(fields.Nested(DeliverySchema), required=True)
    next_cursor = fields.String(required=True, allow_none=True)


class InvitationSchema(AnswerSchema):
    """An invitation; its token is shown this once, and stands in the URL's fragment.

    What stands there no server ever sees.
    """

    id = _id()
    token = fields.String(required=True, metadata={"pattern": "^fd_in_[0-9A-Za-z]{49}$"})
    url = fields.String(required=True, metadata={"format": "uri-reference"})
    expires_at = _time()


class TicketSchema(AnswerSchema):
    """A ticket for one stream, shown this once."""

    ticket = fields.String(required=True, metadata={"pattern": "^fd_st_[0-9A-Za-z]{49}$"})
    expires_at = _time()


class EventsPageSchema(AnswerSchema):
    """A page of events."""

    items = fields.List(EVENT, required=True)
    next_after = StrictInteger(required=True, metadata={"description": "`after` of the next page."})
    version = StrictInteger(required=True)
    more = fields.Boolean(required=True)


class FrameSchema(AnswerSchema):
    """An event, and the view after it."""

    seq = StrictInteger(required=True)
    event = EVENT
    view = fields.Nested(TableauSchema, required=True)


class ReplaySchema(AnswerSchema):
    """A part of the replay."""

    items = fields.List(fields.Nested(FrameSchema), required=True)
    next_from = StrictInteger(required=True, allow_none=True)
    version = StrictInteger(required=True)
    abandoned = fields.List(
        fields.List(StrictInteger()),
        required=True,
        metadata={
            "description": "The first and the last seq of each part that a ruling folded back: it "
            "happened, and does not count."
        },
    )


class SigningKeySchema(AnswerSchema):
    """A key that signs receipts and checkpoints, or did."""

    id = fields.String(required=True, metadata={"pattern": KEY_ID_PATTERN})
    algorithm = fields.String(required=True, validate=validate.Equal("Ed25519"))
    public_key = fields.String(
        required=True, metadata={"description": "32 bytes, base64url without padding."}
    )
    valid_from = _time()
    valid_until = _time(allow_none=True)
    note_key = fields.String(
        required=True, metadata={"description": "The same, as tools for signed notes take it."}
    )


class SigningKeysSchema(AnswerSchema):
    """Every key, the newest first; keep them where the service can't reach them."""

    origin = fields.String(required=True, metadata={"description": "The name in checkpoints."})
    keys = fields.List(fields.Nested(SigningKeySchema), required=True)


class DeckSchema(AnswerSchema):
    """The deck of a deal, its top card first."""

    round = StrictInteger(required=True)
    deal = StrictInteger(required=True)
    cards = fields.List(CardField(), required=True)


class FairnessRecordSchema(AnswerSchema):
    """What the deal is made of: the secret, and what follows from it, once the game ended."""

    game = _id()
    algorithm = fields.String(required=True)
    commitment = _hash()
    sandbox = fields.Boolean(required=True)
    contributions = fields.Dict(keys=fields.String(), values=fields.String(), required=True)
    protected_seats = fields.List(
        SeatField(),
        required=True,
        metadata={
            "description": "Seats that contributed once the commitment was known: to them the "
            "service could not choose the deck."
        },
    )
    server_secret = fields.String(
        required=True, allow_none=True, metadata={"pattern": "^[0-9a-f]{64}$"}
    )
    cut = fields.List(
        CardField(),
        required=True,
        allow_none=True,
        metadata={"description": "The pack that the first dealer was cut from."},
    )
    decks = fields.List(fields.Nested(DeckSchema), required=True)


class ConsistencySchema(AnswerSchema):
    """Why one tree grew into another (RFC 9162 §2.1.4): hashes in hex."""

    old = StrictInteger(required=True, data_key="from")
    new = StrictInteger(required=True, data_key="to")
    path = fields.List(_hash(), required=True)


class VerdictSchema(AnswerSchema):
    """How one check came out; `seq` is the first event that fails it."""

    check = fields.String(required=True, validate=validate.OneOf([c.value for c in Check]))
    status = fields.String(required=True, validate=validate.OneOf([s.value for s in VerdictStatus]))
    seq = StrictInteger(required=True, allow_none=True)
    detail = fields.String(required=True)


class ReportSchema(AnswerSchema):
    """How a verification came out."""

    game = fields.String(required=True, allow_none=True)
    events = StrictInteger(required=True)
    outcome = fields.String(required=True, validate=validate.OneOf([o.value for o in Outcome]))
    checks = fields.List(fields.Nested(VerdictSchema), required=True)


class RulesetItemSchema(AnswerSchema):
    """A ruleset in the catalogue."""

    name = fields.String(required=True)
    version = fields.String(required=True)
    title = fields.String(required=True)
    seats = fields.Dict(keys=fields.String(), values=StrictInteger(), required=True)
    versions = fields.List(fields.String(), required=True)
    url = fields.String(required=True)


class RulesetsSchema(AnswerSchema):
    """The catalogue."""

    items = fields.List(fields.Nested(RulesetItemSchema), required=True)
    next_cursor = fields.String(required=True, allow_none=True)


class RuleSchema(AnswerSchema):
    """A rule, by its number."""

    rule = fields.String(required=True)
    text = fields.String(required=True)


class RulesetSchema(RulesetItemSchema):
    """A ruleset: options and moves as JSON Schema, and the rules in words."""

    options = fields.Dict(keys=fields.String(), required=True)
    moves = fields.Dict(keys=fields.String(), required=True)
    rules = fields.List(fields.Nested(RuleSchema), required=True)


class ProblemItemSchema(AnswerSchema):
    """A kind of problem."""

    slug = fields.String(required=True)
    code = fields.String(required=True)
    status = StrictInteger(required=True)
    title = fields.String(required=True)
    url = fields.String(required=True)


class ProblemsSchema(AnswerSchema):
    """Every kind of problem."""

    items = fields.List(fields.Nested(ProblemItemSchema), required=True)
    next_cursor = fields.String(required=True, allow_none=True)


class ProblemPageSchema(ProblemItemSchema):
    """What a problem means, why it comes about, what to do."""

    meaning = fields.String(required=True)
    cause = fields.String(required=True)
    fix = fields.String(required=True)
    example = fields.Dict(keys=fields.String(), required=True)


class MapSchema(AnswerSchema):
    """Where things are."""

    service = fields.String(required=True)
    links = fields.Dict(keys=fields.String(), values=fields.String(), required=True)


class TextsSchema(AnswerSchema):
    """What is said to people, by the English of it; none for English."""

    language = fields.String(required=True)
    texts = fields.Dict(keys=fields.String(), values=fields.String(), required=True)


class HealthSchema(AnswerSchema):
    """Whether the process lives, or can serve."""

    status = fields.String(required=True)


class AnythingSchema(OpenSchema):
    """A JSON object."""


class ListedDisputeSchema(AnswerSchema):
    """A dispute, without its words."""

    id = _id()
    game = _id()
    seat = SeatField(required=True)
    player = _id()
    reason = fields.String(required=True, validate=validate.OneOf(REASONS))
    seqs = fields.List(StrictInteger(), required=True)
    status = fields.String(
        required=True, validate=validate.OneOf(["open", "under_review", "resolved", "withdrawn"])
    )
    is_appealed = fields.Boolean(required=True)
    assignee = fields.String(required=True, allow_none=True)
    opened_at = _time()
    closed_at = _time(allow_none=True)


class DisputesPageSchema(AnswerSchema):
    """A page of disputes, newest first."""

    items = fields.List(fields.Nested(ListedDisputeSchema), required=True)
    next_cursor = fields.String(required=True, allow_none=True)


class MessageSchema(AnswerSchema):
    """What somebody said of a dispute."""

    id = _id()
    author = fields.Nested(ActorSchema, required=True)
    visibility = fields.String(required=True, validate=validate.OneOf(["parties", "admins"]))
    body = fields.String(required=True)
    at = _time()


class DecisionSchema(AnswerSchema):
    """What was decided, and why; `seq` is that of its event."""

    id = _id()
    outcome = fields.String(required=True, validate=validate.OneOf(OUTCOMES))
    remedies = fields.List(fields.Dict(keys=fields.String()), required=True)
    public_reason = fields.String(required=True)
    seq = StrictInteger(required=True)
    at = _time()


class DisputeSchema(ListedDisputeSchema):
    """A dispute, what was said of it, and what was decided."""

    statement = fields.String(required=True)
    messages = fields.List(fields.Nested(MessageSchema), required=True)
    rulings = fields.List(fields.Nested(DecisionSchema), required=True)


class FiledSchema(AnswerSchema):
    """The dispute, and the receipt for its event."""

    dispute = fields.Nested(DisputeSchema, required=True)
    receipt = fields.Nested(ReceiptSchema, required=True, allow_none=True)


class AdminDecisionSchema(DecisionSchema):
    """The same with what is for admins."""

    admin = _id()
    private_note = fields.String(required=True)


class AdminDisputeSchema(ListedDisputeSchema):
    """A dispute as admins see it."""

    version = StrictInteger(required=True)
    statement = fields.String(required=True)
    messages = fields.List(fields.Nested(MessageSchema), required=True)
    rulings = fields.List(fields.Nested(AdminDecisionSchema), required=True)


class PreviewSchema(AnswerSchema):
    """What a ruling would do: the events' types, and how the game would stand."""

    events = fields.List(fields.String(), required=True)
    version = StrictInteger(required=True)
    status = fields.String(required=True, validate=validate.OneOf(STATUSES))
    round = StrictInteger(required=True, allow_none=True)
    to_act = SeatField(required=True, allow_none=True)
    scores = _by_seat(StrictInteger())
    result = fields.Nested(ResultSchema, required=True, allow_none=True)
    abandoned = fields.List(fields.List(StrictInteger()), required=True)


class RuledSchema(AnswerSchema):
    """The dispute with its ruling, and what was written; of a dry run what would be."""

    dispute = fields.Nested(AdminDisputeSchema)
    version = StrictInteger()
    events = fields.List(EVENT)
    receipt = fields.Nested(ReceiptSchema, allow_none=True)
    preview = fields.Nested(PreviewSchema)


class KnowledgeSchema(AnswerSchema):
    """What a seat could know: its hand, what lay open, and where the rest may be.

    `known` are cards that everybody saw going into another seat's hand, and that are still there.
    """

    seat = SeatField(required=True)
    hand = fields.List(CardField(), required=True)
    open = fields.List(CardField(), required=True)
    known = fields.Dict(keys=fields.String(), values=fields.List(CardField()), required=True)
    unseen = fields.List(CardField(), required=True)
    unseen_in = fields.Dict(keys=fields.String(), required=True)


class LookSchema(AnswerSchema):
    """A request for another admin's approval of a hidden read; it holds for an hour."""

    id = _id()
    game = _id()
    admin = _id()
    name = fields.String(required=True)
    version = StrictInteger(required=True)
    seats = fields.List(SeatField(), required=True)
    reason = fields.String(required=True)
    dispute = _id(allow_none=True)
    asked_at = _time()
    approved_by = _id(allow_none=True)
    approved_at = _time(allow_none=True)


class LooksPageSchema(AnswerSchema):
    """A page of requests, the newest first."""

    items = fields.List(fields.Nested(LookSchema), required=True)
    next_cursor = fields.String(required=True, allow_none=True)


class HiddenViewSchema(ViewSchema):
    """The table with the hands that were asked for, and what each seat could know."""

    knowledge = fields.List(fields.Nested(KnowledgeSchema), required=True)


class TriedMoveSchema(AnswerSchema):
    """A move that was tried; `reveals` where it was not played on, since it shows a card."""

    move = fields.Dict(keys=fields.String(), required=True)
    seat = SeatField(required=True, allow_none=True)
    legal = fields.Boolean(required=True)
    rule = fields.String(required=True, allow_none=True)
    detail = fields.String(required=True, allow_none=True)
    reveals = fields.Boolean(required=True)


class TriedSchema(AnswerSchema):
    """Moves that were tried, and the table after them."""

    moves = fields.List(fields.Nested(TriedMoveSchema), required=True)
    view = fields.Nested(ViewSchema, required=True)
    knowledge = fields.List(fields.Nested(KnowledgeSchema), required=True)


class RefusedMoveSchema(AnswerSchema):
    """A refused attempt, or one that was answered before; its moves once the game has ended."""

    version = StrictInteger(required=True)
    player = _id()
    key = _id()
    key_label = fields.String(required=True, allow_none=True)
    seat = SeatField(required=True, allow_none=True)
    code = fields.String(required=True)
    rule = fields.String(required=True, allow_none=True)
    request = fields.String(required=True)
    moves = fields.List(fields.Dict(keys=fields.String()))


class ConnectionSchema(AnswerSchema):
    """A player who came to follow the game from a seat, or went."""

    player = _id()
    came = fields.Boolean(required=True)


class MomentSchema(AnswerSchema):
    """An event, a refused attempt, the replay of a key, or somebody who came or went."""

    kind = fields.String(required=True, validate=validate.OneOf(MOMENTS))
    at = _time()
    event = EVENT
    attempt = fields.Nested(RefusedMoveSchema)
    replay = fields.Nested(RefusedMoveSchema)
    connection = fields.Nested(ConnectionSchema)


class OddsSchema(AnswerSchema):
    """As many or more cards of a kind: one hand in so many."""

    kind = fields.String(required=True)
    count = StrictInteger(required=True)
    of = StrictInteger(required=True)
    one_in = fields.Float(required=True)
    exact = fields.String(required=True, metadata={"description": "A fraction."})
    words = fields.String(required=True)


class HandOddsSchema(AnswerSchema):
    """A hand as it was dealt, and how likely what is in it is; the rarest first."""

    dealt_at = StrictInteger(required=True)
    seat = SeatField(required=True)
    hand = fields.List(CardField(), required=True)
    odds = fields.List(fields.Nested(OddsSchema), required=True)


class TimelineSchema(AnswerSchema):
    """A part of a timeline, in order of time."""

    items = fields.List(fields.Nested(MomentSchema), required=True)
    next_cursor = fields.String(required=True, allow_none=True)


class HeldSchema(AnswerSchema):
    """How the game stands."""

    status = fields.String(required=True, validate=validate.OneOf(STATUSES))
    version = StrictInteger(required=True)


class TrailLineSchema(OpenSchema):
    """What an admin did; each line is chained to the one before."""

    seq = StrictInteger(required=True)
    at = _time()
    admin = _id()
    action = fields.String(required=True)
    facts = fields.Dict(keys=fields.String(), required=True)
    prev = _hash()
    hash = _hash()


class TrailSchema(AnswerSchema):
    """A page of the trail, newest first."""

    items = fields.List(fields.Nested(TrailLineSchema), required=True)
    next_cursor = fields.String(required=True, allow_none=True)
