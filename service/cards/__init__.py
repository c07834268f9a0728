"""Cards, packs and seats: the words that every ruleset speaks."""

from service.cards.card import (
    JOKERS_AT_MOST,
    SUITED_CARDS,
    Card,
    Rank,
    Suit,
    card_text,
    cards_text,
    is_joker,
    make_card,
    parse_card,
    parse_cards,
    rank_of,
    suit_of,
)
from service.cards.pack import pack
from service.cards.seat import Seat, clockwise, next_seat

__all__ = [
    "JOKERS_AT_MOST",
    "SUITED_CARDS",
    "Card",
    "Rank",
    "Seat",
    "Suit",
    "card_text",
    "cards_text",
    "clockwise",
    "is_joker",
    "make_card",
    "next_seat",
    "pack",
    "parse_card",
    "parse_cards",
    "rank_of",
    "suit_of",
]
