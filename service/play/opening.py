"""Opening a game: the commitment first, then whoever sits down with it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from service.bots import LEVELS
from service.cards import Seat
from service.log import steps
from service.log.events import Actor
from service.log.game import Game, Occupant, Rematch, Secret
from service.log.steps import Opening
from service.play.accounts import kind_of
from service.play.bot_turns import play_bots
from service.play.games import catch_up
from service.play.idempotency import made_before
from service.play.pen import Pen
from service.play.refusals import FieldError, InvalidBody
from service.play.seating import Seated
from service.play.services import Services
from service.rules.ruleset import AnyRuleset
from service.store.appends import KeyBound, RequestKey, create_game
from service.store.reads import read_receipt

CREATORS_SEAT = Seat(1)


@dataclass(frozen=True, slots=True)
class BotSeat:
    """A bot of the service, and where it sits."""

    seat: Seat
    level: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OpeningRequest:
    """What a game is asked for with.

    `sit` is whether the creator takes seat 1; `sandbox_secret` fixes the deal,
    for tests of clients; `spectators` is `public`, `none`, or `delayed` by
    `spectator_delay` events.
    """

    ruleset: AnyRuleset
    options: Any
    seats: int
    visibility: str
    bots: Sequence[BotSeat] = ()
    sit: bool = True
    turn_seconds: int | None = None
    sandbox_secret: bytes | None = None
    spectators: str = "public"
    spectator_delay: int = 0
    rematch: Rematch | None = None
    hold_on_dispute: bool = False


def open_game(
    services: Services, player: str, read: Callable[[], OpeningRequest], key: RequestKey | None
) -> Seated:
    """Open a game for the player; one of bots alone starts at once.

    A game whose other seats are bots waits for the creator's contribution,
    which is given once the commitment is known.
    """
    if (opened := _opened_before(services, player, key)) is not None:
        return opened
    request = read()
    _refuse_bad_seats(request)
    try:
        return open_game_as(services, services.new_id(), player, request, key)
    except KeyBound:
        if (opened := _opened_before(services, player, key)) is not None:
            return opened
        raise


def open_game_as(
    services: Services, game: str, player: str, request: OpeningRequest, key: RequestKey | None
) -> Seated:
    """The same under an id that is known; raises GameExists and KeyBound."""
    pen = Pen(services)
    _write_opening(services, pen, game, player, request)
    receipt = create_game(services.database, pen.frames, key)
    services.games.put(pen.game.id, pen.game)
    present = play_bots(services, pen.game)
    return Seated(seat=_seat_of(pen.game, player), game=present, receipt=receipt)


def _opened_before(services: Services, player: str, key: RequestKey | None) -> Seated | None:
    made = made_before(services, key)
    if made is None:
        return None
    game, _ = catch_up(services, made.resource_id)
    receipt = read_receipt(services.database, game.id, made.version)
    return Seated(seat=_seat_of(game, player), game=game, receipt=receipt, is_replayed=True)


def _write_opening(
    services: Services, pen: Pen, game: str, player: str, request: OpeningRequest
) -> None:
    creator = Actor(kind="player", id=player)
    value = request.sandbox_secret or services.draw_secret()
    opening = Opening(
        ruleset=request.ruleset,
        options=request.options,
        seats=request.seats,
        visibility=request.visibility,
        sandbox=value.hex() if request.sandbox_secret else None,
        turn_seconds=request.turn_seconds,
        spectators=request.spectators,
        spectator_delay=request.spectator_delay,
        rematch=request.rematch,
        hold_on_dispute=request.hold_on_dispute,
    )
    secret = Secret(value, services.dealer)
    pen.write(steps.create(game, opening, secret, creator, pen.at))
    if request.sit:
        occupant = Occupant(kind=kind_of(services, player), player=player)
        pen.write(steps.take_seat(pen.game, CREATORS_SEAT, occupant, creator))
    for bot in request.bots:
        occupant = Occupant(kind="bot", level=bot.level)
        pen.write(steps.take_seat(pen.game, bot.seat, occupant, creator))
    if pen.game.is_full and not request.sit:
        pen.write(steps.start(pen.game))
        pen.follow()


def _refuse_bad_seats(request: OpeningRequest) -> None:
    """Refuse a number of seats that the ruleset does not play with, and bots that can't sit."""
    allowed = request.ruleset.seats
    if request.seats not in allowed:
        detail = f"{request.ruleset.title} is played by {allowed[0]} to {allowed[-1]}."
        raise InvalidBody([FieldError("/seats", detail)])
    taken = {CREATORS_SEAT} if request.sit else set()
    errors = []
    for index, bot in enumerate(request.bots):
        if bot.seat > request.seats:
            detail = f"There is no seat {bot.seat}: the seats are 1 to {request.seats}."
            errors.append(FieldError(f"/bots/{index}/seat", detail))
        elif bot.seat in taken:
            errors.append(FieldError(f"/bots/{index}/seat", f"Seat {bot.seat} is taken."))
        taken.add(bot.seat)
    if errors:
        raise InvalidBody(errors)


def _seat_of(game: Game, player: str) -> Seat | None:
    return next(iter(game.seats_of(player)), None)


BOT_LEVELS = tuple(LEVELS)
"""The levels that a bot may be asked for with."""
