"""A pen: what a request would write to a game's log, gathered before any of it is written."""

from service.log.game import Game
from service.log.steps import Frame, Step, consequences, write
from service.play.services import Services, timestamp


class Pen:
    """Writes steps after a game's last event, all at one time of day.

    A clock that was put back, or that of a machine that is behind, does not
    take the game back in time: a turn that began in the past would be over
    before its player saw it.
    """

    def __init__(self, services: Services, game: Game | None = None) -> None:
        self.frames: list[Frame] = []
        now = timestamp(services.now())
        self.at = now if game is None else max(now, game.at)
        self._game = game

    @property
    def game(self) -> Game:
        """The game after all that was written so far."""
        if self._game is None:
            message = "nothing is written yet"
            raise ValueError(message)
        return self._game

    def write(self, step: Step) -> None:
        """Write one step."""
        self._add(write(step, self._game, self.at))

    def follow(self) -> None:
        """Write all that follows of itself: the next round, the end, the reveal."""
        for frame in consequences(self.game, self.at):
            self._add(frame)

    def _add(self, frame: Frame) -> None:
        self.frames.append(frame)
        self._game = frame.after
