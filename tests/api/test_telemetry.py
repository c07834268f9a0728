"""Traces say what the log's line says, and nothing that a player sent or was shown."""

import json
import sys
from collections.abc import Callable

import pytest
from api.test_games import opened
from conftest import Person
from flask import Flask
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from werkzeug.test import Client

from service import telemetry
from service.telemetry import NoTelemetry, Traced, traced

PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


@pytest.fixture
def spans(monkeypatch: pytest.MonkeyPatch) -> InMemorySpanExporter:
    """Where spans are exported to, at once."""
    monkeypatch.setattr("opentelemetry.sdk.trace.export.BatchSpanProcessor", SimpleSpanProcessor)
    return InMemorySpanExporter()


def test_a_request_is_a_span(
    app: Flask, someone: Callable[..., Person], spans: InMemorySpanExporter
) -> None:
    person = someone("Ilze")
    game = opened(person)["game"]
    client = Client(traced(app.wsgi_app, spans))
    headers = {**person.headers, "traceparent": PARENT}
    view = client.get(f"/games/{game}", headers=headers)
    assert view.status_code == 200
    client.post(f"/games/{game}/moves", json={"move": {}}, headers=person.headers)
    client.get("/nowhere")
    first, second, third = spans.get_finished_spans()
    assert first.name == "viewGame"
    assert first.attributes["fairdeal.game"] == game
    assert first.attributes["http.response.status_code"] == 200
    assert f"{first.context.trace_id:032x}" == PARENT.split("-")[1]
    assert (second.name, second.attributes["http.response.status_code"]) == ("makeMoves", 422)
    assert third.attributes["fairdeal.operation"] == "none"
    told = json.dumps([span.to_json() for span in (first, second, third)])
    for secret in (person.headers["Authorization"].split()[1], person.id, "Ilze", "hand"):
        assert secret not in told


def test_a_fault_is_marked_and_its_text_is_not_told(spans: InMemorySpanExporter) -> None:
    def fails(_environ: object, _start: object) -> list[bytes]:
        message = "Kd 7h are in the hand"
        raise RuntimeError(message)

    with pytest.raises(RuntimeError):
        Client(traced(fails, spans)).get("/")
    (span,) = spans.get_finished_spans()
    assert "Kd" not in span.to_json()


def test_an_answer_of_a_fault_is_marked(spans: InMemorySpanExporter) -> None:
    def answers(_environ: object, start: object) -> list[bytes]:
        start("500 INTERNAL SERVER ERROR", [])
        return [b""]

    Client(traced(answers, spans)).get("/")
    (span,) = spans.get_finished_spans()
    assert span.status.status_code.name == "ERROR"


def test_without_its_packages_it_is_said_how_to_get_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry.sdk.trace", None)
    with pytest.raises(NoTelemetry, match=r"telemetry\.txt"):
        traced(lambda _environ, _start: [])
    assert telemetry.Traced is Traced
