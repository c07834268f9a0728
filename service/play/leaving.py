"""Giving up a seat of a running game, and coming back to one."""

from collections.abc import Sequence

from service.cards import Seat
from service.log import steps
from service.log.events import Actor
from service.log.game import Game, Occupant, Status
from service.log.steps import Frame
from service.play.accounts import kind_of
from service.play.bot_turns import play_bots
from service.play.committing import commit
from service.play.games import refuse_strangers
from service.play.pen import Pen
from service.play.refusals import GameNotActive, NotAway, NotSeated
from service.play.seating import Seated, seated_by
from service.play.services import Services
from service.store.appends import RequestKey


def resign(services: Services, player: str, game: str, key: RequestKey | None) -> Seated:
    """Hand one's seat to a bot, for good. Raises NotSeated and GameNotActive."""
    committed = commit(services, game, lambda now: _resign(services, now, player), key)
    present = play_bots(services, committed.game)
    return seated_by(committed, present)


def come_back(services: Services, player: str, game: str, key: RequestKey | None) -> Seated:
    """Take one's seat back from the bot that plays on for who was away.

    Raises NotAway and GameNotActive.
    """
    occupant = Occupant(kind=kind_of(services, player), player=player)
    committed = commit(services, game, lambda now: _come_back(services, now, occupant), key)
    present = play_bots(services, committed.game)
    return seated_by(committed, present)


def _resign(services: Services, game: Game, player: str) -> Sequence[Frame]:
    held = game.seats_of(player)
    if not held:
        refuse_strangers(game, player)
        raise NotSeated
    _refuse_unless_running(game)
    pen = Pen(services, game)
    for seat in held:
        pen.write(steps.resign(pen.game, seat, Actor(kind="player", id=player)))
    return pen.frames


def _come_back(services: Services, game: Game, occupant: Occupant) -> Sequence[Frame]:
    player = occupant.player or ""
    seat = next((seat for seat in game.seats if game.away[seat - 1] == player), None)
    if seat is None:
        refuse_strangers(game, player)
        raise NotAway
    _refuse_unless_running(game)
    pen = Pen(services, game)
    pen.write(steps.come_back(game, Seat(seat), occupant, Actor(kind="player", id=player)))
    return pen.frames


def _refuse_unless_running(game: Game) -> None:
    if game.status not in (Status.ACTIVE, Status.HELD):
        raise GameNotActive(game_status=game.status.value)
