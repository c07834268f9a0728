"""Finding a game: from memory, from its log, at a version, and bringing it up to date."""

from collections.abc import Collection, Iterator, Sequence

from service.canonical import JsonMap
from service.log.events import Event
from service.log.game import Game, Secret, Status
from service.log.replay import ReplayDiverged, advance, resume
from service.log.steps import Frame
from service.play.ids import is_id
from service.play.refusals import EventNotFound, GameNotFound, GameRemoved, NoSpectators, Refusal
from service.play.services import Services, timestamp
from service.store.appends import RequestKey
from service.store.reads import Binding, Tail, load, read_events, read_tail, read_tails
from service.store.retention import find_retained


def find_game(services: Services, game: str, player: str | None) -> Game:
    """The game as last seen, for one who may know of it; raises GameNotFound.

    It may have moved on since: good for what never changes of a game, and to
    try a move on.
    """
    found = services.games.get(game) or _load(services, game)
    refuse_strangers(found, player)
    return found


def current_game(services: Services, game: str, player: str | None) -> Game:
    """The game at the newest version that the player may see.

    Raises GameNotFound and NoSpectators.
    """
    found, _ = catch_up(services, game)
    upto = horizon(found, player)
    return found if upto == found.version else game_at(services, found, upto)


def horizon(game: Game, player: str | None) -> int:
    """The newest version that the player may see; raises GameNotFound and NoSpectators.

    Who only looks on while a game runs sees of it what its policy says: all,
    nothing, or what is some events old.
    """
    refuse_strangers(game, player)
    policy = game.setup.spectators
    is_running = game.status in (Status.ACTIVE, Status.HELD)
    if policy == "public" or not is_running or game.is_party(player):
        return game.version
    if policy == "none":
        raise NoSpectators
    return max(game.open_until, game.version - game.setup.spectator_delay)


def refuse_strangers(game: Game, player: str | None) -> None:
    """A private game is not found by who neither opened it, nor has a seat, nor one kept."""
    if game.setup.visibility == "public" or (player is not None and player == game.setup.creator):
        return
    kept = game.setup.rematch.players if game.setup.rematch else ()
    if not (game.is_party(player) or (player is not None and player in kept)):
        raise GameNotFound


def catch_up(
    services: Services, game: str, key: RequestKey | None = None
) -> tuple[Game, Binding | None]:
    """The game at its newest version, and what the key is bound to.

    One read, if the game is remembered.
    """
    remembered = services.games.get(game) or _load(services, game)
    tail = read_tail(services.database, game, remembered.version, key)
    if tail is None:
        services.games.drop(game)
        raise _missing(services, game)
    caught_up = _advanced(services, remembered, tail) or _load(services, game)
    services.games.put(game, caught_up)
    return caught_up, tail.binding


def catch_up_all(services: Services, games: Collection[str]) -> None:
    """Bring what is remembered of these games up to date, all of them by one read."""
    remembered = {game: found for game in games if (found := services.games.get(game))}
    known = {game: found.version for game, found in remembered.items()}
    for game, tail in read_tails(services.database, known).items() if known else ():
        caught_up = _advanced(services, remembered[game], tail)
        if caught_up is not None:
            services.games.put(game, caught_up)


def game_at(services: Services, game: Game, at: int) -> Game:
    """The game as it stood at that version; raises EventNotFound."""
    if at == game.version:
        return game
    if not 1 <= at < game.version:
        raise EventNotFound(version=game.version)
    secret, events = _read(services, game.id, at)
    return resume(events, secret)


def frames_of(services: Services, game: Game, first: int, last: int) -> Iterator[Frame]:
    """The events from one seq to another, each between the games before and after it."""
    before: Game | None = None if first == 1 else game_at(services, game, first - 1)
    for event in read_events(services.database, game.id, first - 1, last):
        frame = advance(before, event, game.setup.secret)
        yield frame
        before = frame.after


def _load(services: Services, game: str) -> Game:
    """The game from its log, whatever was remembered of it."""
    secret, events = _read(services, game)
    loaded = resume(events, secret)
    services.games.put(game, loaded)
    return loaded


def _read(services: Services, game: str, at: int | None = None) -> tuple[Secret, Sequence[Event]]:
    if not is_id(game):
        raise GameNotFound
    limits = {} if at is None else {"at": at}
    stored = load(services.database, game, services.dealer, **limits)
    if stored is None:
        raise _missing(services, game)
    return stored


def _missing(services: Services, game: str) -> Refusal:
    """Why there is no such game: it is past its age, or there never was one."""
    left = find_retained(services.database, game)
    if left is None:
        return GameNotFound()
    facts: JsonMap = {
        "version": left.version,
        "head": left.head,
        "removed_at": timestamp(left.removed_at),
        "export_sha256": left.export_sha256,
    }
    players = None if left.visibility == "public" else left.players
    return GameRemoved(facts, players, timestamp(left.removed_at))


def _advanced(services: Services, remembered: Game, tail: Tail) -> Game | None:
    """The game after the tail; None if what was remembered is no part of the log."""
    if tail.version < remembered.version:
        return None
    frames: list[Frame] = []
    game = remembered
    try:
        for event in tail.events:
            frames.append(advance(game, event, game.setup.secret))
            game = frames[-1].after
    except ReplayDiverged:
        return None
    services.feed.read(game.id, frames)
    return game
