"""The log of a game as it grows, in three representations, and tickets for browsers."""

import time
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import ExitStack
from threading import Lock

from service.api import answers
from service.api.games import PRIVATE
from service.api.handoff import LOOK_SECONDS, STREAM, Parts, Stream
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
from service.canonical import Json, dump_json
from service.log.game import Game
from service.play.caller import READ
from service.play.games import catch_up_all, current_game
from service.play.limits import CREATION, FAILED_AUTHENTICATION, STREAMS
from service.play.presence import Present, say_present, seats_present, who_is_present
from service.play.refusals import EventNotFound, InvalidQuery, TooManyStreams, Unauthenticated
from service.play.services import Services, timestamp
from service.play.streaming import (
    Batch,
    Follower,
    Following,
    MustRead,
    confirm,
    confirm_all,
    is_behind,
    is_confirmed,
)
from service.play.tickets import holder_of_ticket, issue_ticket, use_ticket
from service.play.watching import Page, events_page, own_look, shown

QUIET_SECONDS: Mapping[str, float] = {NDJSON: 7.0, EVENT_STREAM: 15.0}
"""After how long without an event a sign of life is sent."""

QUIET_SIGNS: Mapping[str, bytes] = {NDJSON: b"\n", EVENT_STREAM: b": hb\n\n"}

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


class EventSource:
    """The stream of a game's events in one of its two representations.

    `first` is what it begins with; `leave` leaves its place to others.
    """

    def __init__(
        self, following: Following, media: str, first: str, leave: Callable[[], None]
    ) -> None:
        self.topic = following.game
        self.following = following
        self._media = media
        self._first = first.encode()
        self._leave = leave
        self._seats: list[Json] | None = None
        self._quiet_until = time.monotonic() + QUIET_SECONDS[media]

    @property
    def is_over(self) -> bool:
        """Whether nothing comes any more."""
        return self.following.is_over

    def ready(self) -> bytes | None:
        """The next events, or a sign of life; raises MustRead."""
        if self._first:
            first, self._first = self._first, b""
            return first
        batch, now = self.following.ready(), time.monotonic()
        if batch is not None:
            self._quiet_until = now + QUIET_SECONDS[self._media]
            return self._text(batch)
        presence = self._presence()
        if not presence and (now < self._quiet_until or self.is_over):
            return None
        self._quiet_until = now + QUIET_SECONDS[self._media]
        return presence or QUIET_SIGNS[self._media]

    def read(self) -> None:
        """Read the events."""
        self.following.read()

    def wait(self) -> None:
        """Wait for events, or for the next sign of life."""
        self.following.wait(min(LOOK_SECONDS, max(0.0, self._quiet_until - time.monotonic())))

    def close(self) -> None:
        """End."""
        self._leave()

    def _presence(self) -> bytes:
        """Who is there, if that has changed; nothing where there is no room to say it."""
        seats = self.following.present_seats() if self._media == EVENT_STREAM else None
        if seats in (None, self._seats):
            return b""
        self._seats = seats
        return f"event: presence\ndata: {dump_json({'seats': seats})}\n\n".encode()

    def _text(self, batch: Batch) -> bytes:
        """The events as the follower's eyes see them, written once for all that see the same."""
        encode = as_lines if self._media == NDJSON else as_event_stream
        end = b"event: end\ndata: {}\n\n" if self._media == EVENT_STREAM and batch.is_end else b""
        if not batch.frames:
            return end
        key = (self._media, *batch.key)
        return self.following.topic.shared(key, lambda: encode(batch).encode()) + end


class LongPoll:
    """The answer to who waits for an event: a page, once there is one or the time is up."""

    def __init__(
        self,
        following: Following,
        page: Callable[[], Page],
        seconds: float,
        leave: Callable[[], None],
    ) -> None:
        self.topic = following.game
        self.following = following
        self.is_over = False
        self._page = page
        self._text = b""
        self._leave = leave
        self._looked_at = following.topic.version
        self._until = time.monotonic() + seconds

    def ready(self) -> bytes | None:
        """The page, if it is read; raises MustRead when it is to be read."""
        if self._text:
            self.is_over = True
            text, self._text = self._text, b""
            return text
        if not self.is_over and (self._is_time() or self._is_due()):
            raise MustRead
        return None

    def read(self) -> None:
        """Read the page; an empty one is no answer before its time."""
        self._looked_at = self.following.topic.version
        page = self._page()
        if page.items or page.is_over or self._is_time():
            self._text = _page_text(page).encode()

    def wait(self) -> None:
        """Wait for an event."""
        seconds = min(LOOK_SECONDS, max(0.0, self._until - time.monotonic()))
        self.following.topic.wait(self._looked_at, seconds)

    def close(self) -> None:
        """End."""
        self._leave()

    def _is_time(self) -> bool:
        return self.following.topic.is_closed or time.monotonic() >= self._until

    def _is_due(self) -> bool:
        return self.following.topic.version > self._looked_at


class House:
    """What is done for all the streams of a process."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._present = Present(process=services.new_id())

    def is_behind(self, topic: str) -> bool:
        """Whether the game moved on since it was remembered."""
        return is_behind(self._services, topic)

    def catch_up(self, topics: Collection[str]) -> None:
        """Read on in all these games."""
        catch_up_all(self._services, topics)

    def keep_up(self, streams: Sequence[object]) -> None:
        """End the streams whose keys are live no more; say and hear who is there."""
        followings = [stream.following for stream in streams if isinstance(stream, EventSource)]
        confirm_all(self._services, [following.follower for following in followings])
        for following in followings:
            if not is_confirmed(self._services, following.follower):
                following.is_over = True
        pairs = {(one.game, player) for one in followings if (player := one.seated_player())}
        say_present(self._services, self._present, pairs)
        told = {one.game for one in followings}
        self._services.feed.note_present(who_is_present(self._services, told))


def get_events(call: Call, game: str) -> Answer:
    """Read the log, a page at a time or as it grows."""
    media = call.request.accept_mimetypes.best_match((JSON, NDJSON, EVENT_STREAM), JSON)
    ticket, follower, after = call.query["ticket"], _follower(call, game), _after(call)
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
    ticket = issue_ticket(call.services, call.known_caller, game, call.key(body))
    answer = {"ticket": ticket.token, "expires_at": timestamp(ticket.expires_at)}
    return Answer(201, answer, {"Cache-Control": "no-store"})


def as_lines(batch: Batch) -> str:
    """A batch as JSON Lines."""
    return "".join(f"{line}\n" for _, _, line in batch.lines())


def as_event_stream(batch: Batch) -> str:
    """A batch as server-sent events."""
    events = batch.lines()
    return "".join(f"id: {seq}\nevent: {kind}\ndata: {line}\n\n" for seq, kind, line in events)


def _snapshot(call: Call, present: Game, player: str | None) -> str:
    players = who_is_present(call.services, [present.id])[present.id]
    seats: list[Json] = [*seats_present(present, players)]
    view = {**shown(call.services, own_look(present, player)), "present": seats}
    return f"id: {present.version}\nevent: snapshot\ndata: {dump_json(view)}\n\n"


def _page(call: Call, follower: Follower, game: str, after: int) -> Answer:
    """A page of events; where there is none, and the caller waits for one, a moment later."""
    services, limit, seconds = call.services, page_limit(call.query), call.query["wait"]

    def page() -> Page:
        return events_page(services, follower.player, game, after, limit)

    with ExitStack() as held:
        following = Following(services, follower, game, after) if seconds else None
        if following is not None:
            held.callback(following.close)
        found = page()
        if call.query["ticket"] is not None:
            use_ticket(services, call.query["ticket"])
        if found.items or found.is_over or following is None:
            return Answer(200, _page_text(found), PRIVATE)
        held.callback(_enter(call, follower))
        following.topic.settle(0, found.version)

        def later() -> Page:
            confirm(services, follower)
            return page()

        poll = LongPoll(following, later, seconds, held.pop_all().close)
    return _answer(call, poll, JSON)


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
        held.callback(_enter(call, follower))
        following = Following(call.services, follower, game, after)
        held.callback(following.close)
        source = EventSource(following, media, first, held.pop_all().close)
    return _answer(call, source, media)


def _enter(call: Call, follower: Follower) -> Callable[[], None]:
    """Take a place for a stream; raises TooManyStreams."""
    call.count(STREAMS)
    return call.streams.enter(follower.player or asker(call.request, None))


def _answer(call: Call, stream: Stream, media: str) -> Answer:
    """The stream's parts as they come, from outside the server's worker threads."""
    call.request.environ[STREAM] = stream
    return Answer(200, Parts(stream), {**FRESH, "X-Accel-Buffering": "no"}, media)


def _follower(call: Call, game: str) -> Follower:
    """Who follows: by a ticket, by a key, or nobody in particular."""
    ticket, caller = call.query["ticket"], call.caller
    if ticket is None:
        return Follower() if caller is None else Follower(player=caller.player, key=caller.key)
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
