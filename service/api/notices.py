"""What a player is told of all their games: turns, invitations, ends."""

from collections.abc import Callable
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
from service.api.pages import decode_number, encode_cursor, page_limit
from service.api.schemas import EmptyRequestSchema, NoticesQuerySchema
from service.api.sources import (
    RETRY_MS,
    Line,
    LongPoll,
    Source,
    as_event_stream,
    as_lines,
    enter,
    follower_of,
    stream_answer,
    ticket_answer,
)
from service.canonical import dump_json
from service.play.caller import READ
from service.play.limits import CREATION
from service.play.mailbox import Mail, Mailing, mail, waiting
from service.play.refusals import Unauthenticated
from service.play.services import timestamp
from service.play.streaming import Follower, confirm
from service.play.tickets import use_ticket
from service.store.notices import Notice


class NoticeSource(Source):
    """A player's notices."""

    def __init__(self, mailing: Mailing, media: str, first: str, leave: Callable[[], None]) -> None:
        super().__init__(mailing, media, first, leave)
        self._mailing = mailing

    def next_part(self) -> bytes | None:
        """The next notices."""
        notices = self._mailing.ready()
        if not notices:
            return None
        lines = [_line(notice) for notice in notices]
        return (as_lines(lines) if self.media == NDJSON else as_event_stream(lines)).encode()


def get_notices(call: Call) -> Answer:
    """Read what happened in one's games, a page at a time or as it happens."""
    media = call.request.accept_mimetypes.best_match((JSON, NDJSON, EVENT_STREAM), JSON)
    follower, after = follower_of(call), _after(call)
    player = follower.player
    if player is None:
        raise Unauthenticated
    if media == JSON:
        return _page(call, follower, player, after or 0)
    if call.query["ticket"] is not None:
        use_ticket(call.services, call.query["ticket"])
    if media == NDJSON:
        return _stream(call, follower, after or 0, media, "")
    first = f"retry: {RETRY_MS}\n\n"
    if after is not None:
        return _stream(call, follower, after, media, first)
    newest = mail(call.services, player, 0, 1).newest
    told = dump_json(waiting(call.services, player))
    snapshot = f"id: {_cursor(newest)}\nevent: snapshot\ndata: {told}\n\n"
    return _stream(call, follower, newest, media, first + snapshot)


def post_ticket(call: Call) -> Answer:
    """Get a ticket for a stream of one's own."""
    body = call.body()
    call.load(body)
    return ticket_answer(call, call.known_caller.player, body)


def notice_text(notice: Notice) -> str:
    """A notice as JSON."""
    members: dict[str, Member] = {
        "cursor": _cursor(notice.number),
        "type": notice.type,
        "at": timestamp(notice.at),
    }
    return f'{spliced(members)[:-1]},"data":{notice.data}}}'


def _line(notice: Notice) -> Line:
    return _cursor(notice.number), notice.type, notice_text(notice)


def _page(call: Call, follower: Follower, player: str, after: int) -> Answer:
    """A page of notices; where there is none, and the caller waits for one, a moment later."""
    services, limit, seconds = call.services, page_limit(call.query), call.query["wait"]
    with ExitStack() as held:
        topic = services.feed.join(player) if seconds else None
        if topic is not None:
            held.callback(services.feed.leave, player)
        found = mail(services, player, after, limit)
        if call.query["ticket"] is not None:
            use_ticket(services, call.query["ticket"])
        if found.notices or topic is None:
            return Answer(200, _page_text(found, after), PRIVATE)
        held.callback(enter(call, follower))
        topic.settle(0, found.newest)

        def later(is_time: bool) -> str | None:  # noqa: FBT001  as the poll asks
            confirm(services, follower)
            now = mail(services, player, after, limit)
            return _page_text(now, after) if is_time or now.notices else None

        poll = LongPoll(player, topic, later, found.newest, seconds, held.pop_all().close)
    return stream_answer(call, poll, JSON)


def _page_text(found: Mail, after: int) -> str:
    last = found.notices[-1].number if found.notices else after
    members: dict[str, Member] = {
        "items": Texts([notice_text(notice) for notice in found.notices]),
        "next_cursor": _cursor(last),
        "more": last < found.newest,
    }
    return spliced(members)


def _stream(call: Call, follower: Follower, after: int, media: str, first: str) -> Answer:
    with ExitStack() as held:
        held.callback(enter(call, follower))
        mailing = Mailing(call.services, follower, follower.player or "", after)
        held.callback(mailing.close)
        source = NoticeSource(mailing, media, first, held.pop_all().close)
    return stream_answer(call, source, media)


def _after(call: Call) -> int | None:
    """After which notice: what the browser saw last counts more than the address."""
    seen = call.request.headers.get("Last-Event-ID")
    name, cursor = ("Last-Event-ID", seen) if seen else ("cursor", call.query["cursor"])
    return None if cursor is None else decode_number(cursor, name)


def _cursor(number: int) -> str:
    return encode_cursor(str(number))


OPERATIONS = (
    Operation(
        id="readNotices",
        method="GET",
        path="/players/me/events",
        tag="Players",
        summary="What happens in your games",
        description="Of all your games: `game.turn`, `game.started`, `game.ended`, "
        "`game.seat_lost`, `game.invitation`, `game.rematch`; never a card. Every notice once and "
        "in order, from any `cursor` of the last thirty days. By `Accept`: a JSON page, which "
        "`wait` makes a long poll; JSON Lines as they happen; or server-sent events, which begin "
        "with a `snapshot` of the turns and invitations that wait for you, unless `cursor` or "
        "`Last-Event-ID` says from where on. A turn that was over before it could be told is not "
        "told.",
        view=get_notices,
        scope=READ,
        is_open=True,
        query=NoticesQuerySchema(),
        returns={
            200: Returns(
                "Notices.", {JSON: answers.NoticesPageSchema(), NDJSON: None, EVENT_STREAM: None}
            )
        },
        refuses=("too-many-streams", "unauthenticated"),
    ),
    Operation(
        id="getOwnStreamTicket",
        method="POST",
        path="/players/me/stream-tickets",
        tag="Players",
        summary="Get a ticket for a stream of your own",
        description="Browsers' EventSource can't send a key. A ticket opens one stream of what "
        "happens in your games, once, within a minute: `/players/me/events?ticket=…`.",
        view=post_ticket,
        policy=CREATION,
        scope=READ,
        body=EmptyRequestSchema(),
        returns={201: Returns("The ticket, shown once.", {JSON: answers.TicketSchema()})},
        refuses=("secret-already-shown",),
        is_idempotent_by_key=True,
    ),
)
