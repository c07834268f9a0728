"""The log of a game as it grows, in three representations, and tickets for browsers."""

from contextlib import ExitStack

from service.api import answers
from service.api.games import PRIVATE
from service.api.operation import (
    EVENT_STREAM,
    JSON,
    NDJSON,
    Answer,
    Call,
    Member,
    Operation,
    Returns,
    Texts,
    spliced,
)
from service.api.pages import page_limit
from service.api.schemas import EmptyRequestSchema, EventsQuerySchema
from service.api.sources import (
    FRESH,
    RETRY_MS,
    EventSource,
    LongPoll,
    enter,
    follower_of,
    stream_answer,
    ticket_answer,
)
from service.canonical import Json, dump_json
from service.log.game import Game
from service.play.caller import READ
from service.play.games import current_game, find_game
from service.play.limits import CREATION
from service.play.presence import seats_present, who_is_present
from service.play.reading import read
from service.play.refusals import EventNotFound, InvalidQuery
from service.play.streaming import (
    Follower,
    Following,
    confirm,
)
from service.play.tickets import use_ticket
from service.play.watching import Page, events_page, own_look, shown


def get_events(call: Call, game: str) -> Answer:
    """Read the log, a page at a time or as it grows."""
    media = call.request.accept_mimetypes.best_match((JSON, NDJSON, EVENT_STREAM), JSON)
    ticket, follower, after = call.query["ticket"], follower_of(call, game), _after(call)
    if media == JSON:
        return _page(call, follower, game, after or 0)
    present = current_game(call.services, game, follower.player)
    if after is not None and after > present.version:
        raise EventNotFound(version=present.version)
    if ticket is not None:
        use_ticket(call.services, ticket)
    if present.status.is_over and after == present.version:
        return Answer(204, None, FRESH)
    if media == NDJSON:
        return _stream(call, follower, game, after or 0, media, "")
    first = f"retry: {RETRY_MS}\n\n"
    if after is not None:
        return _stream(call, follower, game, after, media, first)
    snapshot = _snapshot(call, present, follower.player)
    return _stream(call, follower, game, present.version, media, first + snapshot)


def post_ticket(call: Call, game: str) -> Answer:
    """Get a ticket for a stream."""
    body = call.body()
    call.load(body)
    find_game(call.services, game, call.player)
    return ticket_answer(call, game, body)


def _snapshot(call: Call, present: Game, player: str | None) -> str:
    players = who_is_present(call.services, [present.id])[present.id]
    seats: list[Json] = [*seats_present(present, players)]
    view = {**shown(call.services, own_look(call.services, present, player)), "present": seats}
    return f"id: {present.version}\nevent: snapshot\ndata: {dump_json(view)}\n\n"


def _page(call: Call, follower: Follower, game: str, after: int) -> Answer:
    """A page of events; where there is none, and the caller waits for one, a moment later."""
    services, limit, seconds = call.services, page_limit(call.query), call.query["wait"]

    def page(known: int | None) -> Page:
        return read(
            services,
            game,
            known,
            lambda source: events_page(source, follower.player, game, after, limit),
        )

    with ExitStack() as held:
        topic = services.feed.join(game) if seconds else None
        if topic is not None:
            held.callback(services.feed.leave, game)
        found = page(None if seconds else after or None)
        if call.query["ticket"] is not None:
            use_ticket(services, call.query["ticket"])
        if found.items or found.is_over or topic is None:
            return Answer(200, _page_text(found), PRIVATE)
        held.callback(enter(call, follower))
        topic.settle(0, found.version)

        def later(is_time: bool) -> str | None:  # noqa: FBT001  as the poll asks
            confirm(services, follower)
            later_page = page(max(after, topic.version))
            is_answer = is_time or later_page.items or later_page.is_over
            return _page_text(later_page) if is_answer else None

        poll = LongPoll(game, topic, later, found.version, seconds, held.pop_all().close)
    return stream_answer(call, poll, JSON)


def _page_text(page: Page) -> str:
    members: dict[str, Member] = {
        "items": Texts(page.items),
        "next_after": page.next_after,
        "version": page.version,
        "more": page.next_after < page.version,
    }
    return spliced(members)


def _stream(
    call: Call, follower: Follower, game: str, after: int, media: str, first: str
) -> Answer:
    with ExitStack() as held:
        held.callback(enter(call, follower))
        following = Following(call.services, follower, game, after)
        held.callback(following.close)
        source = EventSource(following, media, first, held.pop_all().close)
    return stream_answer(call, source, media)


def _after(call: Call) -> int | None:
    """From where on: what the browser saw last counts more than the address it comes back to."""
    seen = call.request.headers.get("Last-Event-ID")
    if not seen:
        after: int | None = call.query["after"]
        return after
    if not (seen.isascii() and seen.isdecimal() and len(seen) <= SEQ_DIGITS):
        raise InvalidQuery("Last-Event-ID", "It is a seq.")
    return int(seen)


SEQ_DIGITS = 9

OPERATIONS = (
    Operation(
        id="readEvents",
        method="GET",
        path="/games/{game}/events",
        tag="Games",
        summary="Read the log, or follow it",
        description="Every event after a seq, in order and without gaps, exactly as chained; in "
        "`private`, by seat, what your own seat alone learned by it. By `Accept`: a JSON page, "
        "which `wait` makes a long poll; JSON Lines as events happen, with a blank line every few "
        "seconds; or server-sent events, which begin with a `snapshot` unless `after` or "
        "`Last-Event-ID` says from where on, and close with `end`. A stream resumes from any seq, "
        "ever. 204: the game has ended and there is no more.",
        view=get_events,
        scope=READ,
        is_open=True,
        query=EventsQuerySchema(),
        returns={
            200: Returns(
                "Events.",
                {JSON: answers.EventsPageSchema(), NDJSON: None, EVENT_STREAM: None},
            ),
            204: Returns("The game has ended, and you have seen all of it."),
        },
        refuses=(
            "game-not-found",
            "no-spectators",
            "version-not-found",
            "too-many-streams",
            "unauthenticated",
        ),
    ),
    Operation(
        id="getStreamTicket",
        method="POST",
        path="/games/{game}/stream-tickets",
        tag="Games",
        summary="Get a ticket for a stream",
        description="Browsers' EventSource can't send a key. A ticket opens one stream of this "
        "game, once, within a minute: `/games/{game}/events?ticket=…`.",
        view=post_ticket,
        policy=CREATION,
        scope=READ,
        body=EmptyRequestSchema(),
        returns={201: Returns("The ticket, shown once.", {JSON: answers.TicketSchema()})},
        refuses=("game-not-found", "secret-already-shown"),
        is_idempotent_by_key=True,
    ),
)
