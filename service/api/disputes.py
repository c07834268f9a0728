"""Disputes, as the players who are parties to them file and follow them."""

from service.api import answers
from service.api.games import receipt_json
from service.api.operation import (
    JSON,
    PRIVATE_NO_STORE,
    Answer,
    Call,
    Operation,
    Returns,
    replay_header,
)
from service.api.pages import page_limit, read_cursor, rows_answer
from service.api.schemas import (
    DisputeRequestSchema,
    DisputesQuerySchema,
    EmptyRequestSchema,
    MessageRequestSchema,
)
from service.canonical import Json, JsonMap, load_json
from service.log.events import Actor
from service.play.caller import PLAY, READ
from service.play.disputes import Case, appeal, case_of, file_dispute, find_case, say, withdraw
from service.play.games import find_game
from service.play.limits import CREATION
from service.play.services import timestamp, timestamp_if
from service.store.disputes import DisputeRow, Message, RulingRow, list_disputes


def post_dispute(call: Call, game: str) -> Answer:
    """File a dispute."""
    player = call.known_caller.player
    find_game(call.services, game, player)
    body = call.body()
    filed, committed = file_dispute(
        call.services, player, game, lambda: call.load(body), call.key(body)
    )
    case = case_of(call.services, filed, for_admins=False)
    answer: JsonMap = {"dispute": case_json(case), "receipt": receipt_json(committed.receipt)}
    replayed = replay_header(is_replayed=committed.is_replayed)
    headers = {**PRIVATE_NO_STORE, "Location": f"/disputes/{filed.id}", **replayed}
    return Answer(201, answer, headers)


def get_disputes(call: Call) -> Answer:
    """List one's disputes."""
    return disputes_page(call, call.known_caller.player)


def disputes_page(call: Call, party: str | None) -> Answer:
    """A page of the disputes of one party, or of everybody's."""
    limit, before = page_limit(call.query), read_cursor(call.query)
    found = list_disputes(call.services.database, party, call.query["status"], before, limit + 1)
    return rows_answer(call, found, limit, dispute_json)


def get_dispute(call: Call, dispute: str) -> Answer:
    """Read a dispute."""
    case = find_case(call.services, call.known_caller.player, dispute)
    return Answer(200, case_json(case), PRIVATE_NO_STORE)


def post_message(call: Call, dispute: str) -> Answer:
    """Say something."""
    player = call.known_caller.player
    found = find_case(call.services, player, dispute).dispute
    words = call.load(call.body())["body"]
    message = say(call.services, found, Actor(kind="player", id=player), words)
    return Answer(201, message_json(message), PRIVATE_NO_STORE)


def post_withdrawal(call: Call, dispute: str) -> Answer:
    """Withdraw a dispute."""
    call.load(call.body())
    case = withdraw(call.services, call.known_caller.player, dispute)
    return Answer(200, case_json(case), PRIVATE_NO_STORE)


def post_appeal(call: Call, dispute: str) -> Answer:
    """Appeal."""
    player = call.known_caller.player
    find_case(call.services, player, dispute)
    words = call.load(call.body())["body"]
    case = appeal(call.services, player, dispute, words)
    return Answer(201, case_json(case), PRIVATE_NO_STORE)


def dispute_json(dispute: DisputeRow) -> JsonMap:
    """A dispute without its words."""
    return {
        "id": dispute.id,
        "game": dispute.game_id,
        "seat": dispute.seat,
        "player": dispute.player_id,
        "reason": dispute.reason,
        "seqs": list(dispute.seqs),
        "status": dispute.status,
        "is_appealed": dispute.appealed_at is not None,
        "assignee": dispute.assignee,
        "opened_at": timestamp(dispute.opened_at),
        "closed_at": timestamp_if(dispute.closed_at),
    }


def case_json(case: Case) -> JsonMap:
    """A dispute, what was said of it, and what was decided, for its parties."""
    messages: list[Json] = [message_json(message) for message in case.messages]
    rulings: list[Json] = [ruling_json(ruling) for ruling in case.rulings]
    return {
        **dispute_json(case.dispute),
        "statement": case.dispute.statement,
        "messages": messages,
        "rulings": rulings,
    }


def message_json(message: Message) -> JsonMap:
    """What somebody said."""
    return {
        "id": message.id,
        "author": {"kind": message.author_kind, "id": message.author_id},
        "visibility": message.visibility,
        "body": message.body,
        "at": timestamp(message.at),
    }


def ruling_json(ruling: RulingRow) -> JsonMap:
    """What was decided, for the parties."""
    return {
        "id": ruling.id,
        "outcome": ruling.outcome,
        "remedies": load_json(ruling.remedies)["remedies"],
        "public_reason": ruling.public_reason,
        "seq": ruling.seq,
        "at": timestamp(ruling.at),
    }


OPERATIONS = (
    Operation(
        id="fileDispute",
        method="POST",
        path="/games/{game}/disputes",
        tag="Disputes",
        summary="File a dispute",
        description="For your seat, about events of the game, while it runs or after its end. The "
        "log says that there is a dispute, and no word of it. One open dispute a seat and game; "
        "where the game was opened with `hold_on_dispute`, it stops.",
        view=post_dispute,
        policy=CREATION,
        scope=PLAY,
        body=DisputeRequestSchema(),
        returns={
            201: Returns(
                "The dispute.",
                {JSON: answers.FiledSchema()},
                ("Location", "Idempotent-Replayed"),
            )
        },
        refuses=("game-not-found", "not-seated", "game-not-active", "dispute-stands"),
        is_idempotent_by_key=True,
    ),
    Operation(
        id="listDisputes",
        method="GET",
        path="/disputes",
        tag="Disputes",
        summary="List your disputes",
        description="Those of games that you played in.",
        view=get_disputes,
        scope=READ,
        query=DisputesQuerySchema(),
        returns={200: Returns("A page of disputes.", {JSON: answers.DisputesPageSchema()})},
    ),
    Operation(
        id="readDispute",
        method="GET",
        path="/disputes/{dispute}",
        tag="Disputes",
        summary="Read a dispute",
        view=get_dispute,
        scope=READ,
        returns={200: Returns("The dispute.", {JSON: answers.DisputeSchema()})},
        refuses=("dispute-not-found",),
    ),
    Operation(
        id="sayOfDispute",
        method="POST",
        path="/disputes/{dispute}/messages",
        tag="Disputes",
        summary="Say something of a dispute",
        view=post_message,
        scope=PLAY,
        body=MessageRequestSchema(),
        returns={201: Returns("The message.", {JSON: answers.MessageSchema()})},
        refuses=("dispute-not-found", "dispute-closed"),
    ),
    Operation(
        id="withdrawDispute",
        method="POST",
        path="/disputes/{dispute}/withdrawal",
        tag="Disputes",
        summary="Withdraw your dispute",
        description="A game that was held for it goes on. Twice is no fault.",
        view=post_withdrawal,
        scope=PLAY,
        body=EmptyRequestSchema(),
        returns={200: Returns("The dispute.", {JSON: answers.DisputeSchema()})},
        refuses=("dispute-not-found", "dispute-closed"),
    ),
    Operation(
        id="appealRuling",
        method="POST",
        path="/disputes/{dispute}/appeal",
        tag="Disputes",
        summary="Appeal a ruling",
        description="Once, within seven days of it.",
        view=post_appeal,
        scope=PLAY,
        body=MessageRequestSchema(),
        returns={201: Returns("The dispute, open again.", {JSON: answers.DisputeSchema()})},
        refuses=("dispute-not-found", "dispute-closed", "dispute-stands"),
    ),
)
