"""What a ruleset is: a frozen record of facts and pure functions.

The head of a ruleset's folder fills in this record, so it reads as the
table of contents of the game; what is missing is an error where the record
is made. Nothing here or behind it knows of HTTP, of a database, of a clock.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeAlias, TypeVar

from service.canonical import JsonMap
from service.cards import Card, Seat

State = TypeVar("State")
Move = TypeVar("Move")
Options = TypeVar("Options")

Outcome: TypeAlias = JsonMap
"""What everybody sees of an accepted move, as it stands in the log."""

Private: TypeAlias = JsonMap
"""What one seat alone learned from a move, as its player is told."""

Scores: TypeAlias = tuple[int, ...]
"""Points against each seat, seat 1 first."""


@dataclass(frozen=True, slots=True)
class Round:
    """Where a round stands in its game, before a card is dealt."""

    number: int
    dealer: Seat
    seats: int


@dataclass(frozen=True, slots=True)
class Cut:
    """Who deals the first round, and the cards shown for it in the order shown."""

    dealer: Seat
    shown: tuple[tuple[Seat, Card], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundResult:
    """How a round ended.

    `by` is the seat that went out, or None; `hands` and `points` are by seat.
    """

    reason: str
    by: Seat | None
    hands: tuple[tuple[Card, ...], ...]
    points: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Standings:
    """The final order: groups of equal seats, the best first."""

    places: tuple[tuple[Seat, ...], ...]

    @property
    def winners(self) -> tuple[Seat, ...]:
        """The seats that share the first place."""
        return self.places[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class View(Generic[Move]):
    """What one seat, or a bystander, can see of a round.

    Built up from public facts; what the seat holds is added. `counts` are the
    cards in each hand, seat 1 first; `hand` is None for a bystander;
    `legal_moves` is empty for everybody but the seat that is to act.
    """

    seat: Seat | None
    to_act: Seat | None
    phase: str
    counts: tuple[int, ...]
    hand: tuple[Card, ...] | None
    table: JsonMap
    legal_moves: Sequence[Move]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ruleset(Generic[State, Move, Options]):
    """A kind of game.

    name, version: what a stored game names; a change of what is legal or of
        what follows is a new version beside the old one.
    title: what players call it.
    seats: how many may play, as a range.
    options: frozen dataclass of the house rules; `options()` is the standard game.
    complete(options, seats): the options with every default filled in.
    pack(options): the base pack, in the order that shuffles start from.
    rounds(options, seats): how many rounds a game has.
    first_dealer(cut pack, seats): who deals first.
    deal(options, round, deck): the start of a round; deck with its top first.
    first(state): the seat that leads, at the start of a round.
    facts(state): the ruleset's public facts of `round_started`.
    to_act(state): None when the round is over.
    legal_moves(state): complete, in canonical order; never empty while a seat is to act.
    reveals(state, move): whether the move may show a hidden card or end the turn,
        by its form and the state alone: such a move comes last in a batch.
    settle(state, move): the move in house form, its declarations expanded.
    apply(state, move): the state after a settled move, and what everybody sees
        of it; settle and apply raise RuleViolation.
    learned(before, after, seat): what that seat alone learned by a move, or None.
    view(state, seat or None): what can be seen.
    round_result(state): None while the round goes on.
    stock(state): the hidden cards that nobody holds, the next one first.
    laid(state): the cards that everybody has seen lying on the table.
    restock(state, cards): the state with these cards in their place, in that order.
    standings(scores): the final order.
    absent_move(state): what the clock plays for a seat that is away.
    steady(options, view): the move of the sensible bot.
    encode(state): the documented form behind `state_mac`.
    read_move, write_move, read_options, write_options: the log's JSON and back;
        the readers raise ValueError.
    texts: language → rule number → the rule, for people.
    messages: language → English template of a refusal → the same in that language.
    """

    name: str
    version: str
    title: str
    seats: range
    options: type[Options]
    complete: Callable[[Options, int], Options]
    pack: Callable[[Options], tuple[Card, ...]]
    rounds: Callable[[Options, int], int]
    first_dealer: Callable[[Sequence[Card], int], Cut]
    deal: Callable[[Options, Round, Sequence[Card]], State]
    first: Callable[[State], Seat]
    facts: Callable[[State], JsonMap]
    to_act: Callable[[State], Seat | None]
    legal_moves: Callable[[State], Sequence[Move]]
    reveals: Callable[[State, Move], bool]
    settle: Callable[[State, Move], Move]
    apply: Callable[[State, Move], tuple[State, Outcome]]
    learned: Callable[[State, State, Seat], Private | None]
    view: Callable[[State, Seat | None], View[Move]]
    round_result: Callable[[State], RoundResult | None]
    stock: Callable[[State], tuple[Card, ...]]
    laid: Callable[[State], tuple[Card, ...]]
    restock: Callable[[State, Sequence[Card]], State]
    standings: Callable[[Scores], Standings]
    absent_move: Callable[[State], Move]
    steady: Callable[[Options, View[Move]], Move]
    encode: Callable[[State], JsonMap]
    read_move: Callable[[JsonMap], Move]
    write_move: Callable[[Move], JsonMap]
    read_options: Callable[[JsonMap], Options]
    write_options: Callable[[Options], JsonMap]
    texts: Mapping[str, Mapping[str, str]]
    messages: Mapping[str, Mapping[str, str]]


AnyRuleset: TypeAlias = Ruleset[Any, Any, Any]
"""Some ruleset: its states, moves and options are nobody's business but its own."""
