"""Who is looking, and whose private facts they are entitled to.

The one place that decides it. Nothing is taken away from a fuller record:
private facts are added for the seats named here, and for no others.
"""

from dataclasses import dataclass

from service.cards import Seat
from service.log.game import Game


@dataclass(frozen=True, slots=True, kw_only=True)
class Viewer:
    """A pair of eyes.

    `role` is `seat` or `spectator`; `seat` is the place that the viewer looks
    from, None for a spectator; `sees` are the seats whose hidden cards may be shown.
    """

    role: str
    seat: Seat | None
    sees: frozenset[Seat]

    @property
    def tag(self) -> str:
        """What tells this viewer's answers from another's, for an entity tag."""
        seats = ".".join(str(seat) for seat in sorted(self.sees))
        return f"{self.role}.{self.seat or 0}.{seats}"


SPECTATOR = Viewer(role="spectator", seat=None, sees=frozenset())


def viewer_of(game: Game, player: str | None) -> Viewer:
    """The player's own eyes: the seats that they hold, which is none for a spectator."""
    seats = game.seats_of(player) if player is not None else []
    if not seats:
        return SPECTATOR
    turn = game.to_act
    own = turn if turn in seats else seats[0]
    return Viewer(role="seat", seat=own, sees=frozenset(seats))


def everybody(game: Game, viewer: Viewer) -> Viewer:
    """The same viewer, entitled to every hand: once the game has ended."""
    return Viewer(role=viewer.role, seat=viewer.seat, sees=frozenset(game.seats))


def only(viewer: Viewer, seat: Seat) -> Viewer:
    """The perspective of one seat, for a viewer who is entitled to it."""
    return Viewer(role=viewer.role, seat=seat, sees=frozenset({seat}))
