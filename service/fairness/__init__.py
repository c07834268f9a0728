"""The deal, algorithm `fairdeal/1`: from one secret to every deck of a game.

Frozen: what stands here deals every game that was ever stored. Another way
to deal is another algorithm, beside this one.
"""

from service.fairness.dealer import Dealer, SealedDealer
from service.fairness.deck import shuffle
from service.fairness.keys import (
    ALGORITHM,
    SANDBOX_GAME,
    SECRET_BYTES,
    commitment,
    game_key,
    sub_key,
)

__all__ = [
    "ALGORITHM",
    "SANDBOX_GAME",
    "SECRET_BYTES",
    "Dealer",
    "SealedDealer",
    "commitment",
    "game_key",
    "shuffle",
    "sub_key",
]
