"""`openapi.yaml`, made from the operations: the file and the routes are one list."""

import re
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any

import yaml
from apispec.ext.marshmallow import MarshmallowPlugin

from service.api.answers import ProblemSchema
from service.api.describing import new_spec
from service.api.operation import Operation, Returns
from service.api.problem_pages import ProblemPage
from service.api.problems import PROBLEM_JSON, PROBLEMS

API_VERSION = "0.1.0"
PATH_PARAMETER = re.compile(r"{(\w+)}")

DESCRIPTION = """\
Card games over HTTP, with a log that nobody can quietly rewrite.

Every answer has a `Request-Id`. Every refusal is `application/problem+json`
with a `code` for programs and a page of its own. Cards are two characters
(`4h`, `Td`, `X1`); seats are numbered clockwise from 1; a game's version is the
seq of its last event.

Retries: send an `Idempotency-Key`, a new one for each thing to be done, and the
same again, with the same body, as often as it takes to get an answer. A replay
is the original answer with `Idempotent-Replayed: true`; its `view` is the
present one. Keys belong to their player and operation, and live as long as
what they made. A refused request binds no key. `POST /players` takes none: its
answer is a secret. PUT and DELETE need none.

Waiting: poll `GET /games/{game}` with `If-None-Match`, or
`GET /games/{game}/events?after=`. The service's own bots move within your
request, so that its answer usually shows your next turn; what they leave over
they play within a moment.
"""

PATHS: Mapping[str, str] = {
    "game": "A game's id.",
    "seat": "A seat, numbered clockwise from 1.",
    "key": "A key's id.",
    "invitation": "An invitation's id.",
    "webhook": "A webhook's id.",
    "delivery": "A delivery's id.",
    "dispute": "A dispute's id.",
    "language": "A language: `en`, `lv` or `hy`.",
    "look": "The id of a request to see hands.",
    "player": "A player's id.",
    "name": "A ruleset's name.",
    "version": "A ruleset's version.",
    "slug": "A problem's slug.",
    "head": "The hash of an event that was the game's last.",
    "size": "A checkpoint's size: how many heads its tree holds.",
}

HEADERS: Mapping[str, str] = {
    "ETag": "Changes whenever the answer does.",
    "Content-Disposition": "The file's name.",
    "Location": "Where it is.",
    "Idempotent-Replayed": "`true` where the request was answered before.",
    "WWW-Authenticate": "How to authenticate.",
    "Retry-After": "Seconds to wait.",
    "Allow": "The methods that there are.",
}


REFUSAL_HEADERS: Mapping[int, str] = {
    401: "WWW-Authenticate",
    405: "Allow",
    429: "Retry-After",
    503: "Retry-After",
}


def describe(operations: Sequence[Operation]) -> dict[str, Any]:
    """The description of the whole API as a JSON value."""
    spec, plugin = new_spec(
        "Fairdeal",
        API_VERSION,
        info={"description": DESCRIPTION, "license": {"name": "MIT", "identifier": "MIT"}},
        servers=[{"url": "/"}],
        tags=[{"name": tag} for tag in dict.fromkeys(operation.tag for operation in operations)],
    )
    spec.components.security_scheme(
        "key", {"type": "http", "scheme": "bearer", "description": "`fd_pk_…`, of a player."}
    )
    converter: Any = plugin.converter
    converter.spec = spec
    for operation in operations:
        described = _operation(plugin, operation)
        spec.path(path=operation.path, operations={operation.method.lower(): described})
    described = spec.to_dict()
    return {"openapi": described.pop("openapi"), **described}


def openapi_yaml(described: dict[str, Any]) -> str:
    """The description as the text of `openapi.yaml`."""
    return yaml.dump(described, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=100)


class _Dumper(yaml.SafeDumper):
    """Writes texts of several lines as they read, and the same list twice rather than a link."""

    def ignore_aliases(self, _data: object) -> bool:
        """Never link to an earlier value."""
        return True


def _write_text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    style = "|" if "\n" in text else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _write_text)


def _operation(plugin: MarshmallowPlugin, operation: Operation) -> dict[str, Any]:
    described: dict[str, Any] = {
        "operationId": operation.id,
        "tags": [operation.tag],
        "summary": operation.summary,
        "security": _security(operation),
        "parameters": _parameters(plugin, operation),
        "responses": {
            **{str(status): _returned(what) for status, what in operation.returns.items()},
            **_refusals(problems_of(operation)),
        },
    }
    if operation.description:
        described["description"] = operation.description
    if operation.body is not None:
        described["requestBody"] = {
            "required": True,
            "content": {"application/json": {"schema": operation.body}},
        }
    if operation.upload is not None:
        described["requestBody"] = {
            "required": True,
            "content": {operation.upload: {"schema": {"type": "string"}}},
        }
    return described


def problems_of(operation: Operation) -> Sequence[str]:
    """The slugs of every problem that the operation may answer with."""
    common = ["bad-request", "invalid-query", "method-not-allowed", "internal-error"]
    common += ["database-unavailable", "too-many-requests"]
    if operation.scope is not None:
        common += ["unauthenticated", "insufficient-scope"]
    if operation.body is not None or operation.upload is not None:
        common += ["malformed-json", "body-too-large", "unsupported-media-type"]
    if operation.body is not None:
        common += ["validation-failed"]
    if operation.is_idempotent_by_key:
        common += ["invalid-idempotency-key", "idempotency-key-reused"]
    if "game-not-found" in operation.refuses:
        common += ["game-removed"]
    return list(dict.fromkeys([*common, *operation.refuses]))


def _security(operation: Operation) -> list[dict[str, list[str]]]:
    if operation.scope is None:
        return []
    return [{"key": []}, {}] if operation.is_open else [{"key": []}]


def _parameters(plugin: MarshmallowPlugin, operation: Operation) -> list[dict[str, Any]]:
    converter: Any = plugin.converter
    parameters = [
        {
            "name": name,
            "in": "path",
            "required": True,
            "description": PATHS[name],
            "schema": {"type": "string"},
        }
        for name in PATH_PARAMETER.findall(operation.path)
    ]
    if operation.query is not None:
        parameters += converter.schema2parameters(operation.query, location="query")
    if operation.is_idempotent_by_key:
        parameters.append(_IDEMPOTENCY_KEY)
    return parameters


_IDEMPOTENCY_KEY: dict[str, Any] = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": False,
    "description": "A new one for each thing to be done; the same again to retry it.",
    "schema": {"type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[!-~]+$"},
}


def _returned(what: Returns) -> dict[str, Any]:
    described: dict[str, Any] = {"description": what.description}
    if what.media:
        described["content"] = {
            media: {"schema": {"type": "string"} if schema is None else schema}
            for media, schema in what.media.items()
        }
    return {**described, **_headers(what.headers)}


def _headers(names: Sequence[str]) -> dict[str, Any]:
    """The headers that are part of an answer; nothing for none."""
    described = {
        name: {"description": HEADERS[name], "schema": {"type": "string"}} for name in names
    }
    return {"headers": described} if described else {}


def _refusals(slugs: Sequence[str]) -> dict[str, Any]:
    """The problems by status: which there are, and what each means."""
    by_status: dict[int, list[ProblemPage]] = {}
    for slug in slugs:
        by_status.setdefault(PROBLEMS[slug].status, []).append(PROBLEMS[slug])
    return {
        str(status): {
            "description": "\n".join(
                [HTTPStatus(status).phrase, ""]
                + [f"- `{page.code}`: {page.meaning}" for page in pages]
            ),
            "content": {PROBLEM_JSON: {"schema": ProblemSchema()}},
            **_headers([REFUSAL_HEADERS[status]] if status in REFUSAL_HEADERS else []),
        }
        for status, pages in sorted(by_status.items())
    }
