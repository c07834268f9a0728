"""Refusals as exceptions: what the service answers by RFC 9457, typed where programs act on it."""

from collections.abc import Mapping
from typing import Any

import httpx


class Problem(Exception):
    """The service said no.

    `code` is for programs, `detail` for people; `data` is the whole answer,
    and `status` its HTTP status.
    """

    def __init__(self, status: int, data: Mapping[str, Any]) -> None:
        super().__init__(f"{data.get('code', status)}: {data.get('detail', '')}")
        self.status = status
        self.data = data

    @property
    def code(self) -> str:
        """What is wrong, for programs."""
        return str(self.data.get("code", ""))

    @property
    def detail(self) -> str:
        """What is wrong, for people, in the language that was asked for."""
        return str(self.data.get("detail", ""))

    @property
    def errors(self) -> list[dict[str, Any]]:
        """Of a body of the wrong shape: a JSON pointer and a detail for each fault."""
        return list(self.data.get("errors", ()))


class Unauthenticated(Problem):
    """There is no such key, or it is revoked."""


class Forbidden(Problem):
    """The key, or the seat, does not allow it."""


class NotFound(Problem):
    """There is nothing such, or it is not for the caller to know of."""


class Conflict(Problem):
    """Not now: the game is in another state."""


class Invalid(Problem):
    """It is of the wrong shape: `errors` says where."""


class TooManyRequests(Problem):
    """It was asked too often, and waiting did not help."""


class NotYourTurn(Conflict):
    """Another seat is to act: `to_act`."""

    @property
    def to_act(self) -> int | None:
        """The seat whose turn it is."""
        return self.data.get("to_act")


class VersionConflict(Conflict):
    """The game is past the version that the move was decided at."""

    @property
    def current_version(self) -> int:
        """The version that it has now."""
        return int(self.data["current_version"])

    @property
    def missed_events(self) -> list[dict[str, Any]]:
        """What happened since the version that was expected."""
        return list(self.data["missed_events"])


class IllegalMove(Problem):
    """The rules forbid the move: `rule` says which of them, `legal_moves` what may be played."""

    @property
    def rule(self) -> str:
        """The number of the rule."""
        return str(self.data["rule"])

    @property
    def move_index(self) -> int:
        """Which of the moves that were sent."""
        return int(self.data["move_index"])

    @property
    def legal_moves(self) -> list[dict[str, Any]]:
        """The moves that may be played instead, ready to send."""
        return list(self.data["legal_moves"])


BY_CODE: Mapping[str, type[Problem]] = {
    "illegal_move": IllegalMove,
    "not_your_turn": NotYourTurn,
    "version_conflict": VersionConflict,
}
BY_STATUS: Mapping[int, type[Problem]] = {
    401: Unauthenticated,
    403: Forbidden,
    404: NotFound,
    409: Conflict,
    422: Invalid,
    429: TooManyRequests,
}


def problem_of(answer: httpx.Response) -> Problem:
    """The problem that the answer is; an empty one if a proxy wrote the answer."""
    try:
        data = answer.json()
    except ValueError:
        data = {}
    if not isinstance(data, dict):
        data = {}
    kind = BY_CODE.get(str(data.get("code"))) or BY_STATUS.get(answer.status_code, Problem)
    return kind(answer.status_code, data)
