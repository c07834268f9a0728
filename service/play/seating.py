"""Taking a seat, giving a contribution, leaving: while the game is open."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from service.cards import Seat
from service.log import steps
from service.log.events import Actor
from service.log.game import Game, Occupant, Status
from service.log.steps import Frame
from service.play.accounts import kind_of
from service.play.bot_turns import play_bots
from service.play.committing import Committed, commit
from service.play.pen import Pen
from service.play.refusals import (
    AlreadySeated,
    GameNotOpen,
    NoFreeSeat,
    NotSeated,
    SeatKept,
    SeatTaken,
    seat_pointer,
)
from service.play.services import Services
from service.proof.receipts import Receipt
from service.store.appends import RequestKey


@dataclass(frozen=True, slots=True, kw_only=True)
class Seated:
    """The seat that a request got, None for who only opened, and the game as it stands now.

    `receipt` is for what the request wrote, or, where `is_written` says that
    it wrote nothing, for the game as it stands. `is_replayed` says that an
    earlier request with the same key had got the seat.
    """

    seat: Seat | None
    game: Game
    receipt: Receipt | None
    is_replayed: bool = False
    is_written: bool = True


@dataclass(frozen=True, slots=True)
class SeatRequest:
    """The seat that is asked for, None for the first that is free, and the contribution."""

    seat: Seat | None
    contribution: str


def take_seat(
    services: Services,
    player: str,
    game: str,
    read: Callable[[], SeatRequest],
    key: RequestKey | None,
) -> Seated:
    """Sit down; whoever takes the last seat starts the game."""
    occupant = Occupant(kind=kind_of(services, player), player=player)
    committed = commit(services, game, lambda now: _seat(services, now, read(), occupant), key)
    return seated_by(committed, play_bots(services, committed.game))


def seated_by(committed: Committed, present: Game) -> Seated:
    """What a request got whose first event is about its seat."""
    return Seated(
        seat=_seat_in(committed.frames[0]),
        game=present,
        receipt=committed.receipt,
        is_replayed=committed.is_replayed,
    )


def give_contribution(
    services: Services, player: str, game: str, seat: Seat, read: Callable[[], str]
) -> Seated:
    """Give one's part in the shuffle, now that the commitment is known.

    A full table that waited for it starts. Giving the same again is no fault,
    even after the start.
    """
    committed = commit(services, game, lambda now: _contribute(services, now, player, seat, read))
    return Seated(seat=seat, game=play_bots(services, committed.game), receipt=committed.receipt)


def leave_seat(services: Services, player: str, game: str, seat: Seat) -> Receipt | None:
    """Free a seat of an open game: one's own, or any for the creator.

    The creator's own leaving voids the game. A seat that is free already is no
    fault. The receipt is for the game without that seat's player.
    """
    return commit(services, game, lambda now: _leave(services, now, player, seat)).receipt


def _seat(
    services: Services, game: Game, request: SeatRequest, occupant: Occupant
) -> Sequence[Frame]:
    player = occupant.player or ""
    held = game.seats_of(player)
    if held and game.setup.sandbox is None:
        raise AlreadySeated({"seat": held[0]}, seat=held[0])
    if request.seat is not None and request.seat > len(game.occupants):
        raise seat_pointer("/seat", request.seat, len(game.occupants))
    _refuse_unless_open(game)
    seat = _free_seat(game, request.seat, player)
    sitting = replace(occupant, contribution=request.contribution)
    pen = Pen(services, game)
    pen.write(steps.take_seat(game, seat, sitting, Actor(kind="player", id=player)))
    _start_if_full(pen)
    return pen.frames


def _contribute(
    services: Services, game: Game, player: str, seat: Seat, read: Callable[[], str]
) -> Sequence[Frame]:
    if seat not in game.seats_of(player):
        raise NotSeated
    contribution = read()
    occupant = game.occupant(seat)
    is_given = occupant is not None and occupant.contribution == contribution
    if occupant is None or (is_given and not _waits_for_contribution(game)):
        return ()
    _refuse_unless_open(game)
    pen = Pen(services, game)
    given = replace(occupant, contribution=contribution)
    pen.write(steps.take_seat(game, seat, given, Actor(kind="player", id=player)))
    _start_if_full(pen)
    return pen.frames


def _leave(services: Services, game: Game, player: str, seat: Seat) -> Sequence[Frame]:
    if seat > len(game.occupants):
        raise NotSeated
    if player != game.setup.creator and seat not in game.seats_of(player):
        if game.occupant(seat) is None:
            return ()
        raise NotSeated
    if game.occupant(seat) is None or game.status is Status.VOIDED:
        return ()
    _refuse_unless_open(game)
    is_creators_own = player == game.setup.creator and seat in game.seats_of(player)
    pen = Pen(services, game)
    pen.write(steps.leave_seat(game, seat, Actor(kind="player", id=player)))
    if is_creators_own:
        pen.write(steps.void(pen.game))
        pen.follow()
    return pen.frames


def _refuse_unless_open(game: Game) -> None:
    if game.status is not Status.OPEN:
        raise GameNotOpen(game_status=game.status.value)


def _waits_for_contribution(game: Game) -> bool:
    """Whether the table is full and only the creator's contribution is missing."""
    return game.status is Status.OPEN and game.is_full


def _free_seat(game: Game, wanted: Seat | None, player: str) -> Seat:
    """The seat that is asked for; else the one that is kept for the player, or the first free."""
    free = [seat for seat in game.seats if game.occupant(seat) is None]
    if wanted is not None and wanted not in free:
        raise NoFreeSeat if not free else SeatTaken(seat=wanted)
    kept = [seat for seat in free if game.kept_for(seat) == player]
    open_to_all = [seat for seat in free if game.kept_for(seat) is None]
    if wanted is not None and wanted not in (*kept, *open_to_all):
        raise SeatKept(seat=wanted)
    if not (kept or open_to_all):
        raise SeatKept(seat=free[0]) if free else NoFreeSeat
    return wanted or (kept or open_to_all)[0]


def _start_if_full(pen: Pen) -> None:
    if pen.game.is_full:
        pen.write(steps.start(pen.game))
        pen.follow()


def _seat_in(frame: Frame) -> Seat:
    seat = frame.event.data["seat"]
    if not isinstance(seat, int):
        message = "the event has no seat"
        raise TypeError(message)
    return Seat(seat)
