"""Random words from a key, and the shuffle that they drive."""

import hmac
from collections.abc import Iterator, Sequence
from itertools import chain, count
from struct import unpack

from service.cards import Card

WORD_RANGE = 2**32


def words(key: bytes) -> Iterator[int]:
    """Big-endian 32-bit words without end: HMAC-SHA256(key, u32be(0)), (1) …, eight a block."""
    blocks = (hmac.digest(key, index.to_bytes(4, "big"), "sha256") for index in count())
    return chain.from_iterable(unpack(">8I", block) for block in blocks)


def below(bound: int, source: Iterator[int]) -> int:
    """A number from 0 to bound − 1, each as likely: words past a multiple of it are thrown away."""
    limit = WORD_RANGE - WORD_RANGE % bound
    return next(word for word in source if word < limit) % bound


def shuffle(cards: Sequence[Card], key: bytes) -> tuple[Card, ...]:
    """The cards in the order that the key gives them (Fisher–Yates from the end).

    Element 0 is the top card.
    """
    shuffled = list(cards)
    source = words(key)
    for last in range(len(shuffled) - 1, 0, -1):
        chosen = below(last + 1, source)
        shuffled[last], shuffled[chosen] = shuffled[chosen], shuffled[last]
    return tuple(shuffled)
