"""Why a request is refused: data for the client, and nothing that its seat can't see."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from service.canonical import Json, JsonMap
from service.cards import Seat
from service.rules.ruleset import AnyRuleset
from service.rules.violation import RuleViolation


class Refusal(Exception):
    """The service says no, and has changed nothing.

    `slug` names the problem's page; `message` is a template in English that
    `params` fills; `members` are what the answer says beside it, for programs.
    """

    slug: ClassVar[str]
    message: ClassVar[str]

    def __init__(self, members: JsonMap | None = None, **params: object) -> None:
        super().__init__(self.message.format(**params))
        self.params = params
        self.members: JsonMap = members or {}


class Unauthenticated(Refusal):
    """There is no key, or none that is live."""

    slug = "unauthenticated"
    message = "Send a live key: `Authorization: Bearer fd_pk_…`."


class InsufficientScope(Refusal):
    """The key may not do this."""

    slug = "insufficient-scope"
    message = "This key lacks the scope `{scope}`."


class GameNotFound(Refusal):
    """There is no such game, or the caller may not know of it."""

    slug = "game-not-found"
    message = "There is no game with this id that you may see."


class GameRemoved(Refusal):
    """The game is past its age; `players` are those who may know so of a private one."""

    slug = "game-removed"
    message = "The game ended long ago. It was exported, verified and removed on {removed_at}."

    def __init__(self, members: JsonMap, players: Sequence[str] | None, removed_at: str) -> None:
        super().__init__(members, removed_at=removed_at)
        self.players = players

    def refuse_strangers(self, player: str | None) -> None:
        """Raise GameNotFound where the caller never knew of the game."""
        if self.players is not None and player not in self.players:
            raise GameNotFound


class KeyNotFound(Refusal):
    """The caller has no such key."""

    slug = "key-not-found"
    message = "You have no key with this id."


class RulesetNotFound(Refusal):
    """No ruleset of that name and version."""

    slug = "ruleset-not-found"
    message = "There is no ruleset `{name}` of version `{version}`."


class EventNotFound(Refusal):
    """The version that was asked for lies outside the game's log."""

    slug = "version-not-found"
    message = "The game has versions 1 to {version}."


class HeadNotFound(Refusal):
    """No version of the game has that hash as its head."""

    slug = "head-not-found"
    message = "The game never ended a write with an event of this hash."


class CheckpointNotFound(Refusal):
    """No checkpoint of that size was signed."""

    slug = "checkpoint-not-found"
    message = "There is no such checkpoint: `GET /checkpoints/latest` is the newest."


class GameNotFinished(Refusal):
    """A rematch follows a game that was played to its end."""

    slug = "game-not-finished"
    message = "A rematch follows a game that was played to its end."


class GameNotOver(Refusal):
    """Only what has ended stays as it is."""

    slug = "game-not-over"
    message = "The game had not ended there: watch it by its `/replay`."


class TooManyRequests(Refusal):
    """The caller asked more often than a policy allows; `retry_after` is in seconds."""

    slug = "too-many-requests"
    message = "You asked too often by the policy `{policy}`: wait {retry_after} seconds."

    def __init__(self, policy: str, retry_after: int) -> None:
        super().__init__(policy=policy, retry_after=retry_after)
        self.retry_after = retry_after


class TooManyStreams(Refusal):
    """A key, or a process, holds a limited number of streams."""

    slug = "too-many-streams"
    message = "There are {limit} streams of yours already: close one first."


class NotReplayable(Refusal):
    """An export that no replay takes."""

    slug = "not-replayable"
    message = "This log can't be replayed: {reason}."


class VerifierBusy(Refusal):
    """The process verifies another log just now."""

    slug = "verifier-busy"
    message = "Another log is being verified: try again, or verify it yourself, offline."


class HiddenInformation(Refusal):
    """The seat's cards are hidden from the caller while the game runs."""

    slug = "hidden-information"
    message = "The cards of another seat are shown once the game has ended."


class NoSpectators(Refusal):
    """Who only looks on is not admitted while the game runs."""

    slug = "no-spectators"
    message = "Only its players see this game while it runs; everybody may once it has ended."


class NotSeated(Refusal):
    """The caller does not hold the seat."""

    slug = "not-seated"
    message = "You don't hold this seat."


class InvitationNotFound(Refusal):
    """The caller made no such invitation."""

    slug = "invitation-not-found"
    message = "You made no invitation with this id."


class NotAway(Refusal):
    """Nobody plays on for the caller here."""

    slug = "not-away"
    message = "No bot plays on for you in this game."


class NotYourTurn(Refusal):
    """Another seat is to act."""

    slug = "not-your-turn"
    message = "Seat {to_act} is to act."


class GameNotActive(Refusal):
    """No moves are made before a game starts or after it ended."""

    slug = "game-not-active"
    message = "The game is {game_status}."


class GameNotOpen(Refusal):
    """The seats of a game are fixed when it starts."""

    slug = "game-not-open"
    message = "The game is {game_status}: its seats are fixed."


class SeatTaken(Refusal):
    """Somebody sits there."""

    slug = "seat-taken"
    message = "Seat {seat} is taken."


class SeatKept(Refusal):
    """The seat of a rematch is kept for who sat there before."""

    slug = "seat-kept"
    message = "Seat {seat} is kept for who had it in the game before."


class NoFreeSeat(Refusal):
    """Every seat is taken."""

    slug = "no-free-seat"
    message = "Every seat of this game is taken."


class AlreadySeated(Refusal):
    """A player holds one seat of a game, sandbox games excepted."""

    slug = "already-seated"
    message = "You hold seat {seat} of this game already."


class VersionConflict(Refusal):
    """The game has moved on from the version that the request was made for."""

    slug = "version-conflict"
    message = "The game is at version {current_version}."


class Busy(Refusal):
    """Others kept changing the game; nothing was written."""

    slug = "game-busy"
    message = "Others are changing this game right now; nothing was written. Try again."


class PreconditionRequired(Refusal):
    """A move must be safe to send again."""

    slug = "precondition-required"
    message = "Send an `Idempotency-Key`, or `expected_version`, so that a retry is safe."


class KeyReused(Refusal):
    """The idempotency key belongs to another request."""

    slug = "idempotency-key-reused"
    message = "This Idempotency-Key was used with another body."


class SecretAlreadyShown(Refusal):
    """A replayed request would have to show a secret again."""

    slug = "secret-already-shown"
    message = "This request was answered before, and its token is shown only once."


class TooManyKeys(Refusal):
    """A player holds a limited number of live keys."""

    slug = "too-many-keys"
    message = "You hold {limit} live keys: revoke one first."


class RevealNotLast(Refusal):
    """A move that shows a hidden card or ends the turn comes last in its batch."""

    slug = "reveal-not-last"
    message = "Move {move_index} reveals a hidden card or ends the turn, so it must come last."


class IllegalMove(Refusal):
    """The rules of the game forbid the move."""

    slug = "illegal-move"
    message = "{reason}"

    def __init__(self, ruleset: AnyRuleset, violation: RuleViolation, members: JsonMap) -> None:
        super().__init__(members, reason=str(violation))
        self.ruleset = ruleset
        self.violation = violation


@dataclass(frozen=True, slots=True)
class FieldError:
    """What is wrong with one field; `pointer` is a JSON pointer into the body."""

    pointer: str
    detail: str

    def to_json(self) -> JsonMap:
        """The error as it stands in `errors`."""
        return {"pointer": self.pointer, "detail": self.detail}


class InvalidBody(Refusal):
    """The body is JSON, but not of the shape that the operation takes."""

    slug = "validation-failed"
    message = "The body is not of the right shape: `errors` says where."

    def __init__(self, errors: Sequence[FieldError]) -> None:
        listed: list[Json] = [error.to_json() for error in errors]
        super().__init__({"errors": listed})


class InvalidQuery(Refusal):
    """A query parameter that the operation does not know, or can't read."""

    slug = "invalid-query"
    message = "`{parameter}`: {detail}"

    def __init__(self, parameter: str, detail: str) -> None:
        super().__init__({"parameter": parameter}, parameter=parameter, detail=detail)


def seat_pointer(field: str, seat: Seat, seats: int) -> InvalidBody:
    """The refusal of a seat that the table does not have."""
    return InvalidBody([FieldError(field, f"There is no seat {seat}: the seats are 1 to {seats}.")])


class WebhookNotFound(Refusal):
    """The caller has no webhook of that id."""

    slug = "webhook-not-found"
    message = "You have no webhook with this id."


class DeliveryNotFound(Refusal):
    """The webhook has no delivery of that id, or has it no more."""

    slug = "delivery-not-found"
    message = "This webhook has no delivery with this id; after thirty days they are dropped."


class TooManyWebhooks(Refusal):
    """The caller has as many webhooks as one may have."""

    slug = "too-many-webhooks"
    message = "You have {limit} webhooks, which is as many as there may be."


class DisputeNotFound(Refusal):
    """There is no such dispute, or it is not for the caller to know of."""

    slug = "dispute-not-found"
    message = "There is no such dispute, or you are no party to it."


class DisputeStandsAlready(Refusal):
    """A seat has one open dispute at a time, and not too many in all."""

    slug = "dispute-stands"
    message = "Your seat has an open dispute in this game, or filed as many as it may: {limit}."


class DisputeClosed(Refusal):
    """What is asked for is not possible in the state that the dispute is in."""

    slug = "dispute-closed"
    message = "The dispute is {dispute_status}: that can't be done with it now."


class EditConflict(Refusal):
    """Somebody else changed it meanwhile."""

    slug = "edit-conflict"
    message = "It has changed since you read it: read it again, and send its ETag as `If-Match`."


class ConflictOfInterest(Refusal):
    """A referee has no part in the game."""

    slug = "conflict-of-interest"
    message = "You play in this game yourself, or opened it: another admin has to."


class ApprovalRequired(Refusal):
    """Two persons are wanted for a look at hands, and one has not approved of it yet."""

    slug = "approval-required"
    message = (
        "Another admin has to approve of this look first: ask by `POST "
        "/admin/games/{{game}}/hidden-read-requests`, and send its id as `approval`."
    )


class ApprovalByAnother(Refusal):
    """Nobody approves of what they asked for themselves."""

    slug = "approval-by-another"
    message = "You asked for this look yourself: another admin has to approve of it."


class LookNotFound(Refusal):
    """There is no such request for a hidden read, or it is too old."""

    slug = "hidden-read-request-not-found"
    message = "There is no request with this id that still holds: they do for an hour."


class RemedyNotPossible(Refusal):
    """The remedy does not fit the game as it stands."""

    slug = "remedy-not-possible"
    message = "Remedy {index} ({kind}) is not possible here: {reason}."


class PlayerNotFound(Refusal):
    """There is no such player."""

    slug = "player-not-found"
    message = "There is no player with this id."
