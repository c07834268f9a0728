"""Looking at hands: what an admin may see of a running game, with whose approval, and what is told.

A look at a running game is written down before anything is read, its players
are told once the game has ended, and where the service wants two persons for
it, another admin has approved it before.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from service.canonical import Json, JsonMap
from service.cards import Card, Seat, cards_text
from service.log import steps
from service.log.events import SYSTEM
from service.log.game import Game
from service.log.projection import view_json
from service.log.steps import Frame
from service.log.viewer import Viewer
from service.play.admins import ADMIN_HIDDEN, Admin, line_of
from service.play.committing import commit
from service.play.games import frames_of, game_at
from service.play.ids import is_id
from service.play.pen import Pen
from service.play.refereeing import refuse_part
from service.play.refusals import (
    ApprovalByAnother,
    ApprovalRequired,
    ConflictOfInterest,
    EventNotFound,
    FieldError,
    GameNotActive,
    GameNotFound,
    GameRemoved,
    InvalidBody,
    LookNotFound,
)
from service.play.services import Services, timestamp
from service.play.watching import names_in
from service.rules.violation import RuleViolation
from service.store import looks as store
from service.store.looks import HiddenRead, Look
from service.store.reads import read_milestones

HIDDEN_READ = "hidden-read"
HIDDEN_READ_REQUEST = "hidden-read-request"
HIDDEN_READ_APPROVAL = "hidden-read-approval"
LOOKS_KEPT = timedelta(days=90)
"""How long requests stay in their list; the trail has them for ever."""

APPROVED_FOR = timedelta(hours=1)
"""How long a request waits for its approval, and how long an approval holds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HiddenRequest:
    """Whose hands to see, at which version, and why; None for all, and for the newest.

    `approval` is the request that another admin approved.
    """

    reason: str
    at: int | None = None
    seats: Sequence[int] | None = None
    dispute: str | None = None
    approval: str | None = None


@dataclass(frozen=True, slots=True)
class _Scope:
    """What is looked at: a game at a version, and these seats of it."""

    game: Game
    at: int
    seats: Sequence[Seat]


# Asking another admin first.


def ask_to_look(services: Services, admin: Admin, game: str, asked: HiddenRequest) -> Look:
    """Ask for another admin's approval of a hidden read; nothing is shown.

    Raises GameNotFound, ConflictOfInterest, EventNotFound and InvalidBody.
    """
    scope = _scope(services, admin, game, asked)
    look = Look(
        id=services.new_id(),
        game_id=game,
        admin_id=admin.id,
        admin_name=admin.name,
        version=scope.at,
        seats=[int(seat) for seat in scope.seats],
        reason=asked.reason,
        dispute_id=asked.dispute,
        asked_at=services.now(),
    )
    facts: JsonMap = {"request": look.id, **_told(look, look.reason, look.dispute_id)}
    line = line_of(services, admin.id, HIDDEN_READ_REQUEST, facts)
    store.add_look(services.database, look, line)
    return look


def approve_look(services: Services, admin: Admin, look: str) -> Look:
    """Approve of another admin's hidden read; doing it twice is no fault.

    Raises LookNotFound, ApprovalByAnother and ConflictOfInterest.
    """
    found = _find_look(services, look)
    refuse_part(services, admin, found.game_id)
    if admin.id == found.admin_id or admin.name == found.admin_name:
        raise ApprovalByAnother
    facts: JsonMap = {"request": look, **_told(found, found.reason, found.dispute_id)}
    line = line_of(services, admin.id, HIDDEN_READ_APPROVAL, facts)
    approved = store.approve(services.database, look, admin.id, services.now(), line)
    if approved is None:
        raise LookNotFound
    return approved


def looks_page(
    services: Services, admin: Admin, before: str | None, limit: int
) -> tuple[Sequence[Look], str | None]:
    """Requests, the newest first, and where the next page begins, if there is one.

    Those about games that the admin has a part in are left out: players learn
    of looks after the end.
    """
    found = store.list_looks(services.database, before, limit + 1)
    page = found[:limit]
    own = {game for game in {look.game_id for look in page} if _is_part(services, admin, game)}
    last = page[-1].id if len(found) > limit else None
    return [look for look in page if look.game_id not in own], last


def _is_part(services: Services, admin: Admin, game: str) -> bool:
    if not admin.players:
        return False
    try:
        refuse_part(services, admin, game)
    except ConflictOfInterest:
        return True
    except (GameNotFound, GameRemoved):
        return False
    return False


def _told(look: Look | HiddenRead, reason: str, dispute: str | None) -> JsonMap:
    """What the trail says of a look, be it asked for, approved of, or done."""
    return {
        "game": look.game_id,
        "version": look.version,
        "seats": list(look.seats),
        "reason": reason,
        "dispute": dispute,
    }


def _find_look(services: Services, look: str) -> Look:
    """A request that is not too old; raises LookNotFound."""
    found = store.find_look(services.database, look) if is_id(look) else None
    if found is None or services.now() - (found.approved_at or found.asked_at) > APPROVED_FOR:
        raise LookNotFound
    return found


def _refuse_unapproved(
    services: Services, admin: Admin, scope: _Scope, asked: HiddenRequest
) -> Look | None:
    """The approval of the look, where one is wanted or given; raises ApprovalRequired."""
    if asked.approval is None:
        if services.needs_two_persons:
            raise ApprovalRequired
        return None
    found = _find_look(services, asked.approval)
    fits = (
        found.approved_by is not None
        and found.admin_id == admin.id
        and (found.game_id, found.version) == (scope.game.id, scope.at)
        and set(scope.seats) <= set(found.seats)
        and (found.reason, found.dispute_id) == (asked.reason, asked.dispute)
    )
    if not fits:
        raise ApprovalRequired
    return found


# Looking.


def read_hidden(services: Services, admin: Admin, game: str, asked: HiddenRequest) -> JsonMap:
    """The table with the hands of these seats, and what each could know of it.

    Of a running game it is written down first, and the players are told once
    it has ended. Raises GameNotFound, ConflictOfInterest, EventNotFound,
    ApprovalRequired and StoreUnavailable, and shows nothing then.
    """
    scope = _scope(services, admin, game, asked)
    _note_read(services, admin, scope, asked)
    shown = game_at(services, scope.game, scope.at)
    known = followed(_round_frames(services, scope.game, shown))
    return _shown(services, shown, scope.game.version, scope.seats, known)


def _scope(services: Services, admin: Admin, game: str, asked: HiddenRequest) -> _Scope:
    present = refuse_part(services, admin, game)
    at = present.version if asked.at is None else asked.at
    if not 1 <= at <= present.version:
        raise EventNotFound(version=present.version)
    seats = list(present.seats) if asked.seats is None else [Seat(seat) for seat in asked.seats]
    if not set(seats) <= set(present.seats):
        raise InvalidBody([FieldError("/seats", "There is no such seat.")])
    return _Scope(present, at, seats)


def _note_read(services: Services, admin: Admin, scope: _Scope, asked: HiddenRequest) -> None:
    """Write the look down, if the game still runs; what can't be written is not shown."""
    if scope.game.status.is_over:
        return
    approval = _refuse_unapproved(services, admin, scope, asked)
    read = HiddenRead(
        id=services.new_id(),
        game_id=scope.game.id,
        admin_id=admin.id,
        version=scope.at,
        seats=[int(seat) for seat in scope.seats],
        at=services.now(),
    )
    facts: JsonMap = {"read": read.id, **_told(read, asked.reason, asked.dispute)}
    if approval is not None:
        facts = {**facts, "approval": approval.id, "approved_by": approval.approved_by}
    line = line_of(services, admin.id, HIDDEN_READ, facts)
    store.add_hidden_read(services.database, read, line)


def _shown(
    services: Services,
    game: Game,
    latest: int,
    seats: Sequence[Seat],
    known: Mapping[Seat, frozenset[Card]],
) -> JsonMap:
    """The table with the hands of these seats, and what each of them could know."""
    eyes = Viewer(role="admin", seat=None, sees=frozenset(seats))
    view = view_json(game, eyes, names_in(services, game), latest)
    could: list[Json] = [knowledge(game, seat, known) for seat in seats]
    return {**view, "server_time": timestamp(services.now()), "knowledge": could}


# Telling the players, once the game has ended.


def disclose_reads(services: Services, game: str) -> bool:
    """Tell the players of an ended game who looked at their hands; whether there was anything."""
    reads = store.undisclosed_reads(services.database, game)
    committed = commit(services, game, lambda now: _disclosed(services, now, reads))
    if committed.game.is_revealed:
        store.note_disclosed(services.database, [read.id for read in reads])
    return bool(committed.frames)


def _disclosed(services: Services, game: Game, reads: Sequence[HiddenRead]) -> Sequence[Frame]:
    if not game.is_revealed:
        return ()
    told = read_milestones(services.database, game.id, "hidden_read_disclosed")
    known = {event.data["read"] for event in told}
    pen = Pen(services, game)
    for read in reads:
        if read.id in known:
            continue
        facts: JsonMap = {"read": read.id, "version": read.version, "seats": list(read.seats)}
        pen.write(steps.disclose(pen.game, facts))
    return pen.frames


# What the players could know.


def followed(frames: Iterable[Frame]) -> Mapping[Seat, frozenset[Card]]:
    """Cards that everybody saw going into a hand and that are still there, by seat.

    `frames` are the events of a round, from its start. What a rewind folded
    back counts no more.
    """
    held: dict[Seat, frozenset[Card]] = {}
    at_version: dict[int, dict[Seat, frozenset[Card]]] = {}
    for frame in frames:
        data: Any = frame.event.data
        if frame.event.type == "rewound":
            held = at_version[data["to"]]
        elif frame.event.type == "round_started":
            held = {}
        elif frame.event.type == "move":
            held = _held_after(frame, held)
        at_version[frame.event.seq] = held
    return held


def _held_after(frame: Frame, held: Mapping[Seat, frozenset[Card]]) -> dict[Seat, frozenset[Card]]:
    before, after = frame.before, frame.after
    if before is None or before.round is None or after.round is None or before.to_act is None:
        return dict(held)
    ruleset, mover = after.ruleset, before.to_act
    laid = frozenset(ruleset.laid(after.round.state))
    left = frozenset(ruleset.laid(before.round.state)) - laid
    hand = frozenset(ruleset.view(after.round.state, mover).hand or ())
    still = {seat: cards - laid for seat, cards in held.items()}
    return {**still, mover: still.get(mover, frozenset()) | (left & hand)}


def knowledge(game: Game, seat: Seat, known: Mapping[Seat, frozenset[Card]]) -> JsonMap:
    """What the player of the seat could know: their hand, what lay open, and where the rest may be.

    `known` are cards that were seen going into a hand; `unseen` are those that
    the player had not seen: each is in the stock or in one of the other hands.
    """
    if game.round is None:
        nothing: JsonMap = {"hand": [], "open": [], "known": {}, "unseen": [], "unseen_in": {}}
        return {"seat": seat, **nothing}
    state, ruleset = game.round.state, game.ruleset
    view = ruleset.view(state, seat)
    hand: Sequence[Card] = view.hand or ()
    laid, pack = ruleset.laid(state), ruleset.pack(game.options)
    others = [other for other in game.seats if other != seat]
    seen = {other: [card for card in pack if card in known.get(other, ())] for other in others}
    not_unseen = {*hand, *laid}.union(*seen.values())
    hands = {str(other): view.counts[other - 1] - len(seen[other]) for other in others}
    return {
        "seat": seat,
        "hand": cards_text(hand),
        "open": cards_text(laid),
        "known": {str(other): cards_text(cards) for other, cards in seen.items() if cards},
        "unseen": cards_text([card for card in pack if card not in not_unseen]),
        "unseen_in": {"stock": len(ruleset.stock(state)), "hands": hands},
    }


def _round_frames(services: Services, present: Game, shown: Game) -> Sequence[Frame]:
    """The events of the round that is in play at that version, up to it."""
    if shown.round is None:
        return ()
    first = max(start.seq for start in shown.starts)
    return list(frames_of(services, present, first, shown.version))


# Trying moves.


def what_if(
    services: Services, admin: Admin, game: str, moves: Sequence[JsonMap], asked: HiddenRequest
) -> JsonMap:
    """Moves tried from a version, in memory: which are legal and by which rule not.

    Of a running game it is a hidden read of every hand, and it never goes past
    a move that shows a hidden card.
    """
    scope = _scope(services, admin, game, asked)
    is_over = scope.game.status.is_over
    if not is_over:
        if not asked.reason:
            raise InvalidBody([FieldError("/reason", "The game runs: say why you look.")])
        admin.require(ADMIN_HIDDEN)
        _note_read(services, admin, scope, asked)
    now = game_at(services, scope.game, scope.at)
    if now.to_act is None or now.round is None:
        raise GameNotActive(game_status=now.status.value)
    pen, tried = Pen(services, now), []
    for move in moves:
        outcome = _tried(pen, move, goes_on=is_over)
        tried.append({"move": move, **outcome})
        if not outcome["legal"] or outcome["reveals"]:
            break
    known = followed([*_round_frames(services, scope.game, now), *pen.frames])
    shown = dict(_shown(services, pen.game, scope.game.version, now.seats, known))
    could = shown.pop("knowledge")
    return {"moves": tried, "view": shown, "knowledge": could}


def _tried(pen: Pen, move: JsonMap, *, goes_on: bool) -> JsonMap:
    game = pen.game
    nothing: JsonMap = {"seat": game.to_act, "rule": None, "detail": None, "reveals": False}
    if game.round is None or game.to_act is None:
        return {**nothing, "legal": False, "detail": "The round is over."}
    try:
        asked = game.ruleset.read_move(move)
        settled = game.ruleset.settle(game.round.state, asked)
        game.ruleset.apply(game.round.state, settled)
    except RuleViolation as violation:
        return {**nothing, "legal": False, "rule": violation.rule, "detail": str(violation)}
    except (ValueError, LookupError, TypeError) as error:
        return {**nothing, "legal": False, "detail": f"It is no move: {error}"}
    if not goes_on and game.ruleset.reveals(game.round.state, settled):
        return {**nothing, "legal": True, "reveals": True}
    pen.write(steps.play(game, settled, SYSTEM))
    return {**nothing, "legal": True}
