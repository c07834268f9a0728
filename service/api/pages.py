"""Pages of lists: how long, where the next one begins."""

import base64
import binascii
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

from service.api.operation import Answer, Call
from service.canonical import JsonMap
from service.play.refusals import InvalidQuery

ITEMS_AT_MOST = 200


def page_limit(query: Mapping[str, Any]) -> int:
    """Items a page: what was asked for, lowered to what is allowed."""
    return min(int(query["limit"]), ITEMS_AT_MOST)


def read_cursor(query: Mapping[str, Any]) -> str | None:
    """The id that the page begins after; raises InvalidQuery for what no list has given."""
    return None if query["cursor"] is None else decode_cursor(query["cursor"])


def decode_cursor(cursor: str, parameter: str = "cursor") -> str:
    """What the cursor stands for; raises InvalidQuery for what no list has given."""
    try:
        text = base64.urlsafe_b64decode(cursor.encode() + b"==").decode("ascii")
    except (binascii.Error, UnicodeError) as error:
        raise InvalidQuery(parameter, "Take it from `next_cursor` as it is.") from error
    if not text.isalnum():
        raise InvalidQuery(parameter, "Take it from `next_cursor` as it is.")
    return text


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
