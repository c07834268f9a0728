"""Seats and moves: what changes a game."""

import re
from collections.abc import Callable
from functools import cache

from marshmallow import Schema

from service.api import answers
from service.api.bodies import load_body
from service.api.doorway import REQUEST_ID
from service.api.games import receipt_json, seated_answer, seated_json
from service.api.operation import (
    JSON,
    NO_STORE,
    Answer,
    Call,
    Member,
    Operation,
    Returns,
    Texts,
    replay_header,
    spliced,
)
from service.api.schemas import (
    ContributionRequestSchema,
    EmptyRequestSchema,
    InvitationRequestSchema,
    SeatRequestSchema,
    any_move_request_schema,
    move_request_schema,
)
from service.canonical import JsonMap, dump_json
from service.cards import Seat
from service.play.caller import PLAY
from service.play.games import find_game
from service.play.inviting import admit, invite, revoke_invitation
from service.play.leaving import come_back, resign
from service.play.limits import CREATION, MOVES
from service.play.moving import MoveRequest, make_moves, moved_lines
from service.play.refereeing import note_attempt
from service.play.refusals import (
    IllegalMove,
    NotSeated,
    NotYourTurn,
    RevealNotLast,
    VersionConflict,
)
from service.play.seating import Seated, give_contribution, leave_seat, take_seat
from service.play.services import Services, timestamp
from service.play.watching import own_look, shown
from service.rules.registry import find
from service.rules.ruleset import AnyRuleset
from service.store.appends import RequestKey
from service.store.attempts import Attempt

REPLAYED = "replayed"
"""The code of a request that was answered before, in the timeline."""


def post_moves(call: Call, game: str) -> Answer:
    """Make a move."""
    player = call.known_caller.player
    find_game(call.services, game, player)
    body = call.body()
    try:
        moved = make_moves(call.services, player, game, _reader(body), call.key(body))
    except (IllegalMove, NotYourTurn, RevealNotLast, VersionConflict) as refusal:
        _note_attempt(call, game, body, refusal.slug.replace("-", "_"), refusal.members)
        raise
    if moved.is_replayed:
        _note_attempt(call, game, body, REPLAYED, {"current_version": moved.version})
    seen = own_look(call.services, moved.game, player, moved.frames[-1].event.seq)
    members: dict[str, Member] = {
        "version": moved.version,
        "events": Texts(moved_lines(moved)),
        "receipt": receipt_json(moved.receipt),
        "view": shown(call.services, seen),
    }
    headers = {**NO_STORE, **replay_header(is_replayed=moved.is_replayed)}
    return Answer(201, spliced(members), headers)


def _note_attempt(call: Call, game: str, body: JsonMap, code: str, facts: JsonMap) -> None:
    """Keep what was asked for and wrote nothing: for a referee, if there is a dispute."""
    caller = call.known_caller
    present = find_game(call.services, game, caller.player)
    version, seats = facts.get("current_version"), present.seats_of(caller.player)
    rule = facts.get("rule")
    attempt = Attempt(
        id=call.services.new_id(),
        game_id=game,
        at=call.services.now(),
        version=version if isinstance(version, int) else present.version,
        player_id=caller.player,
        key_id=caller.key,
        seat=seats[0] if seats else None,
        code=code,
        rule=rule if isinstance(rule, str) else None,
        moves=dump_json({"moves": body.get("moves", [body.get("move")])}),
        request_id=str(call.request.environ[REQUEST_ID]),
    )
    note_attempt(call.services, attempt)


def post_seat(call: Call, game: str) -> Answer:
    """Take a seat."""
    player = call.known_caller.player
    body = call.body()
    admit(call.services, player, game, body.get("invitation"))
    seated = take_seat(call.services, player, game, lambda: call.load(body), call.key(body))
    return seated_answer(call, seated)


def post_invitation(call: Call, game: str) -> Answer:
    """Invite to a game."""
    player = call.known_caller.player
    find_game(call.services, game, player)
    body = call.body()
    made = invite(call.services, player, game, call.load(body), call.key(body))
    answer = {
        "id": made.id,
        "token": made.token,
        "url": f"/games/{game}#invitation={made.token}",
        "expires_at": timestamp(made.expires_at),
    }
    return Answer(201, answer, NO_STORE)


def delete_invitation(call: Call, game: str, invitation: str) -> Answer:
    """End an invitation."""
    player = call.known_caller.player
    find_game(call.services, game, player)
    revoke_invitation(call.services, player, game, invitation)
    return Answer(204)


def put_contribution(call: Call, game: str, seat: str) -> Answer:
    """Give a contribution."""
    player = call.known_caller.player
    find_game(call.services, game, player)
    body = call.body()
    seated = give_contribution(
        call.services, player, game, _seat(seat), lambda: call.load(body)["contribution"]
    )
    return Answer(200, seated_json(call, seated), NO_STORE)


def delete_seat(call: Call, game: str, seat: str) -> Answer:
    """Leave a seat."""
    player = call.known_caller.player
    find_game(call.services, game, player)
    receipt = leave_seat(call.services, player, game, _seat(seat))
    return Answer(200, {"receipt": receipt_json(receipt)}, NO_STORE)


def post_resignation(call: Call, game: str) -> Answer:
    """Give up a seat."""
    return _replaced(call, game, resign)


def post_return(call: Call, game: str) -> Answer:
    """Come back to a seat."""
    return _replaced(call, game, come_back)


def _replaced(
    call: Call, game: str, replace: Callable[[Services, str, str, RequestKey | None], Seated]
) -> Answer:
    player = call.known_caller.player
    body = call.body()
    call.load(body)
    return seated_answer(call, replace(call.services, player, game, call.key(body)))


def _seat(text: str) -> Seat:
    """The seat of the path; one that no table has is nobody's."""
    if not SEAT.fullmatch(text):
        raise NotSeated
    return Seat(int(text))


def _reader(body: JsonMap) -> Callable[[AnyRuleset], MoveRequest]:
    def read(ruleset: AnyRuleset) -> MoveRequest:
        request: MoveRequest = load_body(_schema(ruleset.name, ruleset.version), body)
        return request

    return read


@cache
def _schema(name: str, version: str) -> Schema:
    """The schema of the ruleset's moves, built once."""
    return move_request_schema(find(name, version))


SEAT = re.compile("[1-9][0-9]?")

OPERATIONS = (
    Operation(
        id="takeSeat",
        method="POST",
        path="/games/{game}/seats",
        tag="Seats",
        summary="Take a seat",
        description="Whoever takes the last seat starts the game: the cut, the deal, and the "
        "turns of the bots that are first.",
        view=post_seat,
        scope=PLAY,
        body=SeatRequestSchema(),
        returns={
            201: Returns(
                "Your seat.", {JSON: answers.SeatedSchema()}, ("Location", "Idempotent-Replayed")
            )
        },
        refuses=(
            "game-not-found",
            "already-seated",
            "game-not-open",
            "seat-taken",
            "seat-kept",
            "no-free-seat",
            "game-busy",
        ),
        is_idempotent_by_key=True,
    ),
    Operation(
        id="invite",
        method="POST",
        path="/games/{game}/invitations",
        tag="Seats",
        summary="Invite somebody",
        description="To an open game that you opened or sit in. Whoever has the token may take a "
        "free seat of it, be it private: send it as `invitation` when you take the seat.",
        view=post_invitation,
        policy=CREATION,
        scope=PLAY,
        body=InvitationRequestSchema(),
        returns={201: Returns("The invitation, shown once.", {JSON: answers.InvitationSchema()})},
        refuses=("game-not-found", "not-seated", "game-not-open", "secret-already-shown"),
        is_idempotent_by_key=True,
    ),
    Operation(
        id="revokeInvitation",
        method="DELETE",
        path="/games/{game}/invitations/{invitation}",
        tag="Seats",
        summary="Take an invitation back",
        description="One that you made. Who sat down by it stays.",
        view=delete_invitation,
        scope=PLAY,
        returns={204: Returns("It is no longer good.")},
        refuses=("game-not-found", "invitation-not-found"),
    ),
    Operation(
        id="giveContribution",
        method="PUT",
        path="/games/{game}/seats/{seat}/contribution",
        tag="Seats",
        summary="Give your part in the shuffle",
        description="Now that the commitment is known. A table whose other seats are bots waits "
        "for it, and starts. Give the same again as often as you like.",
        view=put_contribution,
        scope=PLAY,
        body=ContributionRequestSchema(),
        returns={200: Returns("Your seat.", {JSON: answers.SeatedSchema()})},
        refuses=("game-not-found", "not-seated", "game-not-open", "game-busy"),
    ),
    Operation(
        id="leaveSeat",
        method="DELETE",
        path="/games/{game}/seats/{seat}",
        tag="Seats",
        summary="Leave a seat",
        description="While the game is open: your own seat, or any if you opened the game. The "
        "creator's own leaving voids it.",
        view=delete_seat,
        scope=PLAY,
        returns={200: Returns("The seat is free.", {JSON: answers.LeftSchema()})},
        refuses=("game-not-found", "not-seated", "game-not-open", "game-busy"),
    ),
    Operation(
        id="resign",
        method="POST",
        path="/games/{game}/resignation",
        tag="Seats",
        summary="Give up your seat",
        description="Of a running game, for good: a bot plays on. What the seat scores it keeps.",
        view=post_resignation,
        scope=PLAY,
        body=EmptyRequestSchema(),
        returns={
            201: Returns(
                "Your seat is a bot's now.",
                {JSON: answers.SeatedSchema()},
                ("Location", "Idempotent-Replayed"),
            )
        },
        refuses=("game-not-found", "not-seated", "game-not-active", "game-busy"),
        is_idempotent_by_key=True,
    ),
    Operation(
        id="comeBack",
        method="POST",
        path="/games/{game}/return",
        tag="Seats",
        summary="Come back to your seat",
        description="After three turns in a row that the clock played, a bot plays on for you. "
        "You may take your seat back as long as the game runs.",
        view=post_return,
        scope=PLAY,
        body=EmptyRequestSchema(),
        returns={
            201: Returns(
                "Your seat is yours again.",
                {JSON: answers.SeatedSchema()},
                ("Location", "Idempotent-Replayed"),
            )
        },
        refuses=("game-not-found", "not-away", "game-not-active", "game-busy"),
        is_idempotent_by_key=True,
    ),
    Operation(
        id="makeMoves",
        method="POST",
        path="/games/{game}/moves",
        tag="Moves",
        summary="Make a move",
        description="One `move`, or several `moves` as one: all of them, or none. Send an "
        "`Idempotency-Key` or `expected_version`, so that you can send it again. `version` and "
        "`events` are of your own moves; `view` is the present one, after the bots that were next.",
        view=post_moves,
        policy=MOVES,
        scope=PLAY,
        body=any_move_request_schema(),
        returns={
            201: Returns(
                "What your moves led to.",
                {JSON: answers.MovedSchema()},
                ("Idempotent-Replayed",),
            )
        },
        refuses=(
            "game-not-found",
            "not-seated",
            "precondition-required",
            "game-not-active",
            "version-conflict",
            "not-your-turn",
            "reveal-not-last",
            "illegal-move",
            "game-busy",
        ),
        is_idempotent_by_key=True,
    ),
)
