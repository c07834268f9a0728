"""Disputes: what a player complains of, and what becomes of it until a referee rules."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from service.cards import Seat
from service.log import steps
from service.log.events import SYSTEM, Actor, Event
from service.log.game import Game, Status
from service.log.steps import Frame
from service.play.committing import Committed, commit
from service.play.games import refuse_strangers
from service.play.ids import is_id
from service.play.pen import Pen
from service.play.refusals import (
    DisputeClosed,
    DisputeNotFound,
    DisputeStandsAlready,
    FieldError,
    GameNotActive,
    InvalidBody,
    NotSeated,
)
from service.play.services import Services
from service.store import disputes as store
from service.store.appends import RequestKey
from service.store.disputes import DisputeRow, Message, RulingRow
from service.store.reads import read_milestones

DISPUTES_A_SEAT = 5
APPEAL_WITHIN = timedelta(days=7)
STATEMENT_CHARS = 2_000
ADMINS_ONLY = "admins"
PARTIES = "parties"


@dataclass(frozen=True, slots=True, kw_only=True)
class DisputeRequest:
    """What a player files: the events that it is about, and what they say of them."""

    reason: str
    seqs: Sequence[int]
    statement: str


@dataclass(frozen=True, slots=True)
class Case:
    """A dispute with all that was said and decided of it, as far as the reader may know."""

    dispute: DisputeRow
    messages: Sequence[Message]
    rulings: Sequence[RulingRow]


def file_dispute(
    services: Services,
    player: str,
    game: str,
    read: Callable[[], DisputeRequest],
    key: RequestKey | None,
) -> tuple[DisputeRow, Committed]:
    """File a dispute for one's seat; the log says that there is one, and not what it says.

    `read` reads what is filed, once it is clear that the player has a seat.
    Raises GameNotFound, NotSeated, GameNotActive, InvalidBody and DisputeStandsAlready.
    """
    new = services.new_id()
    committed = commit(services, game, lambda now: _opened(services, now, player, read, new), key)
    first = committed.frames[0]
    found = store.find_dispute(services.database, str(first.event.data["dispute"]))
    if found is not None:
        return found, committed
    row = _row_of(first.event, first.after, read().statement)
    _add_row(services, row)
    return row, committed


def _row_of(event: Event, game: Game, statement: str) -> DisputeRow:
    """The row of a dispute as its event opened it."""
    data: Any = event.data
    return DisputeRow(
        id=data["dispute"],
        game_id=event.game,
        seat=data["seat"],
        player_id=str(event.actor.get("id", "")),
        parties=parties_of(game),
        reason=data["reason"],
        seqs=data["seqs"],
        statement=statement,
        status="open",
        version=1,
        opened_at=datetime.fromisoformat(event.at),
    )


def _add_row(services: Services, row: DisputeRow) -> None:
    """Write the row; one that the log knows nothing of any more makes room for it."""
    try:
        store.add_dispute(services.database, row)
    except store.DisputeStands:
        store.close_stale(services.database, row.game_id, row.seat, row.id, services.now())
        store.add_dispute(services.database, row)


def _restore(services: Services, game: Game, dispute: str) -> None:
    """The row of a dispute that is in the log, if it is missing; its words are lost."""
    if store.find_dispute(services.database, dispute) is not None:
        return
    for event in read_milestones(services.database, game.id, "dispute_opened"):
        if event.data["dispute"] == dispute:
            _add_row(services, _row_of(event, game, ""))
            return


def parties_of(game: Game) -> Sequence[str]:
    """The players of a game, those who are away too."""
    sitting = [occupant.player for occupant in game.occupants if occupant and occupant.player]
    return sorted({*sitting, *(player for player in game.away if player)})


def who_had_part(services: Services, game: Game) -> set[str]:
    """Everybody who opened the game, sits in it, or ever sat."""
    seated = {game.setup.creator, *parties_of(game)}
    for event in read_milestones(services.database, game.id, "seat_taken", "seat_replaced"):
        seated.add(str(event.data.get("player", "")))
    return seated - {""}


def _opened(
    services: Services, game: Game, player: str, read: Callable[[], DisputeRequest], new: str
) -> Sequence[Frame]:
    refuse_strangers(game, player)
    seat, asked = _seat_of(game, player), read()
    if game.status is Status.OPEN:
        raise GameNotActive(game_status=game.status.value)
    late = [seq for seq in asked.seqs if seq > game.version]
    if late:
        raise InvalidBody([FieldError("/seqs", f"There is no event {late[0]} yet.")])
    for dispute, opened in game.disputes:
        if opened == seat:
            _restore(services, game, dispute)
            raise DisputeStandsAlready(limit=DISPUTES_A_SEAT)
    if store.count_disputes(services.database, game.id, seat) >= DISPUTES_A_SEAT:
        raise DisputeStandsAlready(limit=DISPUTES_A_SEAT)
    filed = steps.Dispute(id=new, seat=seat, reason=asked.reason, seqs=tuple(asked.seqs))
    return _written(services, game, filed, player)


def _written(services: Services, game: Game, filed: steps.Dispute, player: str) -> Sequence[Frame]:
    """The dispute in the log; a game that was opened so stops for it."""
    pen = Pen(services, game)
    pen.write(steps.open_dispute(game, filed, Actor(kind="player", id=player)))
    if pen.game.setup.hold_on_dispute and pen.game.status is Status.ACTIVE:
        pen.write(steps.hold(pen.game, SYSTEM, filed.id))
    return pen.frames


def release(pen: Pen, dispute: str, actor: Actor) -> None:
    """A game that was held for the dispute goes on, or is held for the next one."""
    if pen.game.status is not Status.HELD or pen.game.held_for != dispute:
        return
    others = [opened for opened, _ in pen.game.disputes if opened != dispute]
    if pen.game.setup.hold_on_dispute and others:
        pen.write(steps.hold(pen.game, actor, others[0]))
    else:
        pen.write(steps.let_go(pen.game, actor))


def set_status(services: Services, dispute: str, changes: Mapping[str, Any]) -> None:
    """Change the dispute's row, whoever else changes it meanwhile."""
    while True:
        found = find_dispute(services, dispute)
        if found.status == changes["status"]:
            return
        if store.change_dispute(services.database, found, changes) is not None:
            return


def _seat_of(game: Game, player: str) -> Seat:
    held = game.seats_of(player)
    away = [seat for seat in game.seats if game.away[seat - 1] == player]
    if not (held or away):
        raise NotSeated
    return (held or away)[0]


def find_case(services: Services, player: str, dispute: str) -> Case:
    """The dispute as a party sees it; raises DisputeNotFound."""
    found = find_dispute(services, dispute)
    if player not in found.parties:
        raise DisputeNotFound
    return case_of(services, found, for_admins=False)


def find_dispute(services: Services, dispute: str) -> DisputeRow:
    """The dispute; raises DisputeNotFound."""
    found = store.find_dispute(services.database, dispute) if is_id(dispute) else None
    if found is None:
        raise DisputeNotFound
    return found


def case_of(services: Services, dispute: DisputeRow, *, for_admins: bool) -> Case:
    """The dispute with all that was said and decided of it."""
    return Case(
        dispute,
        store.messages_of(services.database, dispute.id, for_admins=for_admins),
        store.rulings_of(services.database, dispute.id),
    )


def say(
    services: Services, dispute: DisputeRow, author: Actor, body: str, visibility: str = PARTIES
) -> Message:
    """Add a message to a dispute that is not over; raises DisputeClosed."""
    if dispute.status not in store.OPEN:
        raise DisputeClosed(dispute_status=dispute.status)
    message = _message(services, dispute, author, body, visibility)
    store.add_message(services.database, message)
    return message


def _message(
    services: Services, dispute: DisputeRow, author: Actor, body: str, visibility: str
) -> Message:
    return Message(
        id=services.new_id(),
        dispute_id=dispute.id,
        author_kind=author.kind,
        author_id=author.id or "",
        visibility=visibility,
        body=body,
        at=services.now(),
    )


def withdraw(services: Services, player: str, dispute: str) -> Case:
    """Withdraw one's own dispute; doing it twice is no fault.

    A game that was held for it goes on. Raises DisputeNotFound and DisputeClosed.
    """
    found = find_case(services, player, dispute).dispute
    if found.player_id != player:
        raise DisputeNotFound
    if found.status == "resolved":
        raise DisputeClosed(dispute_status=found.status)
    actor = Actor(kind="player", id=player)
    commit(services, found.game_id, lambda now: _withdrawn(services, now, found.id, actor))
    if _is_ruled(services, found):
        raise DisputeClosed(dispute_status="resolved")
    set_status(services, found.id, {"status": "withdrawn", "closed_at": services.now()})
    return find_case(services, player, dispute)


def _is_ruled(services: Services, dispute: DisputeRow) -> bool:
    """Whether the last that the log says of the dispute is a ruling."""
    settled = read_milestones(services.database, dispute.game_id, "ruling", "dispute_withdrawn")
    said = [event.type for event in settled if event.data.get("dispute") == dispute.id]
    return said[-1:] == ["ruling"]


def _withdrawn(services: Services, game: Game, dispute: str, actor: Actor) -> Sequence[Frame]:
    if not game.is_disputed_by(dispute):
        return ()
    pen = Pen(services, game)
    pen.write(steps.withdraw_dispute(game, dispute, actor))
    release(pen, dispute, SYSTEM)
    return pen.frames


def appeal(services: Services, player: str, dispute: str, statement: str) -> Case:
    """Ask for another ruling: once, within seven days. Raises DisputeNotFound and DisputeClosed."""
    found = find_case(services, player, dispute).dispute
    if found.player_id != player:
        raise DisputeNotFound
    now = services.now()
    is_late = found.closed_at is None or now - found.closed_at > APPEAL_WITHIN
    if found.status != "resolved" or found.appealed_at is not None or is_late:
        raise DisputeClosed(dispute_status=found.status)
    commit(services, found.game_id, lambda game: _appealed(services, game, found, player))
    changes = {"status": "open", "appealed_at": now, "closed_at": None, "assignee": None}
    words = _message(services, found, Actor(kind="player", id=player), statement, PARTIES)
    if store.reopen(services.database, found, changes, words) is None:
        raise DisputeClosed(dispute_status=found.status)
    return find_case(services, player, dispute)


def _appealed(services: Services, game: Game, found: DisputeRow, player: str) -> Sequence[Frame]:
    if game.is_disputed_by(found.id):
        return ()
    if found.seat in [int(seat) for _, seat in game.disputes]:
        raise DisputeStandsAlready(limit=DISPUTES_A_SEAT)
    again = steps.Dispute(
        id=found.id, seat=Seat(found.seat), reason=found.reason, seqs=tuple(found.seqs)
    )
    return _written(services, game, again, player)
