"""Proofs for whoever asks: what the deal was made of, the whole log, what binds it from outside."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from threading import BoundedSemaphore
from typing import Any

import structlog

from service.canonical import Json, JsonMap
from service.cards import cards_text, pack
from service.fairness import ALGORITHM, Dealer, SealedDealer
from service.log.events import by_seat
from service.log.game import Game, Secret
from service.log.projection import view_json
from service.log.replay import ReplayDiverged, replay
from service.log.steps import Frame
from service.log.viewer import SPECTATOR, everybody
from service.play.games import current_game
from service.play.refusals import CheckpointNotFound, NotReplayable, VerifierBusy
from service.play.services import Services
from service.play.watching import Page, frame_text, game_of_head
from service.proof.checkpoints import Consistency, Inclusion, is_ours, note_key
from service.proof.export import footer_line, header_line
from service.proof.outside import Evidence
from service.proof.reading import read_export
from service.proof.receipts import Receipt
from service.proof.verdicts import Failed, Report
from service.proof.verify import verify
from service.store.reads import read_lines, read_milestones, read_receipt
from service.store.tree import (
    BrokenTree,
    find_checkpoint,
    find_consistency,
    find_inclusion,
    latest_checkpoints,
)

LINES_AT_ONCE = 200
LATEST_LOOKED_AT = 20
REPLAY_CHARS_AT_MOST = 12_000_000
"""A game of some 5,000 events."""

VERIFYING = BoundedSemaphore(1)
"""One log at a time in a process: the others' moves want their turn."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Export:
    """A game's log up to one of its heads, to be sent line by line.

    `is_fixed` says that it will always be the same, its footer too: a
    checkpoint holds the head.
    """

    game: Game
    lines: Iterator[str]
    is_fixed: bool


def fairness_of(services: Services, player: str | None, game: str) -> JsonMap:
    """What the deal is made of; once the game ended, the secret and every deck it gave."""
    present = current_game(services, game, player)
    contributions = [seat.contribution if seat else "" for seat in present.occupants]
    shown: JsonMap = {
        "game": present.id,
        "algorithm": ALGORITHM,
        "commitment": present.setup.commitment,
        "sandbox": present.setup.sandbox is not None,
        "contributions": by_seat(contributions),
        "protected_seats": [seat for seat, given in enumerate(contributions, 1) if given],
        "server_secret": None,
        "cut": None,
        "decks": [],
    }
    return {**shown, **_revealed(services, present)} if present.is_revealed else shown


def _revealed(services: Services, game: Game) -> JsonMap:
    secret: JsonMap = {"server_secret": game.setup.secret.value.hex()}
    if game.dealer is None:
        return secret
    cut = cards_text(game.dealer.cut(pack()))
    return {**secret, "cut": cut, "decks": _decks(services, game, game.dealer)}


def _decks(services: Services, game: Game, dealer: Dealer) -> list[Json]:
    """Every deck that was dealt, those of rounds that a ruling had dealt again too."""
    cards = game.ruleset.pack(game.options)
    dealt = read_milestones(services.database, game.id, "round_started")
    places: list[Any] = [event.data for event in dealt]
    return [
        {
            "round": place["round"],
            "deal": place["deal"],
            "cards": cards_text(dealer.deck(cards, place["round"], place["deal"])),
        }
        for place in places
    ]


def export(services: Services, player: str | None, game: str, head: str | None = None) -> Export:
    """The log up to its newest event, or up to the event of that hash; raises HeadNotFound.

    What is exported is public: the lines as they are stored, the same for everybody.
    """
    if head is None:
        upto = current_game(services, game, player)
    else:
        upto = game_of_head(services, player, game, head)
    return export_of(services, upto)


def export_of(services: Services, upto: Game) -> Export:
    """The log of the game up to that version."""
    receipt = read_receipt(services.database, upto.id, upto.version)
    inclusion = _inclusion(services, upto.id, upto.version)
    lines = _lines(services, upto, receipt, inclusion)
    return Export(game=upto, lines=lines, is_fixed=inclusion is not None)


def _lines(
    services: Services, game: Game, receipt: Receipt | None, inclusion: Inclusion | None
) -> Iterator[str]:
    yield header_line(game.id, game.ruleset.name, game.ruleset.version)
    after = 0
    while after < game.version:
        lines = read_lines(services.database, game.id, after, game.version, LINES_AT_ONCE)
        if not lines:
            message = f"game {game.id} lacks events after {after}"
            raise LookupError(message)
        after += len(lines)
        yield "".join(f"{line}\n" for line in lines)
    yield footer_line(game.version, receipt, inclusion)


def _inclusion(services: Services, game: str, seq: int) -> Inclusion | None:
    """The proof, if there is one; a tree that was tampered with proves nothing."""
    try:
        return find_inclusion(services.database, game, seq)
    except BrokenTree:
        structlog.get_logger().error("tree_broken", game=game)
        return None


def keys_json(services: Services) -> JsonMap:
    """The public keys, the newest first, as a verifier takes them."""
    keys = services.database.keyring.public_keys()
    listed: Sequence[Json] = [
        {**key.to_json(), "note_key": note_key(services.origin, key)} for key in keys
    ]
    return {"origin": services.origin, "keys": listed}


def checkpoint_note(services: Services, size: int | None) -> str:
    """The signed checkpoint of that size, or the newest; raises CheckpointNotFound."""
    if size is None:
        notes = latest_checkpoints(services.database, LATEST_LOOKED_AT)
    else:
        notes = find_checkpoint(services.database, size)
    keys = services.database.keyring.public_keys()
    for note in notes:
        if is_ours(note, services.origin, keys):
            return note
    raise CheckpointNotFound


def consistency(services: Services, old: int, new: int) -> Consistency:
    """Why the larger checkpoint's tree grew from the smaller one's; raises CheckpointNotFound."""
    for size in (old, new):
        checkpoint_note(services, size)
    if old > new:
        raise CheckpointNotFound
    try:
        return find_consistency(services.database, old, new)
    except BrokenTree as error:
        raise CheckpointNotFound from error


def verify_upload(services: Services, text: str) -> Report:
    """The verifier's report on an export, by this service's own keys; raises VerifierBusy."""
    with _one_at_a_time():
        return verify(text, Evidence(keys=services.database.keyring.public_keys()))


def replay_upload(text: str) -> Page:
    """Every frame of an exported game that ended, with all hands; nothing is looked up or kept.

    Raises VerifierBusy, and NotReplayable for what is no export, does not
    follow from itself, or is of a game that goes on.
    """
    with _one_at_a_time():
        try:
            export = read_export(text)
            told = (e.data["server_secret"] for e in export.events if e.type == "secret_revealed")
            secret = bytes.fromhex(str(next(told, "")))
            if not secret:
                raise NotReplayable(reason="its secret is not revealed: the game goes on")
            frames = list(replay(export.events, Secret(secret, SealedDealer.of)))
        except (Failed, ReplayDiverged, ValueError, LookupError, TypeError) as fault:
            raise NotReplayable(reason=str(fault)) from fault
    last, items, length = frames[-1].after, [], 0
    for frame in frames:
        items.append(_open_frame(frame, last.version))
        length += len(items[-1])
        if length > REPLAY_CHARS_AT_MOST:
            raise NotReplayable(reason="it is too long to be shown at once")
    return Page(
        items=items,
        next_after=last.version,
        version=last.version,
        abandoned=last.abandoned,
    )


def _open_frame(frame: Frame, version: int) -> str:
    eyes = everybody(frame.after, SPECTATOR)
    return frame_text(frame, eyes, view_json(frame.after, eyes, {}, version))


@contextmanager
def _one_at_a_time() -> Iterator[None]:
    if not VERIFYING.acquire(blocking=False):
        raise VerifierBusy
    try:
        yield
    finally:
        VERIFYING.release()
