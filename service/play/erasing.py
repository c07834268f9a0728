"""Forgetting a player. Their games stay, and still verify: a log knows them by an opaque id."""

from service.play.admins import Admin, line_of
from service.play.games import catch_up
from service.play.ids import is_id
from service.play.leaving import resign
from service.play.refusals import PlayerNotFound, Refusal
from service.play.seating import leave_seat
from service.play.services import Services
from service.store import erasure

ERASURE = "erasure"


def forget_player(services: Services, admin: Admin, player: str, reason: str) -> None:
    """Take away all that names or speaks for the player; doing it twice is no fault.

    A bot plays on in their running games. Raises PlayerNotFound and StoreUnavailable.
    """
    facts = line_of(services, admin.id, ERASURE, {"player": player, "reason": reason})
    is_there = is_id(player) and erasure.forget(services.database, player, services.now(), facts)
    if not is_there:
        raise PlayerNotFound
    services.names.drop(player)
    services.keys.forget_player(player)
    services.feed.outlet(player, 0)
    for game, status in erasure.games_under_way(services.database, player):
        try:
            _leave(services, player, game, status)
        except Refusal:  # the game has moved on meanwhile
            continue


def _leave(services: Services, player: str, game: str, status: str) -> None:
    if status != "open":
        resign(services, player, game, None)
        return
    present, _ = catch_up(services, game)
    for seat in present.seats_of(player):
        leave_seat(services, player, game, seat)
