"""`openapi.yaml` as a judge: every answer is held against it."""

from typing import Any

import jsonschema_rs
import yaml
from flask.testing import FlaskClient
from werkzeug.test import TestResponse


class Undescribed(AssertionError):
    """An answer that the description does not know, or knows otherwise."""


class Description:
    """The description, and a validator for each answer in it."""

    def __init__(self, text: str) -> None:
        self.value: dict[str, Any] = yaml.safe_load(text)
        self._validators: dict[tuple[str, str, str, str], Any] = {}

    @property
    def operations(self) -> list[tuple[str, str]]:
        return [
            (method.upper(), path)
            for path, methods in self.value["paths"].items()
            for method in methods
        ]

    def check(self, method: str, path: str, response: TestResponse) -> None:
        """Hold the answer to a route against what is described."""
        operation = self.value["paths"].get(path, {}).get(method.lower())
        if operation is None:
            raise Undescribed(f"{method} {path}")
        answer = operation["responses"].get(str(response.status_code))
        if answer is None:
            raise Undescribed(f"{method} {path} → {response.status_code}: {response.text[:500]}")
        content = answer.get("content", {})
        if not content:
            assert response.data == b"", f"{method} {path}: a body where none is described"
            return
        if response.mimetype not in content:
            raise Undescribed(f"{method} {path} → {response.mimetype}")
        schema = content[response.mimetype]["schema"]
        if response.mimetype in ("application/json", "application/problem+json"):
            self._validator(method, path, response, schema).validate(response.get_json())

    def _validator(self, method: str, path: str, response: TestResponse, schema: Any) -> Any:
        key = (method, path, str(response.status_code), response.mimetype)
        if key not in self._validators:
            whole = _strict({**schema, "components": self.value["components"]})
            self._validators[key] = jsonschema_rs.Draft202012Validator(whole)
        return self._validators[key]

    def checking_client(self) -> type[FlaskClient]:
        """A test client that checks every answer it gets."""
        description = self

        class CheckingClient(FlaskClient):
            def open(self, *args: Any, **kwargs: Any) -> TestResponse:
                response = super().open(*args, **kwargs)
                environ = response.request.environ
                adapter = self.application.url_map.bind_to_environ(environ)
                if environ["REQUEST_METHOD"] in ("OPTIONS", "HEAD"):
                    return response
                try:
                    rule, _ = adapter.match(return_rule=True)
                except Exception:  # noqa: BLE001  no route: then it is a problem, or a test fails
                    assert response.mimetype == "application/problem+json"
                    return response
                if rule.endpoint == "static":
                    return response
                path = rule.rule.replace("<", "{").replace(">", "}")
                description.check(environ["REQUEST_METHOD"], path, response)
                return response

        return CheckingClient


def _strict(schema: Any) -> Any:
    """The schema with every object closed that does not say it is open.

    Clients are told to expect more members; the tests want each one described.
    """
    if isinstance(schema, list):
        return [_strict(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    strict = {key: _strict(value) for key, value in schema.items()}
    if strict.get("type") == "object" and "properties" in strict:
        strict.setdefault("additionalProperties", False)
    return strict
