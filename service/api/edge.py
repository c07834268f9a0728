"""The edge: operations become routes, and every answer gets the headers that all have."""

import json
import time
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from typing import Any
from uuid import uuid4

import structlog
from flask import Flask, Response, g, request
from marshmallow import ValidationError

from service.api import games, meta, moves, players, rulesets
from service.api.bodies import BODY_BYTES_AT_MOST, field_errors
from service.api.docs import docs_page
from service.api.keys import read_token
from service.api.openapi import describe, openapi_yaml
from service.api.operation import Answer, Call, Operation, flask_path
from service.api.problems import register_problems
from service.play.accounts import authenticate
from service.play.caller import Caller
from service.play.refusals import InvalidQuery, Unauthenticated
from service.play.services import Services

OPERATIONS: Sequence[Operation] = (
    *meta.OPERATIONS,
    *rulesets.OPERATIONS,
    *players.OPERATIONS,
    *games.OPERATIONS,
    *moves.OPERATIONS,
)
"""Every operation that there is."""

COMMON_HEADERS: Mapping[str, str] = {
    "Access-Control-Allow-Origin": "*",
    "Access-Control-Expose-Headers": (
        "ETag, Idempotent-Replayed, Link, Location, Request-Id, Retry-After"
    ),
    "Content-Security-Policy": (
        "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; "
        "frame-ancestors 'none'"
    ),
    "Cross-Origin-Resource-Policy": "cross-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}

PREFLIGHT_HEADERS: Mapping[str, str] = {
    "Access-Control-Allow-Headers": (
        "Accept-Language, Authorization, Content-Type, Idempotency-Key, If-None-Match"
    ),
    "Access-Control-Allow-Methods": "GET, HEAD, POST, PUT, DELETE, OPTIONS",
    "Access-Control-Max-Age": "86400",
}


def register_edge(app: Flask, services: Services) -> None:
    """Give the app its routes, its problems and its headers."""
    app.config["MAX_CONTENT_LENGTH"] = BODY_BYTES_AT_MOST
    app.url_map.strict_slashes = True
    app.before_request(_begin)
    app.after_request(_finish)
    register_problems(app)
    texts = _texts(app)
    for operation in OPERATIONS:
        app.add_url_rule(
            flask_path(operation.path),
            endpoint=operation.id,
            view_func=_view(operation, services, texts),
            methods=[operation.method],
        )


def _texts(app: Flask) -> Mapping[str, str]:
    """The descriptions, made once: they are the same for as long as the process lives."""
    described = describe(OPERATIONS)
    with app.test_request_context():
        page = docs_page(described)
    return {
        "openapi.yaml": openapi_yaml(OPERATIONS),
        "openapi.json": json.dumps(described, ensure_ascii=False),
        "docs": page,
    }


def _view(
    operation: Operation, services: Services, texts: Mapping[str, str]
) -> Callable[..., Response]:
    """The operation as Flask calls it: who calls, what they ask, then the one call."""

    @wraps(operation.view)
    def view(**path: str) -> Response:
        call = Call(
            services=services,
            request=request,
            caller=_caller(operation, services),
            query=_query(operation),
            operation=operation,
            texts=texts,
        )
        answer: Answer = operation.view(call, **path)
        return answer.response()

    return view


def _caller(operation: Operation, services: Services) -> Caller | None:
    """Who calls; raises Unauthenticated and InsufficientScope where the operation wants to know."""
    if operation.scope is None:
        return None
    token = read_token(request)
    if token is None:
        if operation.is_open:
            return None
        raise Unauthenticated
    caller = authenticate(services, token)
    caller.require(operation.scope)
    g.player = caller.player
    return caller


def _query(operation: Operation) -> Mapping[str, Any]:
    """The query by the operation's schema; raises InvalidQuery, for a doubled parameter too."""
    for name, values in request.args.lists():
        if len(values) > 1:
            raise InvalidQuery(name, "It is given more than once.")
        if operation.query is None:
            raise InvalidQuery(name, "This operation takes no query parameters.")
    if operation.query is None:
        return {}
    try:
        query: Mapping[str, Any] = operation.query.load(request.args.to_dict())
    except ValidationError as error:
        first = field_errors(error.messages, operation.query, "")[0]
        raise InvalidQuery(first.pointer.lstrip("/"), first.detail) from error
    return query


def _begin() -> None:
    g.request_id = uuid4()
    g.player = None
    g.began = time.perf_counter()


def _finish(response: Response) -> Response:
    """The headers that every answer has, refusals and preflights included; and a line in the log."""
    headers = response.headers
    headers["Request-Id"] = str(g.request_id)
    headers.extend(COMMON_HEADERS)
    if request.method == "OPTIONS":
        headers.update(PREFLIGHT_HEADERS)
    _log(response)
    return response


def _log(response: Response) -> None:
    """One line a request: who, what, how long; nothing of what was sent or shown."""
    structlog.get_logger().info(
        "request",
        request_id=str(g.request_id),
        method=request.method,
        route=request.endpoint,
        game=(request.view_args or {}).get("game"),
        player=g.player,
        status=response.status_code,
        ms=round((time.perf_counter() - g.began) * 1000, 1),
    )
