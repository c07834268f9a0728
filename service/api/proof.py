"""What is proven, and how: keys, the deal, exports, checkpoints, the verifier."""

from collections.abc import Mapping

from service.api import answers
from service.api.games import PRIVATE, frames_text, span_of
from service.api.operation import (
    JSON,
    NDJSON,
    NO_STORE,
    TEXT,
    Answer,
    Call,
    Member,
    Operation,
    Returns,
    Texts,
    spliced,
)
from service.api.schemas import ConsistencyQuerySchema, ReplayQuerySchema
from service.log.game import Game
from service.play.caller import READ
from service.play.limits import CREATION
from service.play.proving import (
    Export,
    checkpoint_note,
    consistency,
    export,
    fairness_of,
    keys_json,
    replay_upload,
    verify_upload,
)
from service.play.refusals import CheckpointNotFound
from service.play.watching import replay_of_head

SIZE_DIGITS = 15
FOR_EVER = "max-age=31536000, immutable"
FRESH = {"Cache-Control": "no-cache"}


def get_keys(call: Call) -> Answer:
    """Every key that ever signed."""
    return Answer(200, keys_json(call.services), FRESH)


def get_fairness(call: Call, game: str) -> Answer:
    """What the deal is made of."""
    return Answer(200, fairness_of(call.services, call.player, game), PRIVATE)


def get_export(call: Call, game: str) -> Answer:
    """The whole log."""
    found = export(call.services, call.player, game)
    tag = f"{found.game.head}.{int(found.is_fixed)}"
    headers = {**PRIVATE, "ETag": f'"{tag}"'}
    if call.request.if_none_match.contains_weak(tag):
        return Answer(304, None, headers)
    return _sent(found, headers)


def get_export_of_head(call: Call, game: str, head: str) -> Answer:
    """The log up to one event."""
    found = export(call.services, call.player, game, head)
    return _sent(found, fixed(found.game) if found.is_fixed else PRIVATE)


def get_replay_of_head(call: Call, game: str, head: str) -> Answer:
    """The replay of an ended game, as it will always be."""
    ended, page = replay_of_head(
        call.services, call.player, game, head, call.query["seat"], span_of(call)
    )
    return Answer(200, frames_text(call, page), fixed(ended))


def get_latest_checkpoint(call: Call) -> Answer:
    """The newest checkpoint."""
    return Answer(200, checkpoint_note(call.services, None), FRESH, TEXT)


def get_checkpoint(call: Call, size: str) -> Answer:
    """One checkpoint."""
    note = checkpoint_note(call.services, _size(size))
    return Answer(200, note, {"Cache-Control": f"public, {FOR_EVER}"}, TEXT)


def get_consistency(call: Call, size: str) -> Answer:
    """Why one checkpoint grew from another."""
    found = consistency(call.services, call.query["older"], _size(size))
    return Answer(200, found.to_json(), {"Cache-Control": f"public, {FOR_EVER}"})


def post_verify(call: Call) -> Answer:
    """Verify an export."""
    report = verify_upload(call.services, call.upload())
    return Answer(200, report.to_json(), NO_STORE)


def post_replay(call: Call) -> Answer:
    """Watch an export."""
    page = replay_upload(call.upload())
    members: dict[str, Member] = {
        "items": Texts(page.items),
        "next_from": None,
        "version": page.version,
        "abandoned": [list(span) for span in page.abandoned],
    }
    return Answer(200, spliced(members), NO_STORE)


def fixed(game: Game) -> Mapping[str, str]:
    """Kept for ever: by any cache if the game is public, else by the reader's own alone."""
    if game.setup.visibility == "public":
        return {"Cache-Control": f"public, {FOR_EVER}"}
    return {"Cache-Control": f"private, {FOR_EVER}", "Vary": "Authorization"}


def _sent(found: Export, headers: Mapping[str, str]) -> Answer:
    name = f'attachment; filename="fairdeal-{found.game.id}.jsonl"'
    return Answer(200, found.lines, {**headers, "Content-Disposition": name}, NDJSON)


def _size(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) <= SIZE_DIGITS):
        raise CheckpointNotFound
    return int(text)


OPERATIONS = (
    Operation(
        id="listSigningKeys",
        method="GET",
        path="/keys",
        tag="Proof",
        summary="The keys that sign",
        description="Every key that signed receipts and checkpoints, with the time in which it "
        "did. Fetch them once and keep them: `fairdeal verify --keys` takes this answer.",
        view=get_keys,
        is_open=True,
        returns={200: Returns("The keys.", {JSON: answers.SigningKeysSchema()})},
    ),
    Operation(
        id="readFairness",
        method="GET",
        path="/games/{game}/fairness",
        tag="Proof",
        summary="What the deal is made of",
        description="The commitment and the contributions from the start; the secret and every "
        "deck once the game has ended.",
        view=get_fairness,
        scope=READ,
        is_open=True,
        returns={200: Returns("The deal.", {JSON: answers.FairnessRecordSchema()})},
        refuses=("game-not-found", "no-spectators"),
    ),
    Operation(
        id="exportGame",
        method="GET",
        path="/games/{game}/export",
        tag="Proof",
        summary="Download the whole log",
        description="JSON Lines: a header, every event exactly as chained, a footer with the "
        "receipt for the last of them and, once a checkpoint holds it, the proof of that. "
        "`fairdeal verify` checks it offline. Of a running game, what is public.",
        view=get_export,
        scope=READ,
        is_open=True,
        returns={
            200: Returns("The log.", {NDJSON: None}, ("ETag", "Content-Disposition")),
            304: Returns("It has not changed since the `If-None-Match`."),
        },
        refuses=("game-not-found", "no-spectators"),
    ),
    Operation(
        id="exportHead",
        method="GET",
        path="/games/{game}/exports/{head}",
        tag="Proof",
        summary="Download the log up to one event",
        description="The export as it was when this was the game's last event: the same bytes for "
        "ever, once a checkpoint holds that event.",
        view=get_export_of_head,
        scope=READ,
        is_open=True,
        returns={200: Returns("The log.", {NDJSON: None}, ("Content-Disposition",))},
        refuses=("game-not-found", "no-spectators", "head-not-found"),
    ),
    Operation(
        id="replayHead",
        method="GET",
        path="/games/{game}/replays/{head}",
        tag="Proof",
        summary="Watch an ended game as it will always be",
        description="The replay of the game as it stood with that last event, through a "
        "bystander's eyes, a seat's or `all`: the same bytes for ever.",
        view=get_replay_of_head,
        scope=READ,
        is_open=True,
        query=ReplayQuerySchema(),
        returns={200: Returns("Frames.", {JSON: answers.ReplaySchema()})},
        refuses=(
            "game-not-found",
            "no-spectators",
            "head-not-found",
            "game-not-over",
            "version-not-found",
        ),
    ),
    Operation(
        id="latestCheckpoint",
        method="GET",
        path="/checkpoints/latest",
        tag="Proof",
        summary="The newest checkpoint",
        description="The signed root of the Merkle tree over the heads of all games, as a signed "
        "note (C2SP tlog-checkpoint). Keep it: a database that is rewritten contradicts it.",
        view=get_latest_checkpoint,
        is_open=True,
        returns={200: Returns("The signed note.", {TEXT: None})},
        refuses=("checkpoint-not-found",),
    ),
    Operation(
        id="readCheckpoint",
        method="GET",
        path="/checkpoints/{size}",
        tag="Proof",
        summary="A checkpoint",
        view=get_checkpoint,
        is_open=True,
        returns={200: Returns("The signed note.", {TEXT: None})},
        refuses=("checkpoint-not-found",),
    ),
    Operation(
        id="proveConsistency",
        method="GET",
        path="/checkpoints/{size}/consistency",
        tag="Proof",
        summary="Why a checkpoint grew from an older one",
        view=get_consistency,
        is_open=True,
        query=ConsistencyQuerySchema(),
        returns={200: Returns("The proof.", {JSON: answers.ConsistencySchema()})},
        refuses=("checkpoint-not-found",),
    ),
    Operation(
        id="verifyExport",
        method="POST",
        path="/verify",
        tag="Proof",
        summary="Verify an export",
        description="Every check of `fairdeal verify`, by this service's own keys. At most 2 MiB. "
        "Nothing is kept. Who trusts nobody runs the verifier offline instead.",
        view=post_verify,
        policy=CREATION,
        is_open=True,
        upload=NDJSON,
        returns={200: Returns("The report.", {JSON: answers.ReportSchema()})},
        refuses=("verifier-busy",),
    ),
    Operation(
        id="replayExport",
        method="POST",
        path="/replays",
        tag="Proof",
        summary="Watch an exported game",
        description="Each event of an ended game and the table after it, all hands open, by "
        "the file alone. At most 2 MiB. Nothing is kept.",
        view=post_replay,
        policy=CREATION,
        is_open=True,
        upload=NDJSON,
        returns={200: Returns("The frames.", {JSON: answers.ReplaySchema()})},
        refuses=("verifier-busy", "not-replayable"),
    ),
)
