"""Crazy Rummy in the conformance suite: every option value, each number of seats."""

import random
from collections.abc import Sequence
from itertools import chain
from typing import Any

from rules.conformance.cases import Case

from service.canonical import load_json
from service.cards import Card, card_text, cards_text, pack
from service.rules.crazy_rummy import RULESET
from service.rules.crazy_rummy.melds import SHAPES, additions
from service.rules.crazy_rummy.options import DiscardTaken, Options
from service.rules.crazy_rummy.state import State

SHORT = [shape.cards for shape in SHAPES if len(shape.cards) <= 5]
CARDS = cards_text(pack())


def other_moves(state: State) -> Sequence[Any]:
    """Every draw, discard, lay-off and exchange that there is, and many melds, good and bad."""
    chance = random.Random(len(state.stock) * 100 + len(state.discard))
    moves: list[Any] = [{"type": "draw", "from": source} for source in ("stock", "discard")]
    moves += [{"type": "discard", "card": card} for card in CARDS]
    for meld in (*state.melds[:3], None):
        number = 50 if meld is None else meld.id
        ends = [None] if meld is None else [None, *cards_text(additions(meld)), "9h"]
        for card in [*cards_text(state.hand), "2c", "Kd"]:
            for end in ends:
                move = {"type": "lay_off", "meld": number, "card": card}
                moves.append(move if end is None else {**move, "as": end})
        for place in meld.places if meld else ():
            for card in (card_text(place.stands_for), "4d"):
                wild = card_text(place.card)
                moves.append({"type": "take_wild", "meld": number, "wild": wild, "card": card})
    return moves + _melds(state, chance)


def _melds(state: State, chance: random.Random) -> list[Any]:
    hand = cards_text(state.hand)
    wilds = [card_text(card) for card in state.hand if state.is_wild(card)]
    moves = []
    for _ in range(12):
        cards = chance.sample(hand, min(len(hand), chance.randint(3, 5)))
        moves.append({"type": "meld", "cards": cards})
    for _ in range(40):
        represented = chance.choice(SHORT)
        texts = cards_text(represented)
        cards = [card if card in hand else chance.choice(wilds or hand) for card in texts]
        order = chance.sample(range(len(cards)), len(cards))
        mixed = {"cards": [cards[i] for i in order], "as": [texts[i] for i in order]}
        moves.append({"type": "meld", **mixed})
    return [move for move in moves if len(move["cards"]) >= 3]


def is_equivalent(state: State, move: Any, listed: set[str]) -> bool:
    """A move that is left to be understood, or a meld whose wild cards could serve alike."""
    house = RULESET.write_move(RULESET.settle(state, RULESET.read_move(move)))
    moves = [load_json(text) for text in listed]
    if house in moves:
        return True
    represented = house.get("as")
    return house["type"] == "meld" and any(
        other["type"] == "meld" and other["as"] == represented for other in moves
    )


def all_cards(state: State) -> Sequence[Card]:
    melded = [place.card for meld in state.melds for place in meld.places]
    return [*chain(*state.hands), *state.stock, *state.discard, *melded]


def some_moves() -> Sequence[Any]:
    discards = [{"type": "discard", "card": card} for card in ("2c", "9d", "Qh", "As")]
    melds = [
        {"type": "meld", "cards": ["7c", "7d", "7h"]},
        {"type": "meld", "cards": ["7c", "Ad", "Ah"], "as": ["7c", "7d", "7h"]},
    ]
    table = [
        {"type": "lay_off", "meld": 1, "card": "8h"},
        {"type": "take_wild", "meld": 1, "wild": "Ah", "card": "8h"},
    ]
    draws = [{"type": "draw", "from": "stock"}, {"type": "draw", "from": "discard"}]
    return [*draws, *discards, *melds, *table]


def may_be_accepted(view: Any, move: Any) -> bool:
    """Whether the move is listed, or is of a kind that can be accepted without being listed."""
    return move in view["legal_moves"] or move["type"] in ("meld", "lay_off")


def _case(seats: int, options: Options) -> Case:
    return Case(
        ruleset=RULESET,
        seats=seats,
        options=options,
        other_moves=other_moves,
        is_equivalent=is_equivalent,
        all_cards=all_cards,
        moves_it_could_try=other_moves,
        moves_anybody_could_try=some_moves,
        may_be_accepted=may_be_accepted,
    )


CASES = [
    *(_case(seats, Options()) for seats in RULESET.seats),
    _case(3, Options(discard_taken=DiscardTaken.FORBIDDEN, rounds=2)),
    _case(6, Options(discard_taken=DiscardTaken.FORBIDDEN)),
]
