"""What clients send, checked and built into the values that the use cases take."""

import re
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from marshmallow import Schema, ValidationError, fields, post_load, validate, validates_schema

from service.api.bodies import RequestSchema
from service.api.unions import AnyOf, Tagged
from service.log.steps import (
    LEAST_TURN_SECONDS,
    MOST_DELAY,
    MOST_TURN_SECONDS,
    OUTCOMES,
    REASONS,
    SPECTATORS,
)
from service.play.accounts import KeyRequest
from service.play.caller import SCOPES
from service.play.disputes import ADMINS_ONLY, PARTIES, STATEMENT_CHARS, DisputeRequest
from service.play.ids import ULID_PATTERN
from service.play.inviting import InvitationRequest
from service.play.looking import HiddenRequest
from service.play.moving import MoveRequest
from service.play.noticing import TYPES
from service.play.opening import BOT_LEVELS, BotSeat
from service.play.seating import SeatRequest
from service.play.webhooks import WebhookRequest
from service.rules.fields import SeatField, StrictInteger
from service.rules.registry import rulesets, schemas_of
from service.rules.ruleset import AnyRuleset

SEATS_AT_MOST = 16
CONTRIBUTION_CHARS = 64
NAME_CHARS = 40
LABEL_CHARS = 80
URL_CHARS = 2_000
SEQS_AT_MOST = 20
REMEDIES_AT_MOST = 8
NO_NULL = "^[^\\x00]*$"
PRINTABLE_WITHOUT_SPACE = "^[!-~]*$"
YEARS_AT_MOST = 9990
MOVES_AT_MOST = 32
MOVES_REMEMBERED = 1024
"""Of each ruleset: a play of any card, a draw, a pass, and the melds of the day."""

VERSIONS_AT_MOST = 2**31 - 1

PRINTABLE_ASCII = "^[ -~]*$"
SECRET_HEX = "^[0-9a-f]{64}$"  # noqa: S105  the form of a secret, not one
NAME_OF_RULESET = "^[a-z0-9-]{1,64}$"
SEAT_OR_ALL = "^([1-9][0-9]?|all)$"
NAME_PATTERN = (
    r"^[^\x00-\x1f\x7f-\x9f\u2028\u2029]*[^\s\x00-\x1f\x7f-\x9f][^\x00-\x1f\x7f-\x9f\u2028\u2029]*$"
)
NO_CONTROLS = r"^[^\x00-\x1f\x7f-\x9f\u2028\u2029]*$"


class StrictBoolean(fields.Boolean):
    """A JSON boolean; "yes" and 1 are refused."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> bool:  # noqa: ANN401
        if not isinstance(value, bool):
            raise self.make_error("invalid", input=value)
        return super()._deserialize(value, attr, data, **kwargs)


class Matches(validate.Validator):
    """The whole text matches the pattern: a line break at its end is part of it."""

    def __init__(self, pattern: str, error: str) -> None:
        self._pattern = re.compile(pattern)
        self._error = error

    def __call__(self, value: str) -> str:
        """The value, if it matches; raises ValidationError."""
        if not self._pattern.fullmatch(value):
            raise ValidationError(self._error)
        return value


def _is_in_range(moment: datetime) -> None:
    """Refuse a time so far off that not every clock can tell it."""
    if moment.year > YEARS_AT_MOST:
        message = f"Not after the year {YEARS_AT_MOST}."
        raise ValidationError(message)


class PlayerRequestSchema(RequestSchema):
    """Who registers."""

    name = fields.String(
        required=True,
        validate=[
            validate.Length(1, NAME_CHARS),
            Matches(NAME_PATTERN, "Neither blank nor with control characters."),
        ],
        metadata={
            "description": "What others at the table see; not blank.",
            "pattern": NAME_PATTERN,
        },
    )
    kind = fields.String(
        load_default="human",
        validate=validate.OneOf(["human", "bot"]),
        metadata={"description": "Whether a person plays, or a program."},
    )


class KeyRequestSchema(RequestSchema):
    """What a new key is to be able to do."""

    label = fields.String(
        load_default="",
        validate=[
            validate.Length(0, LABEL_CHARS),
            Matches(NO_CONTROLS, "Control characters are not allowed."),
        ],
        metadata={"description": "What you call the key.", "pattern": NO_CONTROLS},
    )
    scopes = fields.List(
        fields.String(validate=validate.OneOf(SCOPES)),
        load_default=list(SCOPES),
        validate=validate.Length(1, len(SCOPES)),
        metadata={"description": "What the key may do; everything unless set."},
    )
    expires_at = fields.AwareDateTime(
        format="iso",
        load_default=None,
        allow_none=True,
        validate=_is_in_range,
        metadata={"description": "When the key ends, in the future; never unless set. RFC 3339."},
    )

    @post_load
    def build(self, data: dict[str, Any], **_: object) -> KeyRequest:
        """The request as the use case knows it."""
        return KeyRequest(**data)


class BotSeatSchema(RequestSchema):
    """A bot of the service, and where it sits."""

    seat = SeatField(required=True, validate=validate.Range(1, SEATS_AT_MOST))
    level = fields.String(
        load_default="steady",
        validate=validate.OneOf(BOT_LEVELS),
        metadata={"description": "How it plays."},
    )

    @post_load
    def build(self, data: dict[str, Any], **_: object) -> BotSeat:
        """The seat as the use case knows it."""
        return BotSeat(**data)


class SandboxSchema(RequestSchema):
    """A game for tests of clients: the deal is fixed, and no secret."""

    secret = fields.String(
        required=True,
        validate=Matches(SECRET_HEX, "64 hex digits, in lower case."),
        metadata={"description": "The server's secret, in hex.", "pattern": SECRET_HEX},
    )


class GameRequestSchema(RequestSchema):
    """The game that is to be opened. The house rules are read by the ruleset's own schema."""

    ruleset = fields.String(required=True, metadata={"description": "`GET /rulesets` lists them."})
    seats = StrictInteger(required=True, validate=validate.Range(2, SEATS_AT_MOST))
    options = fields.Dict(
        keys=fields.String(),
        load_default=dict,
        metadata={"description": "House rules; the ruleset's own schema says which there are."},
    )
    visibility = fields.String(
        load_default="public",
        validate=validate.OneOf(["public", "private"]),
        metadata={
            "description": "A private game is not found by anybody who is neither in it nor "
            "invited to it."
        },
    )
    spectators = fields.String(
        load_default="public",
        validate=validate.OneOf(SPECTATORS),
        metadata={
            "description": "Whether others may look on while it runs: at everything but hands, at "
            "nothing, or at what is `spectator_delay` events old. Once it ended, all may."
        },
    )
    spectator_delay = StrictInteger(
        load_default=None,
        allow_none=True,
        validate=validate.Range(1, MOST_DELAY),
        metadata={"description": "By how many events, for `delayed` and for nothing else."},
    )
    sit = StrictBoolean(
        load_default=True, metadata={"description": "Whether you take seat 1 yourself."}
    )
    bots = fields.List(
        fields.Nested(BotSeatSchema),
        load_default=list,
        validate=validate.Length(0, SEATS_AT_MOST),
        metadata={"description": "The service's own bots, and where they sit."},
    )
    turn_seconds = StrictInteger(
        load_default=None,
        allow_none=True,
        validate=validate.Range(LEAST_TURN_SECONDS, MOST_TURN_SECONDS),
        metadata={
            "description": "How long a person may take for a turn; then the clock plays, and "
            "after three such turns in a row a bot. null: as long as they like."
        },
    )
    hold_on_dispute = StrictBoolean(
        load_default=False,
        metadata={"description": "Whether a dispute stops the game until it is settled."},
    )
    sandbox = fields.Nested(
        SandboxSchema,
        load_default=None,
        allow_none=True,
        metadata={"description": "For tests of clients: fixes the deal."},
    )

    @validates_schema
    def refuse_other_delay(self, data: dict[str, Any], **_: object) -> None:
        """A delay is for `delayed`, and `delayed` has one."""
        if (data["spectators"] == "delayed") != (data["spectator_delay"] is not None):
            message = "Give it with `spectators: delayed`, and with nothing else."
            raise ValidationError(message, "spectator_delay")


def _contribution(**kwargs: Any) -> fields.String:  # noqa: ANN401  marshmallow's own keywords
    return fields.String(
        validate=[
            validate.Length(0, CONTRIBUTION_CHARS),
            Matches(PRINTABLE_ASCII, "Printable ASCII only."),
        ],
        metadata={
            "description": "Your part in the shuffle: any text, chosen after the commitment "
            "was published, so that the deal can't have been.",
            "pattern": PRINTABLE_ASCII,
        },
        **kwargs,
    )


class SeatRequestSchema(RequestSchema):
    """The seat that is asked for."""

    seat = SeatField(
        load_default=None,
        allow_none=True,
        validate=validate.Range(1, SEATS_AT_MOST),
        metadata={"description": "The first free one unless set."},
    )
    contribution = _contribution(load_default="")
    invitation = fields.String(
        load_default=None,
        validate=validate.Length(1, 100),
        metadata={"description": "`fd_in_…`: lets you in where the game is private."},
    )

    @post_load
    def build(self, data: dict[str, Any], **_: object) -> SeatRequest:
        """The request as the use case knows it."""
        return SeatRequest(data["seat"], data["contribution"])


class ContributionRequestSchema(RequestSchema):
    """One's part in the shuffle."""

    contribution = _contribution(required=True)


def move_union(ruleset: AnyRuleset) -> Tagged:
    """A move of the ruleset's: one of its shapes, told apart by `type`."""
    name = "".join(part.capitalize() for part in ruleset.name.split("-"))
    return Tagged(f"{name}Move", schemas_of(ruleset).MOVES, remembers=MOVES_REMEMBERED)


def move_request_schema(ruleset: AnyRuleset) -> Schema:
    """The schema of a body of moves, by the shapes of the ruleset's own."""
    return _move_request(lambda: move_union(ruleset))


def any_move_request_schema() -> Schema:
    """The same for every ruleset at once: what the operation is described by."""
    return _move_request(lambda: AnyOf([move_union(ruleset) for ruleset in rulesets().values()]))


def _move_request(move: Callable[[], fields.Field[Any]]) -> Schema:
    fields_of_body: dict[str, Any] = {
        "move": move(),
        "moves": fields.List(
            move(),
            validate=validate.Length(1, MOVES_AT_MOST),
            metadata={"description": "Several, in order, all or nothing."},
        ),
        "expected_version": StrictInteger(
            validate=validate.Range(0, VERSIONS_AT_MOST),
            metadata={"description": "The version that you decided at."},
        ),
        "seat": SeatField(
            validate=validate.Range(1, SEATS_AT_MOST),
            metadata={"description": "Which of your seats moves; you hold several in a sandbox."},
        ),
    }
    return _MoveRequest.from_dict(fields_of_body, name="MoveRequestSchema")()


class _MoveRequest(RequestSchema):
    """One `move`, or several `moves`; never both."""

    @post_load
    def build(self, data: dict[str, Any], **_: object) -> MoveRequest:
        """The request as the use case knows it: `move` is short for `moves` with one."""
        if ("move" in data) == ("moves" in data):
            message = "Send either `move` or `moves`."
            raise ValidationError(message)
        return MoveRequest(
            moves=data["moves"] if "moves" in data else [data["move"]],
            expected_version=data.get("expected_version"),
            seat=data.get("seat"),
        )


def _limit() -> fields.Integer:
    return fields.Integer(
        load_default=50,
        validate=validate.Range(1),
        metadata={"description": "Items a page; more than 200 is lowered to that."},
    )


class EmptyRequestSchema(RequestSchema):
    """An empty object."""


class InvitationRequestSchema(RequestSchema):
    """How long the invitation is good for, and whom it is for."""

    expires_in = StrictInteger(
        load_default=3 * 24 * 3600,
        validate=validate.Range(60, 7 * 24 * 3600),
        metadata={"description": "Seconds; three days unless set."},
    )
    player = fields.String(
        load_default=None,
        allow_none=True,
        validate=Matches(ULID_PATTERN, "It is no player's id."),
        metadata={
            "description": "A player's id: they are told of it, and sit down without the token.",
            "pattern": ULID_PATTERN,
        },
    )

    @post_load
    def build(self, data: dict[str, Any], **_: object) -> InvitationRequest:
        """The request as the use case knows it."""
        return InvitationRequest(data["expires_in"], data["player"])


def _url(**kwargs: Any) -> fields.String:  # noqa: ANN401  marshmallow's own keywords
    return fields.String(
        validate=[
            validate.Length(1, URL_CHARS),
            Matches(PRINTABLE_WITHOUT_SPACE, "A URL has visible ASCII characters only."),
        ],
        metadata={
            "description": "Where to post: https, at a public address.",
            "pattern": PRINTABLE_WITHOUT_SPACE,
        },
        **kwargs,
    )


def _types(**kwargs: Any) -> fields.List[Any]:  # noqa: ANN401  marshmallow's own keywords
    return fields.List(
        fields.String(validate=validate.OneOf(TYPES)),
        validate=validate.Length(0, len(TYPES)),
        metadata={"description": "Of what to be told; of everything, if there are none."},
        **kwargs,
    )


def _description(**kwargs: Any) -> fields.String:  # noqa: ANN401  marshmallow's own keywords
    return fields.String(
        validate=[validate.Length(0, LABEL_CHARS), Matches(NO_CONTROLS, "No control characters.")],
        metadata={"description": "What you call it.", "pattern": NO_CONTROLS},
        **kwargs,
    )


class WebhookRequestSchema(RequestSchema):
    """The webhook that is asked for."""

    url = _url(required=True)
    types = _types(load_default=list)
    description = _description(load_default="")

    @post_load
    def build(self, data: dict[str, Any], **_: object) -> WebhookRequest:
        """The request as the use case knows it."""
        return WebhookRequest(**data)


class WebhookChangeSchema(RequestSchema):
    """What is to change of a webhook."""

    url = _url()
    types = _types()
    description = _description()
    enabled = StrictBoolean(metadata={"description": "Whether it is delivered to."})


class PageQuerySchema(RequestSchema):
    """Where a page of a list begins, and how long it is."""

    limit = _limit()
    cursor = fields.String(
        load_default=None, metadata={"description": "The last page's `next_cursor`."}
    )


class GamesQuerySchema(PageQuerySchema):
    """Which games to list."""

    status = fields.String(
        load_default=None, validate=validate.OneOf(["open", "active", "held", "finished", "voided"])
    )
    ruleset = fields.String(
        load_default=None,
        validate=Matches(NAME_OF_RULESET, "No ruleset has such a name."),
        metadata={"description": "A ruleset's name.", "pattern": NAME_OF_RULESET},
    )
    player = fields.String(
        load_default=None,
        validate=validate.Equal("me"),
        metadata={"description": "`me`: games that you sit in."},
    )
    turn = fields.String(
        load_default=None,
        validate=validate.Equal("me"),
        metadata={"description": "`me`: games that wait for you."},
    )
    sandbox = fields.Boolean(
        load_default=False,
        truthy={"true"},
        falsy={"false"},
        metadata={"description": "`true`: sandbox games, and no others."},
    )


def _version(**kwargs: Any) -> fields.Integer:  # noqa: ANN401  marshmallow's own keywords
    least = kwargs.pop("least", 1)
    description = kwargs.pop("description")
    return fields.Integer(
        validate=validate.Range(least, VERSIONS_AT_MOST),
        metadata={"description": description},
        **kwargs,
    )


def _seat_query() -> fields.String:
    return fields.String(
        load_default=None,
        validate=Matches(SEAT_OR_ALL, "A seat, or `all`."),
        metadata={
            "description": "Whose eyes to look through: a seat, or `all`. Your own seat while "
            "the game runs, any once it ended.",
            "pattern": SEAT_OR_ALL,
        },
    )


class ViewQuerySchema(RequestSchema):
    """Which version of the game, through whose eyes."""

    at = _version(load_default=None, description="A version; the newest unless set.")
    at_least = _version(
        load_default=None,
        description="A version that you have seen: a newest view that is older is not shown. "
        "Who says it may be answered by a replica, a moment behind.",
    )
    seat = _seat_query()


class EventsQuerySchema(RequestSchema):
    """Which events."""

    after = _version(load_default=None, least=0, description="The last seq that you have.")
    limit = _limit()
    wait = fields.Integer(
        load_default=0,
        validate=validate.Range(0, 30),
        metadata={"description": "Seconds to wait for an event if there is none; for JSON pages."},
    )
    ticket = fields.String(
        load_default=None,
        metadata={"description": "A stream ticket, for browsers; used once."},
    )


class NoticesQuerySchema(PageQuerySchema):
    """Which notices."""

    wait = fields.Integer(
        load_default=0,
        validate=validate.Range(0, 30),
        metadata={"description": "Seconds to wait for a notice if there is none; for JSON pages."},
    )
    ticket = fields.String(
        load_default=None,
        metadata={"description": "A stream ticket, for browsers; used once."},
    )


class ReplayQuerySchema(RequestSchema):
    """Which part of the replay, through whose eyes."""

    seat = _seat_query()
    first = _version(load_default=1, data_key="from", description="The first seq.")
    last = _version(load_default=None, data_key="to", description="The last seq.")


class ConsistencyQuerySchema(RequestSchema):
    """From which checkpoint on."""

    older = fields.Integer(
        required=True,
        data_key="from",
        validate=validate.Range(1, 2**53 - 1),
        metadata={"description": "The older checkpoint's size."},
    )


def _words(least: int, most: int, description: str, **kwargs: Any) -> fields.String:  # noqa: ANN401
    return fields.String(
        validate=[validate.Length(least, most), Matches(NO_NULL, "No U+0000.")],
        metadata={"description": description},
        **({"required": True} | kwargs),
    )


class DisputeRequestSchema(RequestSchema):
    """What a player files."""

    reason = fields.String(required=True, validate=validate.OneOf(REASONS))
    seqs = fields.List(
        StrictInteger(validate=validate.Range(1, VERSIONS_AT_MOST)),
        load_default=list,
        validate=validate.Length(0, SEQS_AT_MOST),
        metadata={"description": "The events that it is about."},
    )
    statement = _words(1, STATEMENT_CHARS, "What happened; for the parties and the referee.")

    @post_load
    def build(self, data: dict[str, Any], **_: object) -> DisputeRequest:
        """The request as the use case knows it."""
        return DisputeRequest(**data)


class MessageRequestSchema(RequestSchema):
    """What somebody says of a dispute."""

    body = _words(1, STATEMENT_CHARS, "For the parties and the referee.")


class AdminMessageRequestSchema(RequestSchema):
    """What a referee says of a dispute."""

    body = _words(1, STATEMENT_CHARS, "What is to be said.")
    visibility = fields.String(
        load_default=PARTIES,
        validate=validate.OneOf([PARTIES, ADMINS_ONLY]),
        metadata={"description": "Whether the parties read it, too."},
    )


class DisputesQuerySchema(PageQuerySchema):
    """Which disputes to list."""

    status = fields.String(
        load_default=None,
        validate=validate.OneOf(["open", "under_review", "resolved", "withdrawn"]),
    )


class DisputeChangeSchema(RequestSchema):
    """What an admin changes of a dispute."""

    status = fields.String(validate=validate.OneOf(["open", "under_review"]))
    assignee = fields.String(
        allow_none=True,
        validate=validate.Equal("me"),
        metadata={"description": "`me`, or null for nobody."},
    )


class NoRemedySchema(RequestSchema):
    """Nothing changes."""

    kind = fields.String(required=True, validate=validate.Equal("none"))


class RewindSchema(RequestSchema):
    """The round goes back to an event of it; its stock is shuffled anew."""

    kind = fields.String(required=True, validate=validate.Equal("rewind"))
    to = StrictInteger(required=True, validate=validate.Range(1, VERSIONS_AT_MOST))


class RedealSchema(RequestSchema):
    """A round is dealt again: the present one unless `round` says another before it."""

    kind = fields.String(required=True, validate=validate.Equal("redeal"))
    round = StrictInteger(validate=validate.Range(1, 1000))


class AdjustScoresSchema(RequestSchema):
    """Other scores, of every seat."""

    kind = fields.String(required=True, validate=validate.Equal("adjust_scores"))
    scores = fields.Dict(
        keys=fields.String(),
        values=StrictInteger(validate=validate.Range(-100_000, 100_000)),
        required=True,
    )


class ReplaceSeatSchema(RequestSchema):
    """A bot plays on in the seat."""

    kind = fields.String(required=True, validate=validate.Equal("replace_seat"))
    seat = SeatField(required=True, validate=validate.Range(1, SEATS_AT_MOST))


class ExtendClockSchema(RequestSchema):
    """So many seconds more for the present turn."""

    kind = fields.String(required=True, validate=validate.Equal("extend_clock"))
    seconds = StrictInteger(required=True, validate=validate.Range(1, MOST_TURN_SECONDS))


class VoidSchema(RequestSchema):
    """The game does not count."""

    kind = fields.String(required=True, validate=validate.Equal("void"))


class AwardSchema(RequestSchema):
    """The game ends with these places, the best first, whatever the scores are."""

    kind = fields.String(required=True, validate=validate.Equal("award"))
    standings = fields.List(
        fields.List(SeatField(validate=validate.Range(1, SEATS_AT_MOST))),
        required=True,
        validate=validate.Length(1, SEATS_AT_MOST),
    )


REMEDY_SHAPES: Mapping[str, Schema] = {
    "none": NoRemedySchema(),
    "rewind": RewindSchema(),
    "redeal": RedealSchema(),
    "adjust_scores": AdjustScoresSchema(),
    "replace_seat": ReplaceSeatSchema(),
    "extend_clock": ExtendClockSchema(),
    "void": VoidSchema(),
    "award": AwardSchema(),
}


class RulingRequestSchema(RequestSchema):
    """What a referee decides."""

    outcome = fields.String(required=True, validate=validate.OneOf(OUTCOMES))
    remedies = fields.List(
        Tagged("Remedy", REMEDY_SHAPES, tag="kind"),
        load_default=list,
        validate=validate.Length(0, REMEDIES_AT_MOST),
    )
    public_reason = _words(1, STATEMENT_CHARS, "For the parties.")
    private_note = _words(0, STATEMENT_CHARS, "For admins.", required=False, load_default="")
    dry_run = StrictBoolean(
        load_default=False,
        metadata={"description": "Only say what it would do; nothing is written."},
    )


def _ulid(fault: str) -> fields.String:
    """An id that may be left out."""
    return fields.String(
        load_default=None,
        allow_none=True,
        validate=Matches(ULID_PATTERN, fault),
        metadata={"pattern": ULID_PATTERN},
    )


class HiddenReadRequestSchema(RequestSchema):
    """Whose hands, at which version, and why."""

    reason = _words(20, STATEMENT_CHARS, "Why; it is kept for ever.")
    at = StrictInteger(
        load_default=None, allow_none=True, validate=validate.Range(1, VERSIONS_AT_MOST)
    )
    seats = fields.List(
        SeatField(validate=validate.Range(1, SEATS_AT_MOST)),
        load_default=None,
        allow_none=True,
        validate=validate.Length(1, SEATS_AT_MOST),
    )
    dispute = _ulid("It is no dispute's id.")

    approval = _ulid("It is no request's id.")

    @post_load
    def build(self, data: dict[str, Any], **_: object) -> HiddenRequest:
        """The request as the use case knows it."""
        return HiddenRequest(**data)


class LookRequestSchema(HiddenReadRequestSchema):
    """What to look at once another admin has approved of it."""

    class Meta:  # noqa: D106
        exclude = ("approval",)


class WhatIfRequestSchema(RequestSchema):
    """Moves to try, from which version; why, if the game runs."""

    at = StrictInteger(required=True, validate=validate.Range(1, VERSIONS_AT_MOST))
    moves = fields.List(
        fields.Dict(keys=fields.String()), required=True, validate=validate.Length(0, MOVES_AT_MOST)
    )
    reason = _words(20, STATEMENT_CHARS, "Why.", required=False, load_default=None, allow_none=True)
    dispute = _ulid("It is no dispute's id.")
    approval = _ulid("It is no request's id.")


class ErasureRequestSchema(RequestSchema):
    """Why a player is to be forgotten."""

    reason = _words(20, STATEMENT_CHARS, "Why; it is kept for ever, so name nobody in it.")


class HandOddsRequestSchema(RequestSchema):
    """Whose hand, of the round that an event is of."""

    at = StrictInteger(required=True, validate=validate.Range(1, VERSIONS_AT_MOST))
    seat = SeatField(required=True, validate=validate.Range(1, SEATS_AT_MOST))


MOMENTS = ["event", "attempt", "replay", "connection"]
"""The kinds of lines of a timeline."""


class TimelineQuerySchema(PageQuerySchema):
    """Which part of a timeline."""

    kind = fields.String(load_default=None, validate=validate.OneOf(MOMENTS))
