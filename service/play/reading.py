"""Where a game is read: from a replica, for who says which version they know; else not.

Nothing is decided by what a replica says. A write reads the primary, and so
does a reader who does not say what they have seen.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

from service.play.refusals import Refusal
from service.play.services import Services
from service.store.database import StoreUnavailable

Found = TypeVar("Found")


def read(
    services: Services, game: str, known: int | None, work: Callable[[Services], Found]
) -> Found:
    """What `work` reads of the game, at the version `known` or a later one; None is the newest.

    A replica that is behind, or away, costs a round trip and no answer. What it
    refuses is asked of the primary: it may not have heard yet who sits where.
    """
    replica = services.replica
    if replica is None or known is None:
        return work(services)
    remembered = services.games.get(game)
    least = known if remembered is None else max(known, remembered.version)
    try:
        if replica.has(game, least):
            return work(replace(services, database=replica.database))
    except StoreUnavailable:
        replica.rest()
    except Refusal:
        pass
    return work(services)
