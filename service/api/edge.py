"""The edge: operations become routes, and every answer gets the headers that all have."""

import json
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, wraps
from typing import Any, TypeVar

from flask import Flask, Response, request
from marshmallow import ValidationError

from service.api import (
    admin,
    disputes,
    games,
    meta,
    moves,
    notices,
    players,
    proof,
    rematches,
    rulesets,
    streams,
    web,
    webhooks,
)
from service.api.bodies import BODY_BYTES_AT_MOST, field_errors
from service.api.docs import docs_page, prose
from service.api.doorway import GAME, PLAYER, REQUEST_ID, ROUTE, Doorway
from service.api.handoff import Sender
from service.api.keys import read_token
from service.api.openapi import describe, openapi_yaml
from service.api.operation import Answer, Call, Operation, asker, flask_path
from service.api.problems import register_problems
from service.api.sources import House, Streams
from service.canonical import JsonMap
from service.play.accounts import authenticate
from service.play.admins import Admin, authenticate_admin, note_action
from service.play.caller import Caller
from service.play.limits import FAILED_AUTHENTICATION, Standing
from service.play.refusals import GameRemoved, InvalidQuery, Unauthenticated
from service.play.services import Services

OPERATIONS: Sequence[Operation] = (
    *meta.OPERATIONS,
    *rulesets.OPERATIONS,
    *players.OPERATIONS,
    *games.OPERATIONS,
    *moves.OPERATIONS,
    *streams.OPERATIONS,
    *rematches.OPERATIONS,
    *notices.OPERATIONS,
    *webhooks.OPERATIONS,
    *disputes.OPERATIONS,
    *admin.OPERATIONS,
    *proof.OPERATIONS,
    *web.OPERATIONS,
)
"""Every operation that there is."""

QUERY_NOTED = 200
SENDER = "fairdeal.sender"
"""Where an app keeps what sends its streams."""


def register_edge(app: Flask, services: Services) -> None:
    """Give the app its routes, its problems and its headers."""
    app.config["MAX_CONTENT_LENGTH"] = BODY_BYTES_AT_MOST
    app.url_map.merge_slashes = False
    register_problems(app)
    app.jinja_env.filters["prose"] = prose
    sender = Sender(House(services))
    services.feed.woken = sender.wake
    app.extensions[SENDER] = sender
    doorway = Doorway(app.wsgi_app, services.new_request_id, sender)
    app.wsgi_app = doorway  # type: ignore[method-assign]
    described, places = Described(), Streams()
    for operation in OPERATIONS:
        app.add_url_rule(
            flask_path(operation.path),
            endpoint=operation.id,
            view_func=_view(operation, services, described, places),
            methods=[operation.method],
        )


class Described:
    """The description in its three forms, each made when it is first asked for."""

    @cached_property
    def value(self) -> dict[str, Any]:
        """The description as a JSON value."""
        return describe(OPERATIONS)

    @cached_property
    def yaml(self) -> str:
        """The text of `/openapi.yaml`."""
        return openapi_yaml(self.value)

    @cached_property
    def json(self) -> str:
        """The text of `/openapi.json`."""
        return json.dumps(self.value, ensure_ascii=False)

    @cached_property
    def page(self) -> str:
        """The page of `/docs`; made within a request."""
        return docs_page(self.value)


def _view(
    operation: Operation, services: Services, described: Described, places: Streams
) -> Callable[..., Response]:
    """The operation as Flask calls it: who calls, what they ask, then the one call."""

    @wraps(operation.view)
    def view(**path: str) -> Response:
        request.environ[ROUTE] = operation.id
        request.environ[GAME] = path.get("game")
        acting = _admin(operation, services) if operation.is_admins else None
        caller = None if acting else _caller(operation, services)
        standing = _count(operation, services, caller, acting)
        call = Call(
            services=services,
            request=request,
            caller=caller,
            query=_query(operation),
            operation=operation,
            described=described,
            streams=places,
            acting=acting,
        )
        if acting is not None:
            note_action(services, acting, operation.id, _asked(path))
        try:
            answer: Answer = operation.view(call, **path)
        except GameRemoved as removed:
            if acting is None:
                removed.refuse_strangers(None if caller is None else caller.player)
            raise
        response = answer.response()
        if standing is not None:
            response.headers["RateLimit-Policy"] = standing.policy.header
            response.headers["RateLimit"] = standing.header
        return response

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
    caller = _guessed(services, lambda: authenticate(services, token))
    caller.require(operation.scope)
    request.environ[PLAYER] = caller.player
    return caller


def _admin(operation: Operation, services: Services) -> Admin:
    """Which admin calls; nobody else does. Raises Unauthenticated and InsufficientScope."""
    token = read_token(request)
    if token is None:
        raise Unauthenticated
    found = _guessed(services, lambda: authenticate_admin(services, token))
    found.require(operation.scope or "")
    return found


def _asked(path: Mapping[str, str]) -> JsonMap:
    """What the trail says of a request: what it is about; ids, and no words."""
    query = {name: value for name, value in request.args.items() if len(value) <= QUERY_NOTED}
    return {**path, "query": query, "request": str(request.environ[REQUEST_ID])}


Who = TypeVar("Who")


def _guessed(services: Services, look: Callable[[], Who]) -> Who:
    """Who it is; who guesses too often is refused without a look."""
    limiter = services.limiter
    if limiter is None:
        return look()
    address = asker(request, None)
    limiter.refuse_if_empty(FAILED_AUTHENTICATION, address)
    try:
        return look()
    except Unauthenticated:
        limiter.take(FAILED_AUTHENTICATION, address)
        raise


def _count(
    operation: Operation, services: Services, caller: Caller | None, admin: Admin | None
) -> Standing | None:
    """Count the request by its policy; None where nothing is. Raises TooManyRequests.

    Before anything is read: who asks too often costs no more than the counting.
    """
    if services.limiter is None or operation.is_uncounted:
        return None
    who = admin.id if admin else asker(request, caller)
    return services.limiter.take(operation.limit, who)


def _query(operation: Operation) -> Mapping[str, Any]:
    """The query by the operation's schema; raises InvalidQuery, for a doubled parameter too."""
    if operation.query is None and not request.environ.get("QUERY_STRING"):
        return {}
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
