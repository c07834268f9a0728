"""Which game goes on from which."""

from sqlalchemy import select, text

from service.store.database import Database, connection
from service.store.tables import rematches

CLAIM = """
INSERT INTO rematches (game_id, rematch_id) VALUES (:game, :rematch)
ON CONFLICT (game_id) DO UPDATE SET rematch_id = excluded.rematch_id
    WHERE rematches.rematch_id = :voided
"""


def claim_rematch(database: Database, game: str, rematch: str, voided: str | None) -> str:
    """The id of the game that goes on from that one.

    It is `rematch`, unless somebody was faster; the voided one makes room.
    """
    query = select(rematches.c.rematch_id).where(rematches.c.game_id == game)
    with connection(database) as open_connection:
        parameters = {"game": game, "rematch": rematch, "voided": voided}
        open_connection.execute(text(CLAIM), parameters)
        return str(open_connection.scalar(query))


def find_rematch(database: Database, game: str) -> str | None:
    """The id of the game that goes on from that one, if there is one."""
    query = select(rematches.c.rematch_id).where(rematches.c.game_id == game)
    with connection(database) as open_connection:
        found: str | None = open_connection.scalar(query)
    return found
