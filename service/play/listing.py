"""The lobby, and a player's own games."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from service.canonical import JsonMap
from service.play.services import Services, timestamp
from service.play.watching import names_of
from service.store.lists import GameFilter, GameRow, list_games


@dataclass(frozen=True, slots=True)
class Listed:
    """A page of games; `last` is the id that the next page begins after, None at the end."""

    items: Sequence[JsonMap]
    last: str | None


def games_page(services: Services, wanted: GameFilter) -> Listed:
    """The games that the filter asks for, newest first."""
    one_more = replace(wanted, limit=wanted.limit + 1)
    rows = list_games(services.database, one_more)
    page = rows[: wanted.limit]
    ids = sorted({player for row in page for player in row.players if player})
    names = names_of(services, ids)
    items = [_row_json(row, names, wanted.viewer) for row in page]
    return Listed(items, page[-1].id if len(rows) > len(page) else None)


def _row_json(row: GameRow, names: Mapping[str, str], viewer: str | None) -> JsonMap:
    """A row; how far a running game has come only where the viewer may look on."""
    is_shown = (
        row.status not in ("active", "held") or row.spectators == "public" or viewer in row.players
    )
    return {
        "game": row.id,
        "ruleset": row.ruleset,
        "ruleset_version": row.ruleset_version,
        "status": row.status,
        "visibility": row.visibility,
        "spectators": row.spectators,
        "sandbox": row.sandbox,
        "version": row.version if is_shown else None,
        "seats": row.seats,
        "players": [
            {"seat": seat, "id": player, "name": names.get(player, "")}
            for seat, player in enumerate(row.players, 1)
            if player
        ],
        "to_act": row.to_act if is_shown else None,
        "created_at": timestamp(row.created_at),
        "moved_at": timestamp(row.moved_at) if is_shown else None,
    }
