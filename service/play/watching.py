"""Looking on: the view, the events, the replay, each as the caller may see it."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from service.canonical import JsonMap, dump_json
from service.cards import Seat
from service.log.game import Game
from service.log.projection import event_line, view_json
from service.log.steps import Frame
from service.log.viewer import Viewer, everybody, only, viewer_of
from service.play.games import current_game, frames_of, game_at, horizon
from service.play.refusals import (
    EventNotFound,
    GameNotFound,
    GameNotOver,
    HeadNotFound,
    HiddenInformation,
    InvalidQuery,
    NoSpectators,
)
from service.play.services import Services, timestamp, timestamp_if
from service.store.deadlines import deadline_of
from service.store.players import player_names
from service.store.reads import find_head, read_events

HEAD = re.compile("[0-9a-f]{64}")
ALL_SEATS = "all"


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """A game at one version through a pair of eyes; `latest` is its newest version."""

    game: Game
    viewer: Viewer
    latest: int

    @property
    def tag(self) -> str:
        """What changes whenever the view does."""
        return f"v{self.latest}.{self.viewer.tag}.{self.game.version}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """The frames that are asked for: from one seq to another, None for the newest; how many."""

    first: int
    last: int | None
    limit: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """Some of a game's events, as JSON texts; `next_after` is where the next page begins.

    `is_over` says whether the game has ended; `abandoned` are the first and
    the last seq of what rulings folded back.
    """

    items: Sequence[str]
    next_after: int
    version: int
    is_over: bool = False
    abandoned: Sequence[tuple[int, int]] = ()


def look(
    services: Services, player: str | None, game: str, at: int | None, seat: str | None
) -> Look:
    """The game at its newest version, or as it stood at another.

    `seat` asks for another pair of eyes: a seat's, or `all`.
    """
    present = current_game(services, game, player)
    viewer = _eyes(present, player, seat)
    shown = present if at is None else game_at(services, present, at)
    return Look(game=shown, viewer=viewer, latest=present.version)


def own_look(services: Services, game: Game, player: str | None, since: int = 0) -> Look:
    """The game as the player may see it now, through their own eyes.

    Who may not look on any more is shown it as it was at the version `since`,
    that of what they did themselves; without one raises GameNotFound and NoSpectators.
    """
    try:
        upto = horizon(game, player)
    except (GameNotFound, NoSpectators):
        if not since:
            raise
        upto = since
    shown_game = game if upto >= game.version else game_at(services, game, upto)
    return Look(game=shown_game, viewer=viewer_of(game, player), latest=shown_game.version)


def shown(services: Services, seen: Look) -> JsonMap:
    """The view, with the players' names, and the clock: when the turn must be over, and now."""
    view = view_json(seen.game, seen.viewer, names_in(services, seen.game), seen.latest)
    deadline = deadline_of(seen.game) if seen.game.version == seen.latest else None
    return {**view, "deadline_at": timestamp_if(deadline), "server_time": timestamp(services.now())}


def events_page(services: Services, player: str | None, game: str, after: int, limit: int) -> Page:
    """The events after that seq, with the private facts of the seats that the caller may see."""
    present = current_game(services, game, player)
    if after > present.version:
        raise EventNotFound(version=present.version)
    last = min(after + limit, present.version)
    viewer = viewer_of(present, player)
    eyes = everybody(present, viewer) if present.status.is_over else viewer
    items = list(_projected(services, present, eyes, after + 1, last))
    is_over = present.status.is_over
    return Page(items=items, next_after=last, version=present.version, is_over=is_over)


def replay_frames(
    services: Services, player: str | None, game: str, seat: str | None, span: Span
) -> Page:
    """Frames of the game: each event, and the view after it.

    Through the caller's own eyes while the game runs, through anybody's once it ended.
    """
    present = current_game(services, game, player)
    return _frames(services, present, _eyes(present, player, seat), span)


def replay_of_head(
    services: Services, player: str | None, game: str, head: str, seat: str | None, span: Span
) -> tuple[Game, Page]:
    """Frames of an ended game as it stood with that head: the same for everybody, for ever.

    Through a bystander's eyes, a seat's or `all`. Raises HeadNotFound and GameNotOver.
    """
    ended = game_of_head(services, player, game, head)
    if not ended.status.is_over:
        raise GameNotOver
    return ended, _frames(services, ended, _eyes(ended, None, seat), span)


def game_of_head(services: Services, player: str | None, game: str, head: str) -> Game:
    """The game at the version whose head that is; raises HeadNotFound."""
    present = current_game(services, game, player)
    if head == present.head:
        return present
    seq = find_head(services.database, game, head) if HEAD.fullmatch(head) else None
    if seq is None or seq > present.version:
        raise HeadNotFound
    return game_at(services, present, seq)


def _frames(services: Services, present: Game, viewer: Viewer, span: Span) -> Page:
    first, wanted = span.first, present.version if span.last is None else span.last
    if first > present.version or wanted > present.version:
        raise EventNotFound(version=present.version)
    last = min(wanted, first + span.limit - 1)
    names = names_in(services, present)
    items = [
        frame_text(frame, viewer, view_json(frame.after, viewer, names, present.version))
        for frame in frames_of(services, present, first, last)
    ]
    return Page(
        items=items,
        next_after=max(last, first - 1),
        version=present.version,
        abandoned=present.abandoned,
    )


def frame_text(frame: Frame, viewer: Viewer, view: JsonMap) -> str:
    """A frame as JSON: an event, and the view after it, of the same eyes."""
    event = event_line(frame, viewer)
    return f'{{"seq":{frame.event.seq},"event":{event},"view":{dump_json(view)}}}'


def names_in(services: Services, game: Game) -> Mapping[str, str]:
    """The names of the players in the game, by id."""
    ids = {occupant.player for occupant in game.occupants if occupant and occupant.player}
    return names_of(services, sorted(ids))


def names_of(services: Services, ids: Sequence[str]) -> Mapping[str, str]:
    """The names of the players, by id; remembered by the process."""
    known = {player: services.names.get(player) for player in ids}
    missing = [player for player, name in known.items() if name is None]
    found = player_names(services.database, missing) if missing else {}
    for player, name in found.items():
        services.names.put(player, name)
    return {player: known[player] or found.get(player, "") for player in ids}


def _projected(
    services: Services, game: Game, viewer: Viewer, first: int, last: int
) -> Iterator[str]:
    """The events from one seq to another; a viewer who sees no seat needs no replay."""
    if viewer.sees:
        for frame in frames_of(services, game, first, last):
            yield event_line(frame, viewer)
        return
    for event in read_events(services.database, game.id, first - 1, last):
        yield event.line


def _eyes(game: Game, player: str | None, seat: str | None) -> Viewer:
    """The caller's own eyes, or those asked for; raises HiddenInformation while the game runs."""
    own = viewer_of(game, player)
    if seat is None:
        return own
    wanted = everybody(game, own) if seat == ALL_SEATS else only(own, _seat(game, seat))
    if not game.status.is_over and not wanted.sees <= own.sees:
        raise HiddenInformation
    return wanted


def _seat(game: Game, text: str) -> Seat:
    if not (text.isascii() and text.isdecimal() and 1 <= int(text) <= len(game.occupants)):
        detail = f"The seats are 1 to {len(game.occupants)}, or `all`."
        raise InvalidQuery("seat", detail)
    return Seat(int(text))
