"""Games: opening, finding, looking at."""

import re

from service.api import answers
from service.api.bodies import load_body
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
from service.api.pages import list_answer, page_limit, read_cursor
from service.api.schemas import (
    GameRequestSchema,
    GamesQuerySchema,
    ReplayQuerySchema,
    ViewQuerySchema,
)
from service.canonical import JsonMap
from service.play.caller import PLAY, READ
from service.play.limits import CREATION
from service.play.listing import games_page
from service.play.opening import OpeningRequest, open_game
from service.play.reading import read
from service.play.refusals import EventNotFound, FieldError, InvalidBody, Unauthenticated
from service.play.seating import Seated
from service.play.services import Services
from service.play.watching import (
    Page,
    Span,
    look,
    own_look,
    replay_frames,
    shown,
)
from service.proof.receipts import Receipt
from service.rules.registry import UnknownRuleset, find, schemas_of
from service.store.lists import GameFilter

PRIVATE = {"Cache-Control": "private, no-cache", "Vary": "Authorization"}
FRAMES_AT_MOST = 200
VERSION_IN_TAG = re.compile("v([0-9]{1,9})[.]")


def post_game(call: Call) -> Answer:
    """Open a game."""
    body = call.body()
    seated = open_game(
        call.services, call.known_caller.player, lambda: _opening(call, body), call.key(body)
    )
    return seated_answer(call, seated)


def get_games(call: Call) -> Answer:
    """List games."""
    query = call.query
    if call.player is None and (query["player"] or query["turn"]):
        raise Unauthenticated
    wanted = GameFilter(
        viewer=call.player,
        status=query["status"],
        ruleset=query["ruleset"],
        player=call.player if query["player"] else None,
        turn=call.player if query["turn"] else None,
        sandbox=query["sandbox"],
        before=read_cursor(query),
        limit=page_limit(query),
    )
    listed = games_page(call.services, wanted)
    return list_answer(call, listed.items, listed.last)


def get_game(call: Call, game: str) -> Answer:
    """Look at a game."""
    at, seat = call.query["at"], call.query["seat"]

    def answer(services: Services) -> Answer:
        seen = look(services, call.player, game, at, seat)
        if (call.query["at_least"] or 0) > seen.latest:
            raise EventNotFound(version=seen.latest)
        headers = {**PRIVATE, "ETag": f'W/"{seen.tag}"'}
        if call.request.if_none_match.contains_weak(seen.tag):
            return Answer(304, None, headers)
        return Answer(200, shown(services, seen), headers)

    return read(call.services, game, _known(call), answer)


def _known(call: Call) -> int | None:
    """The newest version that the caller says to know: by the query, by the tag of a view."""
    tags = call.request.if_none_match.as_set(include_weak=True)
    seen = [int(found[1]) for tag in tags if (found := VERSION_IN_TAG.match(tag))]
    asked = (call.query["at_least"], call.query["at"])
    return max([*seen, *(version for version in asked if version is not None)], default=None)


def get_replay(call: Call, game: str) -> Answer:
    """Watch the game again."""
    seat, span = call.query["seat"], span_of(call)
    page = read(
        call.services,
        game,
        span.last,
        lambda services: replay_frames(services, call.player, game, seat, span),
    )
    return Answer(200, frames_text(call, page), PRIVATE)


def span_of(call: Call) -> Span:
    """The frames that the query asks for."""
    return Span(first=call.query["first"], last=call.query["last"], limit=FRAMES_AT_MOST)


def frames_text(call: Call, page: Page) -> str:
    """A page of frames, and where the next one begins."""
    last = call.query["last"]
    is_more = page.next_after < (page.version if last is None else last)
    members: dict[str, Member] = {
        "items": Texts(page.items),
        "next_from": page.next_after + 1 if is_more else None,
        "version": page.version,
        "abandoned": [list(span) for span in page.abandoned],
    }
    return spliced(members)


def seated_answer(call: Call, seated: Seated) -> Answer:
    """The seat that the caller got, and the game from it."""
    replayed = replay_header(is_replayed=seated.is_replayed)
    headers = {"Location": f"/games/{seated.game.id}", **NO_STORE, **replayed}
    return Answer(201, seated_json(call, seated), headers)


def seated_json(call: Call, seated: Seated) -> JsonMap:
    """The same as a JSON value."""
    since = seated.receipt.seq if seated.receipt and seated.is_written else 0
    seen = own_look(call.services, seated.game, call.player, since)
    return {
        "seat": seated.seat,
        "receipt": receipt_json(seated.receipt),
        "view": shown(call.services, seen),
    }


def receipt_json(receipt: Receipt | None) -> JsonMap | None:
    """The receipt, if there is one: what was written before receipts were has none."""
    return receipt.to_json() if receipt else None


def _opening(call: Call, body: JsonMap) -> OpeningRequest:
    """The body as a request to open a game, its options read by the ruleset's own schema."""
    asked = call.load(body)
    try:
        ruleset = find(asked["ruleset"])
    except UnknownRuleset as error:
        detail = f"There is no ruleset `{asked['ruleset']}`."
        raise InvalidBody([FieldError("/ruleset", detail)]) from error
    sandbox = asked["sandbox"]
    return OpeningRequest(
        ruleset=ruleset,
        options=load_body(schemas_of(ruleset).OPTIONS, asked["options"], "/options"),
        seats=asked["seats"],
        visibility=asked["visibility"],
        bots=asked["bots"],
        sit=asked["sit"],
        turn_seconds=asked["turn_seconds"],
        spectators=asked["spectators"],
        hold_on_dispute=asked["hold_on_dispute"],
        spectator_delay=asked["spectator_delay"] or 0,
        sandbox_secret=bytes.fromhex(sandbox["secret"]) if sandbox else None,
    )


OPERATIONS = (
    Operation(
        id="openGame",
        method="POST",
        path="/games",
        tag="Games",
        summary="Open a game",
        description="You sit in seat 1 unless `sit` is false. The game starts when its last seat "
        "is taken; where bots sit in all the others, when you give your contribution. The "
        "commitment to the deal is in the answer, before anybody can contribute to it. A table of "
        "bots alone (`sit: false`) starts at once and plays on by itself.",
        view=post_game,
        policy=CREATION,
        scope=PLAY,
        body=GameRequestSchema(),
        returns={
            201: Returns(
                "The game, open.",
                {JSON: answers.SeatedSchema()},
                ("Location", "Idempotent-Replayed"),
            )
        },
        is_idempotent_by_key=True,
    ),
    Operation(
        id="listGames",
        method="GET",
        path="/games",
        tag="Games",
        summary="List games",
        description="Public games, and your own private ones; newest first.",
        view=get_games,
        scope=READ,
        is_open=True,
        query=GamesQuerySchema(),
        returns={200: Returns("A page of games.", {JSON: answers.GamesPageSchema()})},
    ),
    Operation(
        id="viewGame",
        method="GET",
        path="/games/{game}",
        tag="Games",
        summary="Look at a game",
        description="The table as you may see it: your own hand while the game runs, every hand "
        "once it ended. `at` shows it as it stood, `seat` through another pair of eyes.",
        view=get_game,
        scope=READ,
        is_open=True,
        query=ViewQuerySchema(),
        returns={
            200: Returns("The view.", {JSON: answers.ViewSchema()}, ("ETag",)),
            304: Returns("It has not changed since the `If-None-Match`."),
        },
        refuses=("game-not-found", "no-spectators", "version-not-found", "hidden-information"),
    ),
    Operation(
        id="watchReplay",
        method="GET",
        path="/games/{game}/replay",
        tag="Games",
        summary="Watch the game again",
        description="Frames: an event, and the view after it. At most 200 at once; `next_from` "
        "goes on.",
        view=get_replay,
        scope=READ,
        is_open=True,
        query=ReplayQuerySchema(),
        returns={200: Returns("Frames.", {JSON: answers.ReplaySchema()})},
        refuses=("game-not-found", "no-spectators", "version-not-found", "hidden-information"),
    ),
)
