"""Work that is done in one game after the other."""

from collections.abc import Callable, Iterable

import structlog

from service.play.services import Services
from service.store.database import StoreUnavailable


def each(
    services: Services, games: Iterable[str], work: Callable[[Services, str], bool], fault: str
) -> int:
    """Do the work in each game; in how many something was done.

    One game's faults are its own, logged by that name: the others go on.
    """
    done = 0
    for game in games:
        try:
            done += work(services, game)
        except StoreUnavailable:
            raise
        except Exception as error:  # noqa: BLE001  whatever is wrong with one game stays with it
            structlog.get_logger().warning(fault, game=game, reason=type(error).__name__)
    return done
