"""Who is there: the seats whose players follow the game just now. Never in the log.

Each process says of its own streams, every few seconds, who holds them; what
is not said again is over soon.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import timedelta

from service.cards import Seat
from service.log.game import Game
from service.play.games import current_game
from service.play.services import Services
from service.store.attempts import Connected, add_connections
from service.store.presence import Pair, find_present, note_gone, note_present

PRESENT_FOR = timedelta(seconds=15)
"""For how long a player counts as present, unless it is said again."""

RENEWED_AFTER = timedelta(seconds=5)


@dataclass(slots=True)
class Present:
    """What this process said last, and when it must say it again."""

    process: str
    pairs: frozenset[Pair] = field(default_factory=frozenset)
    said_at: float = float("-inf")


def say_present(services: Services, present: Present, pairs: Collection[Pair]) -> None:
    """These players follow these games in this process, and nobody else does."""
    pairs, now = frozenset(pairs), services.now()
    gone, come = present.pairs - pairs, pairs - present.pairs
    if gone:
        note_gone(services.database, present.process, gone)
    elsewhere = who_is_present(services, {game for game, _ in gone | come})
    is_due = now.timestamp() - present.said_at >= RENEWED_AFTER.total_seconds()
    fresh = pairs if is_due else come
    if fresh:
        note_present(services.database, present.process, fresh, now + PRESENT_FOR)
    changed = [(pair, True) for pair in sorted(come)] + [(pair, False) for pair in sorted(gone)]
    rows = [
        Connected(id=services.new_id(), game_id=game, at=now, player_id=player, came=came)
        for (game, player), came in changed
        if player not in elsewhere[game]  # who follows it in another process neither came nor went
    ]
    if rows:
        add_connections(services.database, rows)
    present.pairs = pairs
    if is_due:
        present.said_at = now.timestamp()


def who_is_present(services: Services, games: Collection[str]) -> Mapping[str, frozenset[str]]:
    """The players who follow each of the games, in whatever process."""
    return find_present(services.database, games, services.now()) if games else {}


def present_seats(services: Services, player: str | None, game: str) -> list[Seat]:
    """The seats whose players are there; raises GameNotFound and NoSpectators."""
    found = current_game(services, game, player)
    return seats_present(found, who_is_present(services, [game])[game])


def seats_present(game: Game, players: Collection[str]) -> list[Seat]:
    """The seats of those players."""
    return [
        seat
        for seat in game.seats
        if (occupant := game.occupant(seat)) is not None and occupant.player in players
    ]
