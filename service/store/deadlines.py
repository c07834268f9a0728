"""When a turn must be over."""

from datetime import datetime, timedelta

from service.log.game import Game


def deadline_of(game: Game) -> datetime | None:
    """When the clock plays for the seat that is to act; None where it never does."""
    seconds, occupant = game.setup.turn_seconds, game.occupant_to_act
    if seconds is None or occupant is None or occupant.player is None:
        return None
    began = datetime.fromisoformat(game.turn_at)
    return began + timedelta(seconds=seconds + game.extended)
