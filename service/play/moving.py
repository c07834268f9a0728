"""Making moves: one, or several as one."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from service.canonical import JsonMap, load_json
from service.cards import Seat
from service.log import steps
from service.log.events import Actor
from service.log.game import Game, Status
from service.log.projection import event_line, legal_moves_json
from service.log.steps import Frame
from service.log.viewer import Viewer, viewer_of
from service.play.bot_turns import play_bots
from service.play.committing import commit
from service.play.games import frames_of
from service.play.pen import Pen
from service.play.refusals import (
    GameNotActive,
    IllegalMove,
    NotSeated,
    NotYourTurn,
    PreconditionRequired,
    RevealNotLast,
    VersionConflict,
)
from service.play.services import Services
from service.proof.receipts import Receipt
from service.rules.ruleset import AnyRuleset
from service.rules.violation import RuleViolation
from service.store.appends import RequestKey

MISSED_EVENTS_AT_MOST = 100
"""How many events a version conflict brings along; the rest are read page by page."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MoveRequest:
    """The moves that a player asks for, in order, all or nothing.

    `seat` is for who holds several, in a sandbox game.
    """

    moves: Sequence[Any]
    expected_version: int | None = None
    seat: Seat | None = None


ReadRequest: TypeAlias = Callable[[AnyRuleset], MoveRequest]
"""Reads the body by the shapes of a ruleset's moves; raises InvalidBody."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Moved:
    """What the request itself wrote, and the game as it stands now, bots included."""

    frames: Sequence[Frame]
    receipt: Receipt | None
    game: Game
    viewer: Viewer
    is_replayed: bool

    @property
    def version(self) -> int:
        """The version that the request's own events led to."""
        return self.frames[-1].event.seq


def make_moves(
    services: Services, player: str, game: str, read: ReadRequest, key: RequestKey | None
) -> Moved:
    """Make the player's moves, then those of the bots that are next.

    Raises the refusals of the contract, in its order: seat, shape, status,
    version, turn, batch, rules.
    """
    committed = commit(services, game, lambda now: _decide(services, now, player, read, key), key)
    present = play_bots(services, committed.game)
    return Moved(
        frames=committed.frames,
        receipt=committed.receipt,
        game=present,
        viewer=viewer_of(present, player),
        is_replayed=committed.is_replayed,
    )


def moved_lines(moved: Moved) -> list[str]:
    """The events of the request's own append, as its player may see them, in canonical lines."""
    return [event_line(frame, moved.viewer) for frame in moved.frames]


def _decide(
    services: Services, game: Game, player: str, read: ReadRequest, key: RequestKey | None
) -> Sequence[Frame]:
    held = game.seats_of(player)
    if not held:
        raise NotSeated
    request = read(game.ruleset)
    seat = _seat_to_move(game, held, request)
    if key is None and request.expected_version is None:
        raise PreconditionRequired
    if game.status is not Status.ACTIVE:
        raise GameNotActive(game_status=game.status.value)
    _refuse_other_version(services, game, request, player)
    if game.to_act != seat:
        raise NotYourTurn(_position(game), to_act=game.to_act)
    _refuse_early_reveal(game, request.moves)
    return _played(services, game, player, request.moves)


def _seat_to_move(game: Game, held: Sequence[Seat], request: MoveRequest) -> Seat:
    """The seat that is asked for, or the one whose turn it is of those that the player holds."""
    if request.seat is not None:
        if request.seat not in held:
            raise NotSeated
        return request.seat
    return game.to_act if game.to_act in held and game.to_act is not None else held[0]


def _played(services: Services, game: Game, player: str, moves: Sequence[Any]) -> Sequence[Frame]:
    pen = Pen(services, game)
    for index, move in enumerate(moves):
        try:
            pen.write(steps.play(pen.game, move, Actor(kind="player", id=player)))
        except RuleViolation as violation:
            raise IllegalMove(
                game.ruleset, violation, _refused_move(game, player, index, violation)
            ) from violation
    pen.follow()
    return pen.frames


def _refuse_other_version(
    services: Services, game: Game, request: MoveRequest, player: str
) -> None:
    expected = request.expected_version
    if expected is None or expected == game.version:
        return
    viewer = viewer_of(game, player)
    last = min(game.version, expected + MISSED_EVENTS_AT_MOST)
    missed = frames_of(services, game, expected + 1, last) if 0 < expected < last else ()
    events = [load_json(event_line(frame, viewer)) for frame in missed]
    raise VersionConflict(
        {**_position(game), "missed_events": events}, current_version=game.version
    )


def _refuse_early_reveal(game: Game, moves: Sequence[Any]) -> None:
    """Decided by the moves' form and the state before them: a batch that is undone is no peek."""
    if game.round is None:
        return
    for index, move in enumerate(moves[:-1]):
        if game.ruleset.reveals(game.round.state, move):
            raise RevealNotLast({"move_index": index}, move_index=index)


def _refused_move(
    game: Game, player: str, index: int, violation: RuleViolation
) -> Mapping[str, Any]:
    ruleset = game.ruleset
    return {
        **_position(game),
        "rule": violation.rule,
        "rule_url": f"/rulesets/{ruleset.name}/{ruleset.version}#{violation.rule}",
        "move_index": index,
        "legal_moves": legal_moves_json(game, viewer_of(game, player)),
        **violation.members,
    }


def _position(game: Game) -> JsonMap:
    return {"current_version": game.version, "to_act": game.to_act}
