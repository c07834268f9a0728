"""Understanding a move: what its cards stand for, where the player left it out (C11)."""

from dataclasses import replace

from service.cards import Card, card_text, cards_text, rank_of
from service.rules.crazy_rummy.melds import Meld, Place, additions, in_order, readings
from service.rules.crazy_rummy.moves import LayDown, LayOff, Move
from service.rules.crazy_rummy.state import Phase, State
from service.rules.violation import RuleViolation


def settle(state: State, move: Move) -> Move:
    """The move in house form: declared, and a meld's cards in the order of what they stand for.

    Raises RuleViolation, with all `readings` where more than one is possible.
    """
    match move:
        case LayDown():
            refuse_unusable(state, move.cards)
            return _in_order(move, _reading(state, move))
        case LayOff() if move.stands_for is None:
            refuse_unusable(state, (move.card,))
            return replace(move, stands_for=_end_for(state, move))
        case _:
            return move


def refuse_unusable(state: State, cards: tuple[Card, ...]) -> None:
    """Refuse cards before the draw, cards that are not held, and a card used twice."""
    if state.phase is not Phase.PLAY:
        raise RuleViolation("C8", "Draw a card first.")
    if len(set(cards)) < len(cards):
        raise RuleViolation("C1", "A card can't be used twice.")
    for card in cards:
        if card not in state.hand:
            raise RuleViolation("C1", "You don't hold {card}.", card=card_text(card))


def meld_on_table(state: State, number: int) -> Meld:
    """The meld with that id; raises RuleViolation where there is none."""
    for meld in state.melds:
        if meld.id == number:
            return meld
    raise RuleViolation("C12", "There is no meld {meld} on the table.", meld=number)


def _in_order(move: LayDown, stands_for: tuple[Card, ...]) -> LayDown:
    places = in_order([Place(*pair) for pair in zip(move.cards, stands_for, strict=True)])
    return LayDown(
        tuple(place.card for place in places), tuple(place.stands_for for place in places)
    )


def _reading(state: State, move: LayDown) -> tuple[Card, ...]:
    """What the player says the cards stand for, or the one way to understand them."""
    if move.stands_for is not None:
        if len(move.stands_for) != len(move.cards):
            raise RuleViolation("C11", "Say for each card what it stands for, in the same order.")
        return move.stands_for
    possible = readings(move.cards, state.wild)
    if len(possible) > 1:
        raise RuleViolation(
            "C11",
            "These cards can be read in more than one way: say what each stands for.",
            members={"readings": [cards_text(reading) for reading in possible]},
        )
    if not possible:
        raise no_meld(state, move.cards)
    return possible[0]


def no_meld(state: State, cards: tuple[Card, ...]) -> RuleViolation:
    """The refusal of cards that are no meld: of a set that isn't one, or of a run."""
    ranks = {rank_of(card) for card in cards if not state.is_wild(card)}
    if len(ranks) == 1:
        return RuleViolation(
            "C6", "A set has three or four cards of one rank, each of another suit."
        )
    return RuleViolation(
        "C7", "These cards are no set and no run: a run is three or more of one suit in sequence."
    )


def _end_for(state: State, move: LayOff) -> Card:
    """What a laid-off card stands for: itself if it fits so, else the one place that it fits."""
    fitting = additions(meld_on_table(state, move.meld))
    if move.card in fitting or not state.is_wild(move.card):
        return move.card
    if len(fitting) > 1:
        raise RuleViolation(
            "C11",
            "The wild card fits in more than one place: say what it stands for.",
            members={"readings": cards_text(fitting)},
        )
    return fitting[0] if fitting else move.card
