"""The base pack: the one order that every shuffle starts from."""

from service.cards.card import SUITED_CARDS, Card


def pack(jokers: int = 0) -> tuple[Card, ...]:
    """52 cards, clubs to spades, each from two to ace, then that many jokers."""
    return tuple(Card(number) for number in range(SUITED_CARDS + jokers))
