"""The description used against the service: generated requests, good and bad."""

import random
from typing import Any

import pytest
import schemathesis
import yaml
from conftest import register
from flask import Flask
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis.checks import not_a_server_error
from schemathesis.config import SchemathesisConfig
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    negative_data_rejection,
    response_schema_conformance,
    status_code_conformance,
    unsupported_method,
)

from service.app import create_app, describe_api
from service.play.services import Services


@schemathesis.serializer("application/x-ndjson")
def as_lines(_context: Any, value: Any) -> bytes:
    return str(value).encode("utf-8", "surrogatepass")


pytestmark = pytest.mark.filterwarnings("default")

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
    negative_data_rejection,
    unsupported_method,
]


@pytest.fixture(scope="module")
def seeded(shared_services: Services) -> tuple[Flask, dict[str, str], dict[str, str]]:
    """The application with a game under way, and what a request to it needs."""
    app = create_app(shared_services)
    client = app.test_client()
    person = register(client)
    game = client.post(
        "/games",
        json={"ruleset": "jokers-go-boom", "seats": 3, "bots": [{"seat": 2}, {"seat": 3}]},
        headers=person.headers,
    ).get_json()["view"]["game"]
    client.put(
        f"/games/{game}/seats/1/contribution", json={"contribution": ""}, headers=person.headers
    )
    path = {"game": game, "seat": "1", "key": game, "name": "jokers-go-boom", "version": "1"}
    return app, person.headers, {**path, "slug": "illegal-move", "head": "0" * 64}


def operations() -> list[tuple[str, str]]:
    schema = schemathesis.openapi.from_dict(_description(), config=SchemathesisConfig())
    return [(op.ok().method, op.ok().path) for op in schema.get_all_operations()]


def _description() -> Any:
    return yaml.safe_load(describe_api())


@pytest.mark.parametrize(("method", "path"), operations(), ids=str)
def test_generated_requests_find_nothing(
    seeded: tuple[Flask, dict[str, str], dict[str, str]],
    method: str,
    path: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    app, headers, parameters = seeded
    monkeypatch.setattr("service.api.sources.LongPoll._is_time", lambda _: True)
    schema = schemathesis.openapi.from_wsgi("/openapi.json", app)
    operation = schema[path][method]
    chance = random.Random(path)
    _run(operation.as_strategy(), headers, parameters, chance)
    takes_json = any(body.media_type == "application/json" for body in operation.body)
    if any(True for _ in operation.query) or takes_json:
        bad = operation.as_strategy(generation_mode=schemathesis.GenerationMode.NEGATIVE)
        _run(bad, headers, parameters, chance)


def _run(strategy: Any, headers: Any, parameters: Any, chance: random.Random) -> None:
    @settings(
        max_examples=15,
        deadline=None,
        derandomize=True,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=strategy)
    def each(case: Any) -> None:
        if case.path_parameters and chance.random() < 0.8:
            case.path_parameters = {
                name: parameters.get(name, value) for name, value in case.path_parameters.items()
            }
        case.call_and_validate(headers=headers, checks=CHECKS)

    each()
