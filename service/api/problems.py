"""Every problem that the service answers with: its page, and how it comes about.

RFC 9457. The catalogue is the one list: a refusal names its slug, the slug
names the status and the page, and `openapi.yaml` takes both from here.
"""

import traceback
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from uuid import UUID

import structlog
from flask import Flask, Response, request
from werkzeug.exceptions import HTTPException

from service import metrics
from service.api.doorway import REQUEST_ID
from service.api.languages import detail_of, language_of, translated
from service.api.problem_pages import PAGES, ProblemPage
from service.canonical import JsonMap, dump_json
from service.play.refusals import Refusal
from service.store.database import StoreUnavailable

PROBLEM_JSON = "application/problem+json"
RETRY_SECONDS = 1

PROBLEMS: Mapping[str, ProblemPage] = MappingProxyType({page.slug: page for page in PAGES})

BY_STATUS: Mapping[int, str] = MappingProxyType(
    {
        404: "not-found",
        405: "method-not-allowed",
        413: "body-too-large",
        415: "unsupported-media-type",
    }
)


@dataclass(frozen=True, slots=True)
class Problem:
    """One problem, as it is answered; `members` are what programs read beside the text."""

    page: ProblemPage
    detail: str
    members: JsonMap = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)

    def response(self, request_id: UUID, language: str) -> Response:
        """The problem as `application/problem+json`."""
        metrics.PROBLEMS.labels(self.page.code).inc()
        body: JsonMap = {
            "type": f"/problems/{self.page.slug}",
            "title": translated(self.page.title, language),
            "status": self.page.status,
            "detail": self.detail,
            "instance": request_id.urn,
            "code": self.page.code,
            **self.members,
        }
        answer = Response(dump_json(body), self.page.status, content_type=PROBLEM_JSON)
        answer.headers.extend(self.headers)
        answer.headers["Cache-Control"] = "no-store"
        answer.headers["Content-Language"] = language
        return answer


def register_problems(app: Flask) -> None:
    """Answer whatever goes wrong, the router's refusals too, with a problem."""
    app.register_error_handler(Exception, answer_problem)


def answer_problem(error: Exception) -> Response:
    """The problem that the exception is to the client."""
    language = language_of(request)
    return _problem(error, language).response(request.environ[REQUEST_ID], language)


def _problem(error: Exception, language: str) -> Problem:
    match error:
        case Refusal():
            return _refused(error, language)
        case HTTPException():
            return _by_status(error, language)
        case StoreUnavailable():
            retry = {"Retry-After": str(RETRY_SECONDS)}
            detail = translated(UNAVAILABLE, language)
            return Problem(PROBLEMS["database-unavailable"], detail, headers=retry)
        case _:
            _log_fault(error)
            return Problem(PROBLEMS["internal-error"], translated(FAILED, language))


FAILED = "The service failed. It has been noted."
UNAVAILABLE = (
    "The database did not answer in time. If you sent a write, it may or may not have been done: "
    "send it again with the same Idempotency-Key."
)


def _refused(error: Refusal, language: str) -> Problem:
    page = PROBLEMS[error.slug]
    headers: dict[str, str] = {}
    if page.status == 401:  # noqa: PLR2004  the HTTP status
        headers["WWW-Authenticate"] = 'Bearer realm="fairdeal"'
    if page.status in (429, 503):
        headers["Retry-After"] = str(getattr(error, "retry_after", RETRY_SECONDS))
    detail = detail_of(error, language)
    return Problem(page, detail, members={**error.members, **_params(error)}, headers=headers)


def _params(error: Refusal) -> JsonMap:
    """What the message was filled with, where a program can use it and it is not said already."""
    return {
        name: value
        for name, value in error.params.items()
        if isinstance(value, int | str) and name not in ("reason", "detail")
    }


def _by_status(error: HTTPException, language: str) -> Problem:
    """A refusal of the router's or of the server's, with the headers that belong to it."""
    slug = BY_STATUS.get(error.code or 0, "bad-request")
    page = PROBLEMS[slug]
    kept = {
        name: value
        for name, value in error.get_headers()
        if name.lower() not in ("content-type", "content-length")
    }
    return Problem(page, translated(page.meaning, language), headers=kept)


def _log_fault(error: Exception) -> None:
    """Note where it failed, not with which values: those may be somebody's cards."""
    places = [
        f"{frame.filename}:{frame.lineno} {frame.name}"
        for frame in traceback.extract_tb(error.__traceback__)
    ]
    structlog.get_logger().error(
        "unhandled_exception",
        request_id=str(request.environ[REQUEST_ID]),
        exception=type(error).__name__,
        places=places[-12:],
    )
