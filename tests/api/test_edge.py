"""What holds for every answer, whatever was asked."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from conftest import Person
from described import Description
from flask import Flask
from flask.testing import FlaskClient
from openapi_spec_validator import OpenAPIV31SpecValidator
from signing import KEYRING

from service.api.edge import OPERATIONS
from service.api.openapi import problems_of
from service.api.operation import flask_path
from service.api.problems import PROBLEMS
from service.app import create_app
from service.play import refusals
from service.play.services import Services
from service.rules.registry import current
from service.store.database import connect
from service.store.secret_box import SecretBox


def test_the_routes_are_the_paths(app: Flask, description: Description) -> None:
    routes = {
        (method, rule.rule)
        for rule in app.url_map.iter_rules()
        if rule.endpoint != "static"
        for method in (rule.methods or set()) - {"HEAD", "OPTIONS"}
    }
    assert routes == {(method, flask_path(path)) for method, path in description.operations}


def test_the_description_is_valid_openapi(description: Description) -> None:
    OpenAPIV31SpecValidator(description.value).validate()


def test_the_committed_description_is_the_present_one(description: Description) -> None:
    committed = Path(__file__).parents[2] / "openapi.yaml"
    assert yaml.safe_load(committed.read_text()) == description.value


def test_every_operation_is_described_in_words(description: Description) -> None:
    ids = [operation.id for operation in OPERATIONS]
    assert len(set(ids)) == len(ids)
    for operation in OPERATIONS:
        assert operation.summary
        assert operation.returns
    for name, schema in description.value["components"]["schemas"].items():
        assert schema not in ({}, {"type": "object"}), name


def test_moves_are_a_union_told_apart_by_type(description: Description) -> None:
    schemas = description.value["components"]["schemas"]
    for ruleset in current().values():
        name = "".join(part.capitalize() for part in ruleset.name.split("-"))
        union = schemas[f"{name}Move"]
        mapping = union["discriminator"]["mapping"]
        assert union["discriminator"]["propertyName"] == "type"
        assert [{"$ref": reference} for reference in mapping.values()] == union["oneOf"]
        for kind, reference in mapping.items():
            shape = schemas[reference.rsplit("/", 1)[-1]]
            assert shape["properties"]["type"]["enum"] == [kind] or (
                shape["properties"]["type"].get("const") == kind
            )
            assert shape["additionalProperties"] is False
            assert "type" in shape["required"]


def test_every_problem_has_a_page_for_programs_and_for_people(client: FlaskClient) -> None:
    listed = client.get("/problems").get_json()["items"]
    assert [item["slug"] for item in listed] == list(PROBLEMS)
    for item in listed:
        page = client.get(item["url"])
        assert page.get_json()["status"] == item["status"]
        for part in ("meaning", "cause", "fix", "example"):
            assert page.get_json()[part]
        html = client.get(item["url"], headers={"Accept": "text/html"})
        assert html.mimetype == "text/html"
        assert PROBLEMS[item["slug"]].title in html.text
        assert "<script" not in html.text
    assert client.get("/problems/nonsense").status_code == 404


def test_every_refusal_has_a_page_and_is_described_where_it_is_given() -> None:
    def below(kind: type) -> set[type]:
        return {kind, *(deeper for child in kind.__subclasses__() for deeper in below(child))}

    slugs = {kind.slug for kind in below(refusals.Refusal) if "slug" in vars(kind)}  # type: ignore[attr-defined]
    assert slugs <= set(PROBLEMS)
    described = {slug for operation in OPERATIONS for slug in problems_of(operation)}
    assert described | {"not-found"} == set(PROBLEMS)


@pytest.mark.parametrize(
    ("method", "path", "status", "problem"),
    [
        ("GET", "/nowhere", 404, "not_found"),
        ("GET", "/games/", 404, "not_found"),
        ("PATCH", "/games", 405, "method_not_allowed"),
        ("DELETE", "/", 405, "method_not_allowed"),
        ("POST", "/games", 401, "unauthenticated"),
        ("GET", "/rulesets/snap", 404, "ruleset_not_found"),
        ("GET", "/rulesets/jokers-go-boom/9", 404, "ruleset_not_found"),
        ("GET", "/?x=1", 400, "invalid_query"),
        ("GET", "/players//me", 404, "not_found"),
    ],
)
def test_every_refusal_is_a_problem_with_all_its_headers(
    client: FlaskClient, method: str, path: str, status: int, problem: str
) -> None:
    answer = client.open(path, method=method)
    body = answer.get_json()
    assert (answer.status_code, body["code"]) == (status, problem)
    assert answer.mimetype == "application/problem+json"
    assert body["instance"] == f"urn:uuid:{answer.headers['Request-Id']}"
    assert body["type"] == f"/problems/{problem.replace('_', '-')}"
    check_headers(answer)
    assert ("Allow" in answer.headers) == (status == 405)


def check_headers(answer: Any) -> None:
    assert answer.headers["Access-Control-Allow-Origin"] == "*"
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert "default-src 'none'" in answer.headers["Content-Security-Policy"]
    assert "Idempotent-Replayed" in answer.headers["Access-Control-Expose-Headers"]
    assert len(answer.headers["Request-Id"]) == 36
    assert "Access-Control-Allow-Credentials" not in answer.headers


def test_a_browser_of_another_origin_may_ask(client: FlaskClient) -> None:
    answer = client.options(
        "/games",
        headers={"Origin": "https://example.org", "Access-Control-Request-Method": "POST"},
    )
    assert answer.status_code == 200
    check_headers(answer)
    assert "Idempotency-Key" in answer.headers["Access-Control-Allow-Headers"]
    assert "DELETE" in answer.headers["Access-Control-Allow-Methods"]
    assert "HEAD" in answer.headers["Allow"]


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/docs",
        "/openapi.yaml",
        "/openapi.json",
        "/rulesets",
        "/rulesets/jokers-go-boom",
        "/problems",
        "/livez",
        "/readyz",
    ],
)
def test_what_is_about_the_service_is_there(client: FlaskClient, path: str) -> None:
    answer = client.get(path)
    assert answer.status_code == 200
    check_headers(answer)
    assert client.head(path).data == b""


def test_the_page_of_the_description_needs_nothing_from_elsewhere(client: FlaskClient) -> None:
    page = client.get("/docs").text
    assert "<script" not in page
    assert "http://" not in page
    assert "https://" not in page
    for operation in OPERATIONS:
        assert f'id="{operation.id}"' in page
    style = client.get("/static/page.css")
    assert (style.status_code, style.mimetype) == (200, "text/css")
    style.close()


def test_the_description_is_the_same_in_both_forms(client: FlaskClient, description: Any) -> None:
    assert yaml.safe_load(client.get("/openapi.yaml").text) == description.value
    assert json.loads(client.get("/openapi.json").text) == description.value


def test_a_ruleset_is_described_whole(client: FlaskClient) -> None:
    for item in client.get("/rulesets").get_json()["items"]:
        ruleset = client.get(item["url"]).get_json()
        assert ruleset["rules"][0]["text"]
        assert ruleset["moves"]["$defs"]
        assert ruleset["options"]["$defs"]
        assert "#/components" not in json.dumps(ruleset)


def test_the_process_lives_and_is_not_ready_while_the_database_is_away(
    tmp_path: Any, description: Description
) -> None:
    away = connect(f"postgresql://x@/x?host={tmp_path}", SecretBox(), KEYRING, pool_size=1)
    app = create_app(Services(database=away))
    app.test_client_class = description.checking_client()
    client = app.test_client()
    assert client.get("/livez").status_code == 200
    for path in ("/readyz", "/games", f"/games/01j{'0' * 23}"):
        answer = client.get(path)
        assert (answer.status_code, answer.get_json()["code"]) == (503, "database_unavailable")
        assert answer.headers["Retry-After"] == "1"
        check_headers(answer)


def test_a_fault_is_a_problem_that_tells_nothing_of_it(
    services: Services, description: Description, log_lines: Any
) -> None:
    def fail() -> Any:
        raise RuntimeError("the stock is 4h 7d")

    app = create_app(replace(services, now=fail))
    app.test_client_class = description.checking_client()
    answer = app.test_client().post("/players", json={"name": "Ilze"})
    assert (answer.status_code, answer.get_json()["code"]) == (500, "internal_error")
    assert "4h" not in answer.text
    check_headers(answer)
    logged = log_lines.getvalue()
    assert "RuntimeError" in logged
    assert "test_edge.py" in logged
    assert "4h" not in logged


def test_a_body_where_none_is_asked_for_is_ignored(ilze: Person) -> None:
    assert ilze.get("/players/me", data=b"{").status_code == 200
