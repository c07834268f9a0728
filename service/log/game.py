"""A game as its log tells it: an immutable value that every event moves on."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, TypeAlias

from service.canonical import JsonMap
from service.cards import Seat
from service.fairness import SANDBOX_GAME, Dealer
from service.log.events import by_seat
from service.rules.ruleset import AnyRuleset, Scores

DealerFactory: TypeAlias = Callable[[bytes, str, Sequence[str]], Dealer]
"""Makes the dealer of a game: secret, game id, contributions by seat."""


class Status(Enum):
    """How far a game has come."""

    OPEN = "open"
    ACTIVE = "active"
    HELD = "held"
    FINISHED = "finished"
    VOIDED = "voided"

    @property
    def is_over(self) -> bool:
        """Whether the game has ended, one way or the other."""
        return self in (Status.FINISHED, Status.VOIDED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Occupant:
    """Who sits in a seat: a player with an account, or a bot of the service.

    `kind` is `human` or `bot`; `player` is the account's id, None for a bot of
    the service, whose `level` says how it plays.
    """

    kind: str
    player: str | None = None
    level: str | None = None
    contribution: str = ""

    def to_json(self) -> JsonMap:
        """The occupant as it stands in `seat_taken`."""
        who = {"player": self.player} if self.player is not None else {"bot": self.level}
        return {"kind": self.kind, **who}


@dataclass(frozen=True, slots=True)
class Secret:
    """The 32 bytes that a game is dealt from, and what makes a dealer of them."""

    value: bytes = field(repr=False)
    dealer: DealerFactory = field(repr=False)


@dataclass(frozen=True, slots=True)
class Past:
    """The state of a round after one of its events, and what came before it and counts."""

    seq: int
    state: Any = field(repr=False)
    before: "Past | None" = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundInPlay:
    """The round that is played, or was played last; `state` is the ruleset's own.

    `deal` counts how often its cards were shuffled; `past` are its states up to now.
    """

    number: int
    deal: int
    dealer: Seat
    state: Any = field(repr=False)
    past: Past | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class RoundStart:
    """Where a round began: the seq of its deal, who dealt, and the scores before it."""

    seq: int
    dealer: Seat
    scores: Scores


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """How a game ended; `standings` are groups of equal seats, the best first."""

    reason: str
    scores: Scores
    standings: tuple[tuple[Seat, ...], ...]

    @property
    def winners(self) -> tuple[Seat, ...]:
        """The seats that won together; none in a voided game."""
        return self.standings[0] if self.standings else ()

    def to_json(self) -> JsonMap:
        """The result as it stands in `game_ended`, and in a view."""
        return {
            "reason": self.reason,
            "scores": by_seat(self.scores),
            "standings": [list(place) for place in self.standings],
            "winners": list(self.winners),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Rematch:
    """The game that another one goes on from: `of` is its id, and the deal passes to `dealer`.

    `players` are by seat, for whom the seats are kept; None for one that is free for anybody.
    """

    of: str
    dealer: Seat
    players: tuple[str | None, ...]

    def to_json(self) -> JsonMap:
        """The same as it stands in `game_created`."""
        kept = {seat: player for seat, player in by_seat(self.players).items() if player}
        return {"of": self.of, "dealer": self.dealer, "players": kept}


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """What is fixed when a game is opened.

    `sandbox` is the secret of a sandbox game, in hex; `turn_seconds` how long
    a person may take for a turn, None for as long as they like. `spectators`
    is `public`, `none`, or `delayed` by `spectator_delay` events.
    `hold_on_dispute` is whether a dispute stops the game.
    """

    id: str
    created_at: str
    ruleset: AnyRuleset
    options: Any
    creator: str
    visibility: str
    sandbox: str | None
    commitment: str
    secret: Secret
    turn_seconds: int | None = None
    spectators: str = "public"
    spectator_delay: int = 0
    rematch: Rematch | None = None
    hold_on_dispute: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Game:
    """A game at one version.

    `version` and `head` are the seq and the hash of its last event, `at` that
    event's time. `occupants` and `scores` are by seat, seat 1 first; `dealer`
    deals the cards once the game has started; `first_dealer` is the seat that
    the cut chose, `open_until` the last version at which the table was open.
    `is_counted` says whether the round in play is scored. `turn_at` is when
    the present turn began, `extended` by how many seconds its clock was put
    back. By seat: `absences`, the turns in a row of this round that the clock
    played, and `away`, the player who may come back. `starts` are the rounds
    that count, `deals` how often each round's cards were shuffled so far, and
    `abandoned` the first and the last seq of what rulings folded back.
    `disputes` are open, each with its seat; `held_for` is the dispute that the
    game is held for, "" where an admin holds it.
    """

    setup: Setup
    version: int
    head: str
    at: str
    status: Status
    occupants: tuple[Occupant | None, ...]
    scores: Scores
    dealer: Dealer | None = None
    first_dealer: Seat | None = None
    open_until: int = 0
    round: RoundInPlay | None = None
    is_counted: bool = False
    result: Result | None = None
    is_revealed: bool = False
    turn_at: str = ""
    extended: int = 0
    absences: tuple[int, ...] = ()
    away: tuple[str | None, ...] = ()
    starts: tuple[RoundStart, ...] = ()
    deals: tuple[int, ...] = ()
    abandoned: tuple[tuple[int, int], ...] = ()
    disputes: tuple[tuple[str, Seat], ...] = ()
    held_for: str | None = None

    @property
    def id(self) -> str:
        """The game's id."""
        return self.setup.id

    @property
    def ruleset(self) -> AnyRuleset:
        """The rules that the game is played by."""
        return self.setup.ruleset

    @property
    def options(self) -> Any:  # noqa: ANN401  the ruleset's own type
        """The house rules, every default filled in."""
        return self.setup.options

    @property
    def seats(self) -> tuple[Seat, ...]:
        """All the seats, clockwise from 1."""
        return tuple(Seat(seat) for seat in range(1, len(self.occupants) + 1))

    @property
    def is_full(self) -> bool:
        """Whether somebody sits in every seat."""
        return all(self.occupants)

    @property
    def to_act(self) -> Seat | None:
        """The seat whose turn it is, if it is anybody's."""
        if self.status is not Status.ACTIVE or self.round is None:
            return None
        return self.ruleset.to_act(self.round.state)

    @property
    def rounds(self) -> int:
        """How many rounds the game has."""
        return self.ruleset.rounds(self.options, len(self.occupants))

    @property
    def occupant_to_act(self) -> Occupant | None:
        """Who sits in the seat whose turn it is, if it is anybody's."""
        seat = self.to_act
        return None if seat is None else self.occupant(seat)

    def occupant(self, seat: Seat) -> Occupant | None:
        """Who sits in the seat."""
        return self.occupants[seat - 1]

    def kept_for(self, seat: Seat) -> str | None:
        """Whom the seat of a rematch is kept for."""
        return self.setup.rematch.players[seat - 1] if self.setup.rematch else None

    def is_party(self, player: str | None) -> bool:
        """Whether the player plays, or may come back."""
        return player is not None and (bool(self.seats_of(player)) or player in self.away)

    def is_disputed_by(self, dispute: str) -> bool:
        """Whether that dispute is open."""
        return dispute in (opened for opened, _ in self.disputes)

    def seats_of(self, player: str) -> list[Seat]:
        """The seats that the player holds: at most one, but in a sandbox game."""
        return [
            Seat(seat)
            for seat, occupant in enumerate(self.occupants, 1)
            if occupant is not None and occupant.player == player
        ]

    def make_dealer(self) -> Dealer:
        """The dealer of the cards, from the secret and what the seats contributed (L §2)."""
        contributions = [occupant.contribution if occupant else "" for occupant in self.occupants]
        secret = self.setup.secret
        key_id = SANDBOX_GAME if self.setup.sandbox is not None else self.id
        return secret.dealer(secret.value, key_id, contributions)
