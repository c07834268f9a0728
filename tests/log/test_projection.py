import json
import random
from typing import Any

import pytest
from games import CREATOR, add, opened, turn, whole_game

from service.cards import Seat, cards_text
from service.log.game import Game, Occupant
from service.log.projection import event_line, view_json
from service.log.steps import Frame, take_seat
from service.log.viewer import SPECTATOR, Viewer, everybody, only, viewer_of

NAMES = {"player1": "Ilze", "player2": "Armen", "player3": "Jānis"}


def view(game: Game, viewer: Viewer) -> Any:
    return json.loads(json.dumps(view_json(game, viewer, NAMES, game.version)))


def private(frame: Frame, viewer: Viewer) -> Any:
    return json.loads(event_line(frame, viewer)).get("private")


def test_a_player_sees_their_own_hand_and_the_others_counts() -> None:
    game = opened()[-1].after
    seats = view(game, viewer_of(game, "player2"))["seats"]
    assert [("hand" in seat, seat["cards"]) for seat in seats] == [
        (False, 7),
        (True, 7),
        (False, 7),
    ]
    assert seats[1]["hand"] == cards_text(game.round.state.hands[1])  # type: ignore[union-attr]
    assert seats[1]["player"] == {"id": "player2", "kind": "human", "name": "Armen"}


def test_a_spectator_sees_no_hand_and_no_moves() -> None:
    game = opened()[-1].after
    for viewer in (viewer_of(game, None), viewer_of(game, "somebody else"), SPECTATOR):
        shown = view(game, viewer)
        assert not any("hand" in seat for seat in shown["seats"])
        assert shown["legal_moves"] == []
        assert shown["viewer"] == {"role": "spectator", "seat": None}


def test_only_the_seat_that_is_to_act_is_told_its_moves() -> None:
    game = opened()[-1].after
    for number in (1, 2, 3):
        shown = view(game, viewer_of(game, f"player{number}"))
        assert bool(shown["legal_moves"]) == (game.to_act == number)


def test_every_hand_is_shown_once_the_game_has_ended() -> None:
    game = whole_game()[-1].after
    shown = view(game, SPECTATOR)
    assert all("hand" in seat for seat in shown["seats"])
    assert shown["phase"] == "over"
    assert shown["result"]["winners"] == list(game.result.winners)  # type: ignore[union-attr]


def test_an_open_game_has_seats_and_no_table() -> None:
    game = opened()[1].after
    shown = view(game, SPECTATOR)
    assert shown["status"] == "open"
    assert [shown[key] for key in ("round", "dealer", "to_act", "phase", "table")] == [None] * 5
    assert [seat["player"] is None for seat in shown["seats"]] == [False, True, True]


def test_a_bot_of_the_service_has_a_level_and_no_id() -> None:
    frames = opened()[:1]
    add(frames, take_seat(frames[-1].after, Seat(1), Occupant(kind="bot", level="steady"), CREATOR))
    (first, *_) = view(frames[-1].after, SPECTATOR)["seats"]
    assert first["player"] == {"kind": "bot", "name": "Bot (steady)", "level": "steady"}
    assert private(frames[-1], everybody(frames[-1].after, SPECTATOR)) is None


def test_each_seat_is_told_its_own_hand_at_the_deal() -> None:
    frame = opened()[-1]
    game = frame.after
    for number in (1, 2, 3):
        hand = cards_text(game.round.state.hands[number - 1])  # type: ignore[union-attr]
        assert private(frame, viewer_of(game, f"player{number}")) == {str(number): {"hand": hand}}
    assert private(frame, SPECTATOR) is None
    assert set(private(frame, everybody(game, SPECTATOR))) == {"1", "2", "3"}


def test_a_drawn_card_is_told_to_who_drew_it_and_to_nobody_else() -> None:
    drew = 0
    for frame in whole_game(seed=4, jokers=8):
        told = {seat: private(frame, only(SPECTATOR, Seat(seat))) for seat in (1, 2, 3)}
        if frame.event.type != "move":
            continue
        outcome: Any = frame.event.data["outcome"]
        for seat in (1, 2, 3):
            if seat in outcome.get("drew", []):
                (card,) = told[seat][str(seat)]["drew"]
                assert card in cards_text(frame.after.round.state.hands[seat - 1])  # type: ignore[union-attr]
                drew += 1
            else:
                assert told[seat] is None
    assert drew > 10


def test_who_holds_several_seats_looks_from_the_one_that_is_to_act() -> None:
    game = opened()[-1].after
    both = Viewer(role="seat", seat=game.to_act, sees=frozenset(game.seats))
    assert view(game, both)["legal_moves"]
    assert both.tag != only(both, Seat(1)).tag


@pytest.mark.parametrize("number", [1, 2, 3])
def test_no_card_of_another_hand_nor_of_the_stock_is_in_what_a_seat_is_sent(number: int) -> None:
    chance = random.Random(number)
    frames = opened()
    while frames[-1].after.to_act is not None and len(frames) < 60:
        game = frames[-1].after
        state = game.round.state  # type: ignore[union-attr]
        viewer = viewer_of(game, f"player{number}")
        text = json.dumps(view_json(game, viewer, NAMES, game.version))
        hidden = [
            *state.stock,
            *(c for s, hand in enumerate(state.hands, 1) if s != number for c in hand),
        ]
        assert not [card for card in cards_text(hidden) if f'"{card}"' in text]
        frames += turn(game, chance)
