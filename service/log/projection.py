"""The one projection: what a viewer is shown of a game and of its events.

Every byte about a game that leaves the service is made here. Public facts
come from the log and from the ruleset's view for a bystander; what a viewer
is entitled to is added to them, seat by seat.
"""

from collections.abc import Mapping

from service.canonical import JsonMap
from service.cards import Seat, cards_text
from service.fairness import ALGORITHM
from service.log.events import with_private
from service.log.game import Game
from service.log.steps import Frame
from service.log.viewer import Viewer, everybody
from service.rules.ruleset import View


def view_json(game: Game, viewer: Viewer, names: Mapping[str, str], latest: int) -> JsonMap:
    """The game at one version as the viewer may see it (contract §4), without the clock.

    `names` are of the players by id; `latest` is the newest version there is.
    """
    eyes = everybody(game, viewer) if game.status.is_over else viewer
    public, turn = _view(game, None), game.to_act
    views = {seat: view for seat in eyes.sees if (view := _view(game, seat)) is not None}
    return {
        "game": game.id,
        "ruleset": game.ruleset.name,
        "ruleset_version": game.ruleset.version,
        "status": game.status.value,
        "sandbox": game.setup.sandbox is not None,
        "visibility": game.setup.visibility,
        "spectators": game.setup.spectators,
        "spectator_delay": game.setup.spectator_delay,
        "hold_on_dispute": game.setup.hold_on_dispute,
        "rematch_of": game.setup.rematch.of if game.setup.rematch else None,
        "options": game.ruleset.write_options(game.options),
        "version": latest,
        "at": game.version,
        "head": game.head,
        "viewer": _viewer_json(viewer),
        "round": game.round.number if game.round else None,
        "rounds": game.rounds,
        "dealer": game.round.dealer if game.round else None,
        "to_act": turn,
        "phase": public.phase if public else None,
        "turn_seconds": game.setup.turn_seconds,
        "deadline_at": None,
        "seats": [_seat_json(game, seat, public, views.get(seat), names) for seat in game.seats],
        "table": public.table if public else None,
        "legal_moves": _moves_json(game, views.get(turn) if turn else None),
        "fairness": _fairness_json(game),
        "result": game.result.to_json() if game.result else None,
    }


def legal_moves_json(game: Game, viewer: Viewer) -> list[JsonMap]:
    """The moves of the seat that is to act, ready to post, for whoever sees its hand."""
    seat = game.to_act
    return _moves_json(game, _view(game, seat) if seat in viewer.sees else None)


def event_line(frame: Frame, viewer: Viewer) -> str:
    """The event's canonical line, and in it what the viewer's seats alone learned by it."""
    private = {
        str(seat): facts
        for seat in sorted(viewer.sees)
        if (facts := _private(frame, seat)) is not None
    }
    return with_private(frame.event, private)


def _private(frame: Frame, seat: Seat) -> JsonMap | None:
    """What the seat alone learned by the event: its hand at the deal, a card it drew."""
    before, after = frame.before, frame.after
    if after.round is None or before is None:
        return None
    if frame.event.type == "round_started":
        hand = after.ruleset.view(after.round.state, seat).hand
        return {"hand": cards_text(hand or ())}
    if frame.event.type == "move" and before.round is not None:
        return after.ruleset.learned(before.round.state, after.round.state, seat)
    return None


def _view(game: Game, seat: Seat | None) -> View[object] | None:
    """What the seat, or a bystander, can see of the round in play, if there is one."""
    return game.ruleset.view(game.round.state, seat) if game.round else None


def _moves_json(game: Game, view: View[object] | None) -> list[JsonMap]:
    return [game.ruleset.write_move(move) for move in view.legal_moves] if view else []


def _seat_json(
    game: Game,
    seat: Seat,
    public: View[object] | None,
    own: View[object] | None,
    names: Mapping[str, str],
) -> JsonMap:
    shown: JsonMap = {
        "seat": seat,
        "player": _player_json(game, seat, names),
        "cards": public.counts[seat - 1] if public else 0,
        "score": game.scores[seat - 1],
    }
    return {**shown, "hand": cards_text(own.hand or ())} if own else shown


def _player_json(game: Game, seat: Seat, names: Mapping[str, str]) -> JsonMap | None:
    occupant = game.occupant(seat)
    if occupant is None:
        return None
    if occupant.player is None:
        return {"kind": "bot", "name": f"Bot ({occupant.level})", "level": occupant.level}
    name = names.get(occupant.player, "")
    return {"id": occupant.player, "kind": occupant.kind, "name": name}


def _viewer_json(viewer: Viewer) -> JsonMap:
    return {"role": viewer.role, "seat": viewer.seat}


def _fairness_json(game: Game) -> JsonMap:
    shown: JsonMap = {"algorithm": ALGORITHM, "commitment": game.setup.commitment}
    return shown if game.setup.sandbox is None else {**shown, "sandbox_secret": game.setup.sandbox}
