"""What a verifier found: a verdict for each check, in order."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from service.canonical import JsonMap


class Check(Enum):
    """The checks, in the order in which they are made; the value is what a report calls them."""

    CANONICAL = "canonical"
    CHAIN = "chain"
    COMPLETENESS = "completeness"
    COMMITMENT = "commitment"
    DEALS = "deals"
    MOVES = "moves"
    CONSEQUENCES = "consequences"
    SCORES = "scores"
    SIGNATURE = "signature"
    INCLUSION = "inclusion"


OF_THE_GAME = frozenset(set(Check) - {Check.SIGNATURE, Check.INCLUSION})
"""What an export proves by itself, once its game has ended."""


class Status(Enum):
    """How a check came out."""

    PASSED = "passed"
    FAILED = "failed"
    NOT_CHECKED = "not_checked"


class Outcome(Enum):
    """How a verification came out as a whole.

    Incomplete is a log in which nothing is wrong and something can't be
    checked yet: the game goes on, and its secret is not revealed.
    """

    VERIFIED = "verified"
    INCOMPLETE = "incomplete"
    FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """How one check came out; `seq` is the first event that fails it, where it is an event."""

    check: Check
    status: Status
    detail: str
    seq: int | None = None

    def to_json(self) -> JsonMap:
        """The verdict as reports carry it."""
        return {
            "check": self.check.value,
            "status": self.status.value,
            "seq": self.seq,
            "detail": self.detail,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """All verdicts about one log; `game` is its id, None if it can't be read.

    `asked` are the checks without which it is not verified: those of the game,
    and those for which evidence was given.
    """

    game: str | None
    events: int
    verdicts: Sequence[Verdict]
    asked: frozenset[Check] = OF_THE_GAME

    @property
    def outcome(self) -> Outcome:
        """How it came out as a whole."""
        if self.failure is not None:
            return Outcome.FAILED
        needed = (v.status for v in self.verdicts if v.check in self.asked)
        is_whole = all(status is Status.PASSED for status in needed)
        return Outcome.VERIFIED if is_whole else Outcome.INCOMPLETE

    @property
    def failure(self) -> Verdict | None:
        """The first check that failed, if one did."""
        return next((v for v in self.verdicts if v.status is Status.FAILED), None)

    def to_json(self) -> JsonMap:
        """The report as `--json` and `POST /verify` give it."""
        return {
            "game": self.game,
            "events": self.events,
            "outcome": self.outcome.value,
            "checks": [verdict.to_json() for verdict in self.verdicts],
        }


class Failed(Exception):
    """A check failed; `seq` is the first event that fails it."""

    def __init__(self, detail: str, seq: int | None = None) -> None:
        super().__init__(detail)
        self.detail = detail
        self.seq = seq


class NotChecked(Exception):
    """A check can't be made; the message says why."""
