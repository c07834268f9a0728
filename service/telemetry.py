"""Traces of requests, for OpenTelemetry: an extra, asked for by `FAIRDEAL_TELEMETRY=on`.

A span says which operation was called, of which game, and how it ended: what
the log's line says, and nothing of what was sent or shown. Where spans go is
said by OpenTelemetry's own variables, such as `OTEL_EXPORTER_OTLP_ENDPOINT`.
"""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from service.api.doorway import GAME, REQUEST_ID, ROUTE

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment
    from opentelemetry.sdk.trace.export import SpanExporter
    from opentelemetry.trace import Span, Tracer

SERVICE = "fairdeal"
SERVER_FAULT = 500


class NoTelemetry(Exception):
    """The packages for it are not installed; the message says how they are."""


class Traced:
    """The application, each of its requests a span; a caller's `traceparent` is its parent."""

    def __init__(self, application: "WSGIApplication", tracer: "Tracer") -> None:
        from opentelemetry.propagate import extract  # noqa: PLC0415  an extra
        from opentelemetry.trace import SpanKind  # noqa: PLC0415

        self._application = application
        self._tracer = tracer
        self._extract: Callable[[dict[str, str]], Any] = extract
        self._kind = SpanKind.SERVER

    def __call__(
        self, environ: "WSGIEnvironment", start_response: "StartResponse"
    ) -> Iterable[bytes]:
        """Answer as the application does."""
        parent = {"traceparent": environ.get("HTTP_TRACEPARENT", "")}
        with self._tracer.start_as_current_span(
            environ["REQUEST_METHOD"],
            self._extract(parent),
            self._kind,
            record_exception=False,  # an exception's text may hold anything
            set_status_on_exception=False,
        ) as span:

            def start(status: str, headers: list[tuple[str, str]], *rest: Any) -> Any:  # noqa: ANN401
                _describe(span, environ, int(status[:3]))
                return start_response(status, headers, *rest)

            return self._application(environ, start)


def _describe(span: "Span", environ: "WSGIEnvironment", status: int) -> None:
    """Say what the line of the log says."""
    from opentelemetry.trace import StatusCode  # noqa: PLC0415

    operation = environ.get(ROUTE)
    if operation:
        span.update_name(operation)
    facts = {
        "http.request.method": environ["REQUEST_METHOD"],
        "http.response.status_code": status,
        "fairdeal.operation": operation or "none",
        "fairdeal.game": environ.get(GAME),
        "fairdeal.request_id": str(environ.get(REQUEST_ID, "")),
    }
    span.set_attributes({name: value for name, value in facts.items() if value is not None})
    if status >= SERVER_FAULT:
        span.set_status(StatusCode.ERROR)


def traced(application: "WSGIApplication", exporter: "SpanExporter | None" = None) -> Traced:
    """The application, traced to the exporter, or to where the environment says.

    Raises NoTelemetry.
    """
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import (  # noqa: PLC0415
            OTLPSpanExporter,
        )
        from opentelemetry.sdk.resources import Resource  # noqa: PLC0415
        from opentelemetry.sdk.trace import TracerProvider  # noqa: PLC0415
        from opentelemetry.sdk.trace.export import BatchSpanProcessor  # noqa: PLC0415
    except ImportError as error:
        message = (
            "FAIRDEAL_TELEMETRY is on: pip install --require-hashes -r requirements/telemetry.txt"
        )
        raise NoTelemetry(message) from error
    provider = TracerProvider(resource=Resource.create({"service.name": SERVICE}))
    provider.add_span_processor(BatchSpanProcessor(exporter or OTLPSpanExporter()))
    return Traced(application, provider.get_tracer(SERVICE))
