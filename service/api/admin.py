"""The referee's desk: for admins alone, and all of it in their trail."""

from datetime import datetime

from service.api import answers
from service.api.disputes import (
    case_json,
    dispute_json,
    disputes_page,
    message_json,
    ruling_json,
)
from service.api.games import receipt_json
from service.api.operation import (
    JSON,
    NDJSON,
    PRIVATE_NO_STORE,
    Answer,
    Call,
    Member,
    Operation,
    Returns,
    Texts,
    replay_header,
    spliced,
)
from service.api.pages import (
    bad_cursor,
    decode_number,
    decode_text,
    encode_cursor,
    list_answer,
    page_limit,
    read_cursor,
)
from service.api.schemas import (
    AdminMessageRequestSchema,
    DisputeChangeSchema,
    DisputesQuerySchema,
    EmptyRequestSchema,
    ErasureRequestSchema,
    HandOddsRequestSchema,
    HiddenReadRequestSchema,
    LookRequestSchema,
    PageQuerySchema,
    RulingRequestSchema,
    TimelineQuerySchema,
    WhatIfRequestSchema,
)
from service.canonical import Json, JsonMap, dump_json, load_json
from service.log.game import Game
from service.play import looking, refereeing
from service.play.admins import (
    ADMIN_AUDIT,
    ADMIN_HIDDEN,
    ADMIN_PLAYERS,
    ADMIN_READ,
    ADMIN_RULE,
)
from service.play.analysing import hand_odds
from service.play.disputes import Case, case_of, find_dispute, say
from service.play.erasing import forget_player
from service.play.games import catch_up
from service.play.limits import CREATION, WRITES
from service.play.looking import HiddenRequest
from service.play.proving import export_of, verify_upload
from service.play.refereeing import RulingRequest, actor_of
from service.play.refusals import EditConflict, PreconditionRequired
from service.play.services import timestamp, timestamp_if
from service.store.attempts import Moment
from service.store.audit import read_trail, whole_trail
from service.store.disputes import OPEN, change_dispute
from service.store.looks import Look


def get_disputes(call: Call) -> Answer:
    """List disputes."""
    return disputes_page(call, None)


def get_dispute(call: Call, dispute: str) -> Answer:
    """Read a dispute."""
    found = find_dispute(call.services, dispute)
    call.admin.refuse_own(found.parties)
    return _case_answer(case_of(call.services, found, for_admins=True))


def patch_dispute(call: Call, dispute: str) -> Answer:
    """Take a dispute on."""
    found = find_dispute(call.services, dispute)
    call.admin.refuse_own(found.parties)
    asked = call.load(call.body())
    if call.request.headers.get("If-Match") != _tag(found.version):
        raise EditConflict
    changes = dict(asked)
    if "assignee" in changes:
        changes["assignee"] = call.admin.id if changes["assignee"] == "me" else None
    if "status" in changes and found.status not in OPEN:
        raise EditConflict
    changed = change_dispute(call.services.database, found, changes)
    if changed is None:
        raise EditConflict
    return _case_answer(case_of(call.services, changed, for_admins=True))


def post_message(call: Call, dispute: str) -> Answer:
    """Say something of a dispute."""
    found = find_dispute(call.services, dispute)
    call.admin.refuse_own(found.parties)
    asked = call.load(call.body())
    author = actor_of(call.admin)
    message = say(call.services, found, author, asked["body"], asked["visibility"])
    return Answer(201, message_json(message), PRIVATE_NO_STORE)


def post_ruling(call: Call, dispute: str) -> Answer:
    """Rule."""
    find_dispute(call.services, dispute)
    body = call.body()
    asked = call.load(body)
    is_dry = asked.pop("dry_run")
    ruling = RulingRequest(**asked)
    if is_dry:
        tried = refereeing.preview(call.services, call.admin, dispute, ruling)
        return Answer(200, {"preview": refereeing.preview_json(tried)}, PRIVATE_NO_STORE)
    key = call.key(body)
    if key is None:
        raise PreconditionRequired
    case, committed = refereeing.rule(call.services, call.admin, dispute, ruling, key)
    members: dict[str, Member] = {
        "dispute": _case_json(case),
        "version": committed.frames[-1].event.seq,
        "events": Texts([refereeing.event_text(frame) for frame in committed.frames]),
        "receipt": receipt_json(committed.receipt),
    }
    replayed = replay_header(is_replayed=committed.is_replayed)
    return Answer(201, spliced(members), {**PRIVATE_NO_STORE, **replayed})


def get_timeline(call: Call, game: str) -> Answer:
    """What happened, and what was tried."""
    limit = page_limit(call.query)
    after = _moment(call.query["cursor"])
    present, found = refereeing.timeline_of(
        call.services, game, call.query["kind"], after, limit + 1
    )
    items = [_moment_text(moment, is_over=present.status.is_over) for moment in found[:limit]]
    cursor = _cursor(found[limit - 1]) if len(found) > limit else None
    members: dict[str, Member] = {"items": Texts(items), "next_cursor": cursor}
    return Answer(200, spliced(members), PRIVATE_NO_STORE)


def post_hidden_read(call: Call, game: str) -> Answer:
    """See hands."""
    asked = call.load(call.body())
    return Answer(
        201, looking.read_hidden(call.services, call.admin, game, asked), PRIVATE_NO_STORE
    )


def post_look(call: Call, game: str) -> Answer:
    """Ask for another admin's approval."""
    asked = call.load(call.body())
    look = looking.ask_to_look(call.services, call.admin, game, asked)
    return Answer(201, _look_json(look), PRIVATE_NO_STORE)


def get_looks(call: Call) -> Answer:
    """List what was asked for."""
    limit, before = page_limit(call.query), read_cursor(call.query)
    page, last = looking.looks_page(call.services, call.admin, before, limit)
    return list_answer(call, [_look_json(look) for look in page], last)


def post_approval(call: Call, look: str) -> Answer:
    """Approve."""
    call.load(call.body())
    approved = looking.approve_look(call.services, call.admin, look)
    return Answer(200, _look_json(approved), PRIVATE_NO_STORE)


def post_what_if(call: Call, game: str) -> Answer:
    """Try moves."""
    asked = call.load(call.body())
    moves = asked.pop("moves")
    request = HiddenRequest(**{**asked, "reason": asked["reason"] or ""})
    tried = looking.what_if(call.services, call.admin, game, moves, request)
    return Answer(200, tried, PRIVATE_NO_STORE)


def post_hold(call: Call, game: str) -> Answer:
    """Stop a game."""
    call.load(call.body())
    return _held(refereeing.hold_game(call.services, call.admin, game))


def post_resume(call: Call, game: str) -> Answer:
    """Let a game go on."""
    call.load(call.body())
    return _held(refereeing.resume_game(call.services, call.admin, game))


def post_verify(call: Call, game: str) -> Answer:
    """Check a game."""
    call.load(call.body())
    present, _ = catch_up(call.services, game)
    lines = export_of(call.services, present).lines
    report = verify_upload(call.services, "".join(lines))
    return Answer(200, report.to_json(), PRIVATE_NO_STORE)


def post_hand_odds(call: Call, game: str) -> Answer:
    """How likely a hand is."""
    asked = call.load(call.body())
    return Answer(200, hand_odds(call.services, game, asked["at"], asked["seat"]), PRIVATE_NO_STORE)


def post_erasure(call: Call, player: str) -> Answer:
    """Forget a player."""
    reason = call.load(call.body())["reason"]
    forget_player(call.services, call.admin, player, reason)
    return Answer(204)


def get_trail(call: Call) -> Answer:
    """Read the trail."""
    limit, cursor = page_limit(call.query), call.query["cursor"]
    before = None if cursor is None else decode_number(cursor)
    found = read_trail(call.services.database, before, limit + 1)
    last = load_json(found[limit - 1])["seq"] if len(found) > limit else None
    members: dict[str, Member] = {
        "items": Texts(found[:limit]),
        "next_cursor": None if last is None else encode_cursor(str(last)),
    }
    return Answer(200, spliced(members), PRIVATE_NO_STORE)


def get_trail_export(call: Call) -> Answer:
    """Take the trail away."""
    lines = (f"{line}\n" for line in whole_trail(call.services.database))
    return Answer(200, lines, PRIVATE_NO_STORE, NDJSON)


def _case_answer(case: Case) -> Answer:
    headers = {**PRIVATE_NO_STORE, "ETag": _tag(case.dispute.version)}
    return Answer(200, _case_json(case), headers)


def _case_json(case: Case) -> JsonMap:
    rulings: list[Json] = [
        {**ruling_json(row), "admin": row.admin_id, "private_note": row.private_note}
        for row in case.rulings
    ]
    return {
        **case_json(case),
        **dispute_json(case.dispute),
        "version": case.dispute.version,
        "rulings": rulings,
    }


def _look_json(look: Look) -> JsonMap:
    return {
        "id": look.id,
        "game": look.game_id,
        "admin": look.admin_id,
        "name": look.admin_name,
        "version": look.version,
        "seats": list(look.seats),
        "reason": look.reason,
        "dispute": look.dispute_id,
        "asked_at": timestamp(look.asked_at),
        "approved_by": look.approved_by,
        "approved_at": timestamp_if(look.approved_at),
    }


def _tag(version: int) -> str:
    return f'"v{version}"'


def _held(game: Game) -> Answer:
    return Answer(200, {"status": game.status.value, "version": game.version}, PRIVATE_NO_STORE)


def _moment_text(moment: Moment, *, is_over: bool) -> str:
    """A line of the timeline; what was tried in a running game stays hidden."""
    if moment.kind == "event":
        at = dump_json({"at": timestamp(moment.at)})[1:-1]
        return f'{{"kind":"event",{at},"event":{moment.body}}}'
    facts = dict(load_json(moment.body))
    tried = facts.pop("moves", None)
    if is_over and isinstance(tried, str):
        facts["moves"] = load_json(tried)["moves"]
    return dump_json({"kind": moment.kind, "at": timestamp(moment.at), moment.kind: facts})


def _cursor(moment: Moment) -> str:
    return encode_cursor(f"{moment.at.isoformat()} {moment.kind} {moment.key}")


def _moment(cursor: str | None) -> Moment | None:
    if cursor is None:
        return None
    text = decode_text(cursor)
    try:
        at, kind, key = text.split(" ")
        moment = Moment(kind, datetime.fromisoformat(at), key, "")
    except ValueError as error:
        raise bad_cursor() from error
    if moment.at.tzinfo is None or not (kind.isalpha() and key.isalnum()):
        raise bad_cursor()
    return moment


OPERATIONS = (
    Operation(
        id="adminListDisputes",
        method="GET",
        path="/admin/disputes",
        tag="Referee",
        summary="List disputes",
        view=get_disputes,
        scope=ADMIN_READ,
        query=DisputesQuerySchema(),
        returns={200: Returns("A page of disputes.", {JSON: answers.DisputesPageSchema()})},
    ),
    Operation(
        id="adminReadDispute",
        method="GET",
        path="/admin/disputes/{dispute}",
        tag="Referee",
        summary="Read a dispute",
        view=get_dispute,
        scope=ADMIN_READ,
        returns={200: Returns("The dispute.", {JSON: answers.AdminDisputeSchema()}, ("ETag",))},
        refuses=("dispute-not-found", "conflict-of-interest"),
    ),
    Operation(
        id="adminChangeDispute",
        method="PATCH",
        path="/admin/disputes/{dispute}",
        tag="Referee",
        summary="Take a dispute on, or put it back",
        description="With the `ETag` that you read as `If-Match`.",
        view=patch_dispute,
        scope=ADMIN_RULE,
        body=DisputeChangeSchema(),
        returns={200: Returns("The dispute.", {JSON: answers.AdminDisputeSchema()}, ("ETag",))},
        refuses=("dispute-not-found", "conflict-of-interest", "edit-conflict"),
    ),
    Operation(
        id="adminSayOfDispute",
        method="POST",
        path="/admin/disputes/{dispute}/messages",
        tag="Referee",
        summary="Say something of a dispute",
        view=post_message,
        scope=ADMIN_RULE,
        body=AdminMessageRequestSchema(),
        returns={201: Returns("The message.", {JSON: answers.MessageSchema()})},
        refuses=("dispute-not-found", "conflict-of-interest", "dispute-closed"),
    ),
    Operation(
        id="rule",
        method="POST",
        path="/admin/disputes/{dispute}/rulings",
        tag="Referee",
        summary="Rule on a dispute",
        description="With an `Idempotency-Key`. Each remedy becomes an event; nothing is deleted. "
        "Once the secret of a game is revealed, scores may be adjusted and the game voided, and "
        "nothing else. `dry_run` says what a ruling would do.",
        view=post_ruling,
        policy=CREATION,
        scope=ADMIN_RULE,
        body=RulingRequestSchema(),
        returns={
            200: Returns("What it would do.", {JSON: answers.RuledSchema()}),
            201: Returns("The ruling.", {JSON: answers.RuledSchema()}, ("Idempotent-Replayed",)),
        },
        refuses=(
            "dispute-not-found",
            "dispute-closed",
            "conflict-of-interest",
            "remedy-not-possible",
            "precondition-required",
        ),
        is_idempotent_by_key=True,
    ),
    Operation(
        id="gameTimeline",
        method="GET",
        path="/admin/games/{game}/timeline",
        tag="Referee",
        summary="What happened in a game, and what was tried",
        description="Events, refused attempts, replays of keys, and when players came and went, in "
        "order of time. Of a running game the attempts are without their moves, which would tell "
        "what is in a hand.",
        view=get_timeline,
        scope=ADMIN_READ,
        query=TimelineQuerySchema(),
        returns={200: Returns("A part of it.", {JSON: answers.TimelineSchema()})},
        refuses=("game-not-found",),
    ),
    Operation(
        id="readHidden",
        method="POST",
        path="/admin/games/{game}/hidden-reads",
        tag="Referee",
        summary="See hands",
        description="Of a running game it is written down first, with its reason, and the players "
        "are told once the game has ended. Not for who plays in it or opened it.",
        view=post_hidden_read,
        scope=ADMIN_HIDDEN,
        body=HiddenReadRequestSchema(),
        returns={201: Returns("The table.", {JSON: answers.HiddenViewSchema()})},
        refuses=(
            "game-not-found",
            "version-not-found",
            "conflict-of-interest",
            "approval-required",
            "hidden-read-request-not-found",
        ),
    ),
    Operation(
        id="requestHiddenRead",
        method="POST",
        path="/admin/games/{game}/hidden-read-requests",
        tag="Referee",
        summary="Ask another admin's approval to see hands",
        description="Nothing is shown. Once it is approved of, send its id as `approval` with the "
        "hidden read or the what-if, within the hour.",
        view=post_look,
        policy=WRITES,
        scope=ADMIN_HIDDEN,
        body=LookRequestSchema(),
        returns={201: Returns("The request.", {JSON: answers.LookSchema()})},
        refuses=("game-not-found", "version-not-found", "conflict-of-interest"),
    ),
    Operation(
        id="listHiddenReadRequests",
        method="GET",
        path="/admin/hidden-read-requests",
        tag="Referee",
        summary="List requests to see hands",
        view=get_looks,
        scope=ADMIN_HIDDEN,
        query=PageQuerySchema(),
        returns={200: Returns("A page of them.", {JSON: answers.LooksPageSchema()})},
    ),
    Operation(
        id="approveHiddenRead",
        method="POST",
        path="/admin/hidden-read-requests/{look}/approval",
        tag="Referee",
        summary="Approve of another admin's look at hands",
        description="Not of one's own. Twice is no fault.",
        view=post_approval,
        policy=WRITES,
        scope=ADMIN_HIDDEN,
        body=EmptyRequestSchema(),
        returns={200: Returns("The request.", {JSON: answers.LookSchema()})},
        refuses=(
            "game-not-found",
            "hidden-read-request-not-found",
            "approval-by-another",
            "conflict-of-interest",
        ),
    ),
    Operation(
        id="tryMoves",
        method="POST",
        path="/admin/games/{game}/what-if",
        tag="Referee",
        summary="Try moves from a version",
        description="In memory: which would have been legal, and by which rule not. Of a running "
        "game it is a hidden read and needs its reason; it stops where a card would be shown.",
        view=post_what_if,
        policy=WRITES,
        scope=ADMIN_READ,
        body=WhatIfRequestSchema(),
        returns={200: Returns("What came of it.", {JSON: answers.TriedSchema()})},
        refuses=(
            "game-not-found",
            "version-not-found",
            "conflict-of-interest",
            "game-not-active",
            "approval-required",
            "hidden-read-request-not-found",
        ),
    ),
    Operation(
        id="holdGame",
        method="POST",
        path="/admin/games/{game}/hold",
        tag="Referee",
        summary="Stop a game",
        description="Nobody moves, and no clock runs. Twice is no fault.",
        view=post_hold,
        scope=ADMIN_RULE,
        body=EmptyRequestSchema(),
        returns={200: Returns("How it stands.", {JSON: answers.HeldSchema()})},
        refuses=("game-not-found", "game-not-active", "conflict-of-interest"),
    ),
    Operation(
        id="resumeGame",
        method="POST",
        path="/admin/games/{game}/resume",
        tag="Referee",
        summary="Let a game go on",
        description="The turn, and its clock, begin anew. Twice is no fault.",
        view=post_resume,
        scope=ADMIN_RULE,
        body=EmptyRequestSchema(),
        returns={200: Returns("How it stands.", {JSON: answers.HeldSchema()})},
        refuses=("game-not-found", "game-not-active", "conflict-of-interest"),
    ),
    Operation(
        id="verifyGame",
        method="POST",
        path="/admin/games/{game}/verify",
        tag="Referee",
        summary="Check a game",
        view=post_verify,
        scope=ADMIN_READ,
        body=EmptyRequestSchema(),
        returns={200: Returns("The verdicts.", {JSON: answers.ReportSchema()})},
        refuses=("game-not-found", "verifier-busy"),
    ),
    Operation(
        id="handOdds",
        method="POST",
        path="/admin/games/{game}/hand-odds",
        tag="Referee",
        summary="How likely a hand is",
        description="Of an ended game: what the seat was dealt in the round of event `at`, and the "
        "exact odds of each kind of which it has more than one.",
        view=post_hand_odds,
        scope=ADMIN_READ,
        body=HandOddsRequestSchema(),
        returns={200: Returns("The odds.", {JSON: answers.HandOddsSchema()})},
        refuses=("game-not-found", "game-not-over", "version-not-found"),
    ),
    Operation(
        id="forgetPlayer",
        method="POST",
        path="/admin/players/{player}/erasure",
        tag="Referee",
        summary="Forget a player",
        description="Their name, what they said of disputes, keys, webhooks and notices, for good. "
        "Their games stay and still verify: a log knows them by their id alone. A bot plays on in "
        "games that run. Twice is no fault.",
        view=post_erasure,
        scope=ADMIN_PLAYERS,
        body=ErasureRequestSchema(),
        returns={204: Returns("They are forgotten.")},
        refuses=("player-not-found",),
    ),
    Operation(
        id="readTrail",
        method="GET",
        path="/admin/audit",
        tag="Referee",
        summary="Read what admins did",
        description="Newest first; that you read it is in it.",
        view=get_trail,
        scope=ADMIN_AUDIT,
        query=PageQuerySchema(),
        returns={200: Returns("A page of the trail.", {JSON: answers.TrailSchema()})},
    ),
    Operation(
        id="exportTrail",
        method="GET",
        path="/admin/audit/export",
        tag="Referee",
        summary="Take the trail away",
        description="JSON Lines, oldest first, each chained to the one before: `fairdeal admin "
        "trail FILE` checks it.",
        view=get_trail_export,
        scope=ADMIN_AUDIT,
        returns={200: Returns("The trail.", {NDJSON: None})},
    ),
)
