"""Positions of Crazy Rummy written down as text."""

from typing import Any

from service.cards import Seat, cards_text, parse_card, parse_cards
from service.rules.crazy_rummy import RULESET
from service.rules.crazy_rummy.melds import Meld, Place, kind_of, rank_for_round
from service.rules.crazy_rummy.options import DiscardTaken, Options
from service.rules.crazy_rummy.state import Phase, State
from service.rules.violation import RuleViolation


def options_of(named: dict[str, Any]) -> Options:
    known = dict(named)
    if "discard_taken" in known:
        known["discard_taken"] = DiscardTaken(known["discard_taken"])
    return Options(**known)


def meld_of(number: int, places: str, seat: int = 1) -> Meld:
    """A meld as text: `5h 3c=6h 7h`."""
    pairs = [place.partition("=") for place in places.split()]
    laid = tuple(Place(parse_card(card), parse_card(other or card)) for card, _, other in pairs)
    kind = kind_of([place.stands_for for place in laid])
    assert kind is not None
    return Meld(id=number, seat=seat, kind=kind, places=laid)


def position(
    *hands: str,
    wild: int = 3,
    stock: str = "2s 4s 6s",
    discard: str = "Jd",
    melds: tuple[str, ...] = (),
    melded: tuple[int, ...] = (),
    to_act: int = 1,
    phase: str = "play",
    options: dict[str, Any] | None = None,
    **turn: Any,
) -> State:
    """A position: each hand, the stock (top first), the discard pile (top last) as text.

    `wild` is the number of the round.
    """
    return State(
        options=options_of(options or {}),
        wild=rank_for_round(wild),
        hands=tuple(tuple(sorted(parse_cards(hand.split()))) for hand in hands),
        stock=parse_cards(stock.split()),
        discard=parse_cards(discard.split()),
        melds=tuple(meld_of(number, meld) for number, meld in enumerate(melds, 1)),
        melded=frozenset(map(Seat, melded)),
        seat_in_turn=Seat(to_act),
        phase=Phase(phase),
        **turn,
    )


def do(state: State, move: dict[str, Any]) -> tuple[State, Any]:
    return RULESET.apply(state, RULESET.settle(state, RULESET.read_move(move)))


def played(state: State, *moves: dict[str, Any]) -> State:
    """The state after the moves."""
    for move in moves:
        state, _ = do(state, move)
    return state


def refusal(state: State, move: dict[str, Any]) -> RuleViolation | None:
    try:
        do(state, move)
    except RuleViolation as violation:
        return violation
    return None


def refused_by(state: State, move: dict[str, Any]) -> str | None:
    """The rule that refuses the move; None if it is accepted."""
    violation = refusal(state, move)
    return None if violation is None else violation.rule


def draw(source: str = "stock") -> dict[str, Any]:
    return {"type": "draw", "from": source}


def meld(cards: str, stands_for: str = "") -> dict[str, Any]:
    move = {"type": "meld", "cards": cards.split()}
    return {**move, "as": stands_for.split()} if stands_for else move


def lay_off(number: int, card: str, stands_for: str = "") -> dict[str, Any]:
    move = {"type": "lay_off", "meld": number, "card": card}
    return {**move, "as": stands_for} if stands_for else move


def take(number: int, wild: str, card: str) -> dict[str, Any]:
    return {"type": "take_wild", "meld": number, "wild": wild, "card": card}


def discard(card: str) -> dict[str, Any]:
    return {"type": "discard", "card": card}


def hand(state: State, seat: int = 1) -> list[str]:
    return cards_text(state.hands[seat - 1])


def table(state: State) -> list[str]:
    """The melds, as they are written for `meld_of`."""
    return [
        " ".join(
            card if card == other else f"{card}={other}"
            for card, other in ((p["card"], p["as"]) for p in shown["cards"])
        )
        for shown in RULESET.view(state, None).table["melds"]  # type: ignore[union-attr]
    ]
