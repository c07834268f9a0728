"""Deciding and writing: on what is remembered, proven by the append, or on what is read.

The common case is one round trip: a decision taken on the remembered game is
proven right by the append, which succeeds only at that very version. A refusal
has no such proof, so it is never given on what is merely remembered: the game
is read first, and so is the idempotency key, and then it is decided again.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from service.log.game import Game
from service.log.steps import Frame
from service.play.games import catch_up, frames_of
from service.play.idempotency import refuse_other_body
from service.play.refusals import Busy, Refusal
from service.play.services import Services
from service.proof.receipts import Receipt
from service.store.appends import KeyBound, RequestKey, append
from service.store.reads import read_receipt

ATTEMPTS = 8
"""How often a decision is taken anew because others moved the game meanwhile."""

Decide: TypeAlias = Callable[[Game], Sequence[Frame]]
"""What to write at a version of the game, nothing if there is nothing to do; raises Refusal."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Committed:
    """What a request wrote, now or when it was first made, and the game after it.

    `receipt` is for the last of the frames; where there was nothing to write,
    for the game as it stood. None for what was written before receipts were.
    """

    frames: Sequence[Frame]
    game: Game
    receipt: Receipt | None
    is_replayed: bool = False


def commit(
    services: Services, game: str, decide: Decide, key: RequestKey | None = None
) -> Committed:
    """Write what `decide` decides, once for each key; raises its Refusal, or Busy."""
    remembered = services.games.get(game)
    if remembered is not None:
        try:
            committed = _attempt(services, remembered, decide, key)
        except (Refusal, KeyBound):
            committed = None
        if committed is not None and committed.frames:
            return committed
    for _ in range(ATTEMPTS):
        current, binding = catch_up(services, game, key)
        if binding is not None and key is not None:
            refuse_other_body(key, binding.fingerprint)
            frames = tuple(frames_of(services, current, binding.first_seq, binding.last_seq))
            receipt = read_receipt(services.database, game, binding.last_seq)
            return Committed(frames=frames, game=current, receipt=receipt, is_replayed=True)
        try:
            committed = _attempt(services, current, decide, key)
        except KeyBound:
            continue
        if committed is not None:
            return committed
    raise Busy


def _attempt(
    services: Services, game: Game, decide: Decide, key: RequestKey | None
) -> Committed | None:
    """Decide at this version and write; None if the game has moved on, which forgets it."""
    frames = decide(game)
    if not frames:
        standing = read_receipt(services.database, game.id, game.version)
        return Committed(frames=(), game=game, receipt=standing)
    receipt = append(services.database, frames, key)
    if receipt is None:
        services.games.drop(game.id)
        return None
    after = frames[-1].after
    services.games.put(game.id, after)
    services.feed.moved(game.id, frames)
    return Committed(frames=frames, game=after, receipt=receipt)
