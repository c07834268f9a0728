"""The log of a game as it grows, in three representations, and tickets for browsers."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from threading import Lock
from typing import Any

from service.api import answers
from service.api.games import PRIVATE
from service.api.handoff import LINK, STREAM, Link
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
    asker,
    spliced,
)
from service.api.pages import page_limit
from service.api.schemas import EmptyRequestSchema, EventsQuerySchema
from service.canonical import dump_json
from service.log.game import Game
from service.play.caller import READ
from service.play.games import current_game
from service.play.limits import CREATION, FAILED_AUTHENTICATION, STREAMS
from service.play.refusals import EventNotFound, InvalidQuery, TooManyStreams, Unauthenticated
from service.play.services import timestamp
from service.play.streaming import Batch, Follower, follow, wait_for_event
from service.play.tickets import holder_of_ticket, issue_ticket, use_ticket
from service.play.watching import Page, events_page, own_look, shown

QUIET_SECONDS: Mapping[str, float] = {NDJSON: 7.0, EVENT_STREAM: 15.0}
"""After how long without an event a sign of life is sent."""

STREAMS_EACH = 20
STREAMS_A_PROCESS = 2_000
RETRY_MS = 3_000


class Streams:
    """How many streams there are in this process, by who asked for them."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._open: Counter[str] = Counter()

    def enter(self, who: str) -> Callable[[], None]:
        """Count one more, until what is returned is called; raises TooManyStreams."""
        with self._lock:
            if self._open[who] >= STREAMS_EACH or self._open.total() >= STREAMS_A_PROCESS:
                raise TooManyStreams(limit=STREAMS_EACH)
            self._open[who] += 1
        left = False

        def leave() -> None:
            nonlocal left
            with self._lock:
                if left:
                    return
                left = True
                self._open[who] -= 1
                if not self._open[who]:
                    del self._open[who]

        return leave


class Parts:
    """The parts of a stream as bytes; leaves its place free however it ends."""

    def __init__(self, texts: Iterator[str], leave: Callable[[], None]) -> None:
        self._texts = texts
        self._leave = leave

    def __iter__(self) -> "Parts":
        """Itself."""
        return self

    def __next__(self) -> bytes:
        """The next part, once there is one."""
        return next(self._texts).encode()

    def close(self) -> None:
        """End, early or late."""
        close: Any = getattr(self._texts, "close", None)
        if close is not None:
            close()
        self._leave()


def get_events(call: Call, game: str) -> Answer:
    """Read the log, a page at a time or as it grows."""
    media = call.request.accept_mimetypes.best_match((JSON, NDJSON, EVENT_STREAM), JSON)
    ticket, link = call.query["ticket"], Link()
    call.request.environ[LINK] = link
    follower = Follower(player=_holder(call, game), is_gone=link.is_gone)
    player = follower.player()
    after = _after(call)
    if media == JSON:
        return _page(call, follower, game, after or 0)
    present = current_game(call.services, game, player)
    if after is not None and after > present.version:
        raise EventNotFound(version=present.version)
    if ticket is not None:
        use_ticket(call.services, ticket)
    if present.status.is_over and after == present.version:
        return Answer(204, None, FRESH)
    if media == NDJSON:
        batches = follow(call.services, follower, game, after or 0, QUIET_SECONDS[NDJSON])
        return _stream(call, player, map(as_lines, batches), NDJSON)
    start = present.version if after is None else after
    batches = follow(call.services, follower, game, start, QUIET_SECONDS[EVENT_STREAM])
    snapshot = _snapshot(call, present, player) if after is None else ""
    return _stream(call, player, as_event_stream(snapshot, batches), EVENT_STREAM)


def post_ticket(call: Call, game: str) -> Answer:
    """Get a ticket for a stream."""
    body = call.body()
    call.load(body)
    ticket = issue_ticket(call.services, call.known_caller, game, call.key(body))
    answer = {"ticket": ticket.token, "expires_at": timestamp(ticket.expires_at)}
    return Answer(201, answer, {"Cache-Control": "no-store"})


def as_lines(batch: Batch) -> str:
    """A batch as JSON Lines; a blank line for a quiet while."""
    return "".join(f"{line.text}\n" for line in batch.lines) or ("" if batch.is_end else "\n")


def as_event_stream(snapshot: str, batches: Iterator[Batch]) -> Iterator[str]:
    """Batches as server-sent events, after a snapshot if there is one."""
    yield f"retry: {RETRY_MS}\n\n{snapshot}"
    for batch in batches:
        events = (f"id: {ln.seq}\nevent: {ln.type}\ndata: {ln.text}\n\n" for ln in batch.lines)
        end = "event: end\ndata: {}\n\n" if batch.is_end else ""
        yield "".join(events) + end or ": hb\n\n"


def _snapshot(call: Call, present: Game, player: str | None) -> str:
    view = shown(call.services, own_look(present, player))
    return f"id: {present.version}\nevent: snapshot\ndata: {dump_json(view)}\n\n"


def _page(call: Call, follower: Follower, game: str, after: int) -> Answer:
    """A page of events; where there is none, and the caller waits for one, a moment later."""
    limit, seconds = page_limit(call.query), call.query["wait"]

    def page() -> Page:
        return events_page(call.services, follower.player(), game, after, limit)

    found = page()
    if call.query["ticket"] is not None:
        use_ticket(call.services, call.query["ticket"])
    if found.items or not seconds:
        return Answer(200, _page_text(found), PRIVATE)

    def later() -> Iterator[str]:
        wait_for_event(call.services, follower, game, after, seconds)
        yield _page_text(page())

    return _stream(call, follower.player(), later(), JSON)


def _page_text(page: Page) -> str:
    members: dict[str, Member] = {
        "items": Texts(page.items),
        "next_after": page.next_after,
        "version": page.version,
        "more": page.next_after < page.version,
    }
    return spliced(members)


def _stream(call: Call, player: str | None, texts: Iterator[str], media: str) -> Answer:
    """The texts as they come, from outside the server's worker threads."""
    who = player or asker(call.request, None)
    call.count(STREAMS)
    leave = call.streams.enter(who)
    call.request.environ[STREAM] = True
    headers = {**FRESH, "X-Accel-Buffering": "no"}
    return Answer(200, Parts(texts, leave), headers, media)


def _holder(call: Call, game: str) -> Callable[[], str | None]:
    """Who follows: by a ticket, by a key, or nobody in particular."""
    ticket = call.query["ticket"]
    if ticket is None:
        return call.asked_again()
    try:
        return holder_of_ticket(call.services, ticket, game)
    except Unauthenticated:
        call.count(FAILED_AUTHENTICATION)
        raise


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
FRESH = {"Cache-Control": "private, no-store", "Vary": "Accept, Authorization"}

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
        refuses=("game-not-found", "version-not-found", "too-many-streams", "unauthenticated"),
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
