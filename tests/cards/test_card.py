import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.cards import (
    Card,
    Rank,
    Seat,
    Suit,
    card_text,
    clockwise,
    is_joker,
    make_card,
    next_seat,
    pack,
    parse_card,
    parse_cards,
    rank_of,
    suit_of,
)


def test_the_base_pack_is_by_suit_then_rank_then_the_jokers() -> None:
    texts = [card_text(card) for card in pack(2)]
    assert texts[:13] == [rank + "c" for rank in "23456789TJQKA"]
    assert texts[13] == "2d"
    assert texts[51:] == ["As", "X1", "X2"]


@given(st.integers(0, 59))
def test_every_card_is_read_back_from_its_text(number: int) -> None:
    card = Card(number)
    assert parse_card(card_text(card)) == card


@pytest.mark.parametrize("text", ["", "4", "4H", "h4", "1c", "10c", "X0", "X9", "X", "X12", "4h "])
def test_what_is_no_card_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is no card"):
        parse_card(text)


def test_a_card_has_the_rank_and_suit_that_it_is_made_of() -> None:
    card = make_card(Rank.TEN, Suit.DIAMONDS)
    assert (card_text(card), rank_of(card), suit_of(card)) == ("Td", Rank.TEN, Suit.DIAMONDS)
    assert (Rank.TEN.text, Suit.DIAMONDS.text) == ("T", "d")


def test_a_joker_has_neither_rank_nor_suit() -> None:
    (joker,) = parse_cards(["X1"])
    assert is_joker(joker)
    with pytest.raises(IndexError):
        rank_of(joker)
    with pytest.raises(IndexError):
        suit_of(joker)


def test_seats_go_round() -> None:
    assert next_seat(Seat(3), 3) == 1
    assert list(clockwise(Seat(2), 4)) == [3, 4, 1, 2]
