import json
from collections import Counter
from itertools import islice
from typing import Any

import pytest
from conftest import VECTORS

from service.cards import cards_text, pack
from service.fairness import SealedDealer, commitment, game_key, shuffle, sub_key
from service.fairness.deck import below, words

WORKED = json.loads((VECTORS / "fairness.json").read_text())
SECRET = bytes.fromhex(WORKED["server_secret"])


@pytest.fixture
def key() -> bytes:
    return game_key(SECRET, WORKED["game"], WORKED["contributions"])


def test_the_commitment_is_the_worked_one() -> None:
    assert commitment(SECRET) == WORKED["commitment"]


def test_the_game_key_is_the_worked_one(key: bytes) -> None:
    assert key.hex() == WORKED["game_key"]


@pytest.mark.parametrize("label", WORKED["subkeys"])
def test_the_sub_keys_and_their_words_are_the_worked_ones(key: bytes, label: str) -> None:
    derived = sub_key(key, label)
    assert derived.hex() == WORKED["subkeys"][label]
    assert list(islice(words(derived), 10)) == WORKED["first_words"][label]


@pytest.mark.parametrize(
    ("name", "jokers", "label"),
    [
        ("52, cut", 0, "cut"),
        ("52, round/1/0", 0, "round/1/0"),
        ("52+2 jokers, round/1/0", 2, "round/1/0"),
        ("52+6 jokers, round/2/0", 6, "round/2/0"),
    ],
)
def test_the_decks_are_the_worked_ones(key: bytes, name: str, jokers: int, label: str) -> None:
    deck = shuffle(pack(jokers), sub_key(key, label))
    assert cards_text(deck) == WORKED["decks"][name]


def test_every_worked_deck_is_tested() -> None:
    assert len(WORKED["decks"]) == 4


def test_the_dealer_deals_what_the_keys_say(key: bytes) -> None:
    dealer = SealedDealer.of(SECRET, WORKED["game"], WORKED["contributions"])
    assert cards_text(dealer.cut(pack())) == WORKED["decks"]["52, cut"]
    assert cards_text(dealer.deck(pack(2), 1, 0)) == WORKED["decks"]["52+2 jokers, round/1/0"]
    assert dealer.deck(pack(), 1, 1) == shuffle(pack(), sub_key(key, "round/1/1"))
    assert len(dealer.seal({"a": 1})) == 64
    assert dealer.seal({"a": 1}) != dealer.seal({"a": 2})


def test_a_dealer_tells_nothing_of_its_key(key: bytes) -> None:
    dealer = SealedDealer.of(SECRET, WORKED["game"], WORKED["contributions"])
    assert repr(dealer) == "SealedDealer(…)"
    assert key.hex() not in str(dealer)


def test_words_past_the_last_multiple_are_thrown_away() -> None:
    limit = 2**32 - 2**32 % 52
    assert below(52, iter([limit, 2**32 - 1, limit - 1])) == (limit - 1) % 52
    assert below(2**31, iter([2**32 - 1])) == 2**31 - 1


def test_the_first_card_is_each_card_equally_often() -> None:
    decks = [shuffle(range(6), n.to_bytes(32, "big")) for n in range(6_000)]  # type: ignore[arg-type]
    counts: Counter[Any] = Counter(deck[0] for deck in decks)
    chi_square = sum((count - 1_000) ** 2 / 1_000 for count in counts.values())
    assert len(counts) == 6
    assert chi_square < 20.5  # five degrees of freedom, p = 0.001; the decks are fixed
