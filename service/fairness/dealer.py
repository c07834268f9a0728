"""The dealer: who knows the key of a game, and gives out decks and seals."""

import hmac
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from service.canonical import JsonMap, canonical_bytes
from service.cards import Card
from service.fairness.deck import shuffle
from service.fairness.keys import game_key, sub_key


class Dealer(Protocol):
    """What the log needs of the hidden order of a game's cards."""

    def cut(self, pack: Sequence[Card]) -> tuple[Card, ...]:
        """The pack from which the seats are shown a card each."""

    def deck(self, pack: Sequence[Card], round_number: int, deal: int) -> tuple[Card, ...]:
        """The deck of a round, top card first; `deal` rises when a ruling deals again."""

    def seal(self, state: JsonMap) -> str:
        """The keyed digest of a state (`state_mac`): silent until the secret is revealed."""


@dataclass(frozen=True, slots=True)
class SealedDealer:
    """The dealer of algorithm `fairdeal/1`, bound to one game."""

    _key: bytes
    _state_key: bytes

    @classmethod
    def of(cls, secret: bytes, game: str, contributions: Sequence[str]) -> "SealedDealer":
        """The dealer of the game with that secret; contributions by seat, seat 1 first."""
        key = game_key(secret, game, contributions)
        return cls(key, sub_key(key, "state"))

    def cut(self, pack: Sequence[Card]) -> tuple[Card, ...]:
        """The pack from which the seats are shown a card each."""
        return shuffle(pack, sub_key(self._key, "cut"))

    def deck(self, pack: Sequence[Card], round_number: int, deal: int) -> tuple[Card, ...]:
        """The deck of a round, top card first."""
        return shuffle(pack, sub_key(self._key, f"round/{round_number}/{deal}"))

    def seal(self, state: JsonMap) -> str:
        """Hex HMAC-SHA256 of the state's canonical bytes, keyed for states."""
        return hmac.digest(self._state_key, canonical_bytes(state), "sha256").hex()

    def __repr__(self) -> str:
        """Nothing of the key: a dealer may stand in a traceback."""
        return "SealedDealer(…)"
