"""Pages of lists: how long, where the next one begins."""

import base64
import binascii
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, TypeVar
from urllib.parse import urlencode

from service.api.operation import Answer, Call
from service.canonical import JsonMap
from service.play.refusals import InvalidQuery

ITEMS_AT_MOST = 200
NUMBER_DIGITS = 9


class Row(Protocol):
    """What is listed by its id."""

    @property
    def id(self) -> str:
        """Where the page after it begins."""


AnyRow = TypeVar("AnyRow", bound=Row)


def page_limit(query: Mapping[str, Any]) -> int:
    """Items a page: what was asked for, lowered to what is allowed."""
    return min(int(query["limit"]), ITEMS_AT_MOST)


def read_cursor(query: Mapping[str, Any]) -> str | None:
    """The id that the page begins after; raises InvalidQuery for what no list has given."""
    return None if query["cursor"] is None else decode_cursor(query["cursor"])


def decode_cursor(cursor: str, parameter: str = "cursor") -> str:
    """What the cursor stands for; raises InvalidQuery for what no list has given."""
    text = decode_text(cursor, parameter)
    if not text.isalnum():
        raise bad_cursor(parameter)
    return text


def decode_number(cursor: str, parameter: str = "cursor") -> int:
    """The same of a list that is ordered by numbers."""
    text = decode_text(cursor, parameter)
    if not text.isdecimal() or len(text) > NUMBER_DIGITS:
        raise bad_cursor(parameter)
    return int(text)


def decode_text(cursor: str, parameter: str = "cursor") -> str:
    """The text that was made a cursor, whatever it says; raises InvalidQuery for what is none."""
    try:
        return base64.urlsafe_b64decode(cursor.encode() + b"==").decode("ascii")
    except (binascii.Error, UnicodeError) as error:
        raise bad_cursor(parameter) from error


def bad_cursor(parameter: str = "cursor") -> InvalidQuery:
    """What is said of a cursor that no list has given."""
    return InvalidQuery(parameter, "Take it from `next_cursor` as it is.")


def rows_answer(
    call: Call, rows: Sequence[AnyRow], limit: int, write: Callable[[AnyRow], JsonMap]
) -> Answer:
    """A page of that many of the rows; another one follows if there are more."""
    page = rows[:limit]
    last = page[-1].id if len(rows) > limit else None
    return list_answer(call, [write(row) for row in page], last)


def list_answer(call: Call, items: Sequence[JsonMap], last: str | None) -> Answer:
    """A page, with the way to the next one in the body and in the `Link` header."""
    cursor = None if last is None else encode_cursor(last)
    headers = {"Cache-Control": "private, no-cache"}
    if cursor is not None:
        query = urlencode({**call.request.args.to_dict(), "cursor": cursor})
        headers["Link"] = f'<{call.request.path}?{query}>; rel="next"'
    return Answer(200, {"items": list(items), "next_cursor": cursor}, headers)


def encode_cursor(last: str) -> str:
    """The cursor of a page that begins after that."""
    return base64.urlsafe_b64encode(last.encode()).decode().rstrip("=")
