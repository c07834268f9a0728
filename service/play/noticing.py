"""Notices: what players are told of their games, whoever they play through.

A dispatcher reads what happened since it was last there and tells whom it
concerns. It writes in one transaction with the place up to which it read, so
every notice is written once, whatever becomes of the dispatcher. No notice
holds a card: it says which game, and where in it.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import structlog

from service.canonical import JsonMap, dump_json
from service.log.events import Event, parse_event
from service.log.steps import ABSENT, NEW_TURNS
from service.play.services import Services, timestamp, timestamp_if
from service.play.webhooks import deliveries_of
from service.store.invitations import Invitation
from service.store.notices import Book, FreshGame, Notice, book_for_writing

TURN = "game.turn"
STARTED = "game.started"
ENDED = "game.ended"
SEAT_LOST = "game.seat_lost"
INVITATION = "game.invitation"
REMATCH = "game.rematch"
TYPES = (TURN, STARTED, ENDED, SEAT_LOST, INVITATION, REMATCH)
"""What players are told."""

EVER = datetime(1970, 1, 1, tzinfo=UTC)
LOOKS_BACK = timedelta(minutes=1)
LOOKS_FAR_BACK = timedelta(minutes=15)
"""How much later than it says a move may have been committed, by clocks that go as they should.

Now and then a wrong clock is allowed for.
"""

FAR_LOOKS = timedelta(seconds=30)
GAMES_AT_ONCE = 100
INVITATIONS_AT_ONCE = 200


@dataclass
class Dispatcher:
    """Tells players what happened. Any number may run: one at a time does."""

    services: Services
    _looked_far: datetime = field(default=EVER, init=False)

    def run(self) -> int:
        """Tell what there is to tell; how many notices were written. Raises StoreUnavailable."""
        now = self.services.now()
        is_far = now - self._looked_far >= FAR_LOOKS
        with book_for_writing(self.services.database) as book:
            if book is None:
                return 0
            looked = book.looked_at()
            back = LOOKS_FAR_BACK if is_far else LOOKS_BACK
            fresh = book.fresh_games(EVER if looked is None else looked - back, GAMES_AT_ONCE)
            invitations = book.fresh_invitations(INVITATIONS_AT_ONCE)
            told = self._tell(book, fresh, invitations, now)
            if len(fresh) < GAMES_AT_ONCE:
                book.note_looked(now)
                self._looked_far = now if is_far else self._looked_far
        newest = {notice.player: notice.number for notice in told}
        for player, number in newest.items():
            self.services.feed.tell(player, number)
            self.services.feed.outlet(player, number)
        return len(told)

    def _tell(
        self,
        book: Book,
        games: Sequence[FreshGame],
        invitations: Sequence[Invitation],
        now: datetime,
    ) -> Sequence[Notice]:
        found = [_of_invitation(one, now) for one in invitations]
        for game in games:
            found += _told_of_game(game, now)
        if games:
            book.note_told(games)
        told = book.add(found) if found else ()
        if told:
            hooks = book.webhooks_of({notice.player for notice in told})
            book.add_deliveries(deliveries_of(self.services, told, hooks))
        return told


def _told_of_game(game: FreshGame, now: datetime) -> Sequence[Notice]:
    """What to tell of the game; nothing of one whose log can't be read: the others go on."""
    try:
        return list(notices_of(game, now))
    except Exception as error:  # noqa: BLE001  whatever is wrong with one game stays with it
        structlog.get_logger().warning("game_untold", game=game.id, reason=type(error).__name__)
        return ()


def notices_of(game: FreshGame, now: datetime) -> Iterator[Notice]:
    """Whom to tell what of a game, in the order in which it happened.

    Of turns only the one that is: what is over need not be told any more.
    """

    def notice(player: str, kind: str, data: JsonMap) -> Notice:
        told = dump_json({"game": game.id, **data})
        return Notice(player=player, type=kind, game=game.id, data=told, at=now)

    events = [parse_event(line) for line in game.lines]
    turn = _turn_began(game, events)
    for event in events:
        for player, kind, data in _told_of(event, game):
            yield notice(player, kind, {"seq": event.seq, **data})
        if turn == event.seq and game.to_act is not None:
            due = timestamp_if(game.deadline_at)
            yield notice(game.to_act, TURN, {"seq": turn, "deadline_at": due})


def _told_of(event: Event, game: FreshGame) -> Iterator[tuple[str, str, JsonMap]]:
    """Who is told of the event itself: player, type, data."""
    data: Any = event.data
    everybody = dict.fromkeys(player for player in game.players if player)
    match event.type:
        case "game_created" if "rematch" in data:
            kept = sorted(data["rematch"]["players"].items(), key=lambda pair: int(pair[0]))
            for seat, player in kept:
                if player != event.actor.get("id"):
                    yield player, REMATCH, {"of": data["rematch"]["of"], "seat": int(seat)}
        case "game_started":
            for player in everybody:
                yield player, STARTED, {}
        case "game_ended":
            for player in everybody:
                yield player, ENDED, {"reason": data["reason"]}
        case "seat_replaced" if data["reason"] == ABSENT:
            player = game.players[data["seat"] - 1]
            if player:
                yield player, SEAT_LOST, {"seat": data["seat"]}


def _turn_began(game: FreshGame, events: Sequence[Event]) -> int | None:
    """The seq by which the present turn began; None if that was told, or no player is to act."""
    if game.to_act is None:
        return None
    own = {seat for seat, player in enumerate(game.players, 1) if player == game.to_act}
    return next((event.seq for event in reversed(events) if _begins(event, own)), None)


def _begins(event: Event, own: Collection[int]) -> bool:
    """Whether the event can be what gave the turn to who has these seats."""
    match event.type:
        case "move":
            return event.data["seat"] not in own
        case "seat_replaced":
            return event.data["seat"] in own
        case kind:
            return kind in NEW_TURNS


def _of_invitation(invitation: Invitation, now: datetime) -> Notice:
    data = invitation_json(invitation)
    return Notice(
        player=invitation.invitee or "",
        type=INVITATION,
        game=invitation.game,
        data=dump_json(data),
        at=now,
    )


def invitation_json(invitation: Invitation) -> JsonMap:
    """An invitation as the one who is invited sees it."""
    return {
        "game": invitation.game,
        "invitation": invitation.id,
        "from": invitation.player,
        "expires_at": timestamp(invitation.expires_at),
    }
