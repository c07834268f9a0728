"""About the service itself: its map, its description, its problems, its health."""

import json

import structlog
from flask import render_template

from service.api import answers
from service.api.operation import HTML, JSON, YAML, Answer, Call, Operation, Returns
from service.api.problem_pages import ProblemPage
from service.api.problems import PROBLEMS
from service.api.web import page_answer
from service.canonical import JsonMap
from service.play.clocks import is_clock_right
from service.play.refusals import Refusal
from service.store.database import is_ready
from service.store.schema import head_revision

CACHED = {"Cache-Control": "public, max-age=300"}
LIVE = {"Cache-Control": "no-store"}


class ProblemNotFound(Refusal):
    """No problem has that slug."""

    slug = "not-found"
    message = "There is no problem `{name}`: `GET /problems` lists them."


class ClockDiffers(Refusal):
    """The machine tells another time than the database."""

    slug = "not-ready"
    message = "The clocks of this machine and of the database differ."


class NotReady(Refusal):
    """The schema is of another release."""

    slug = "not-ready"
    message = "The database's schema is of another release: run `fairdeal migrate`."


def get_map(call: Call) -> Answer:
    """The way in: for programs a map, for people the lobby."""
    if call.request.accept_mimetypes.best_match([JSON, HTML]) == HTML:
        return page_answer("lobby")
    links = {
        "docs": "/docs",
        "openapi": "/openapi.yaml",
        "rulesets": "/rulesets",
        "games": "/games",
        "players": "/players",
        "problems": "/problems",
        "keys": "/keys",
        "checkpoint": "/checkpoints/latest",
        "ready": "/readyz",
    }
    headers = {**CACHED, "Vary": "Accept"}
    return Answer(200, {"service": "Fairdeal", "links": links}, headers)


def get_openapi_yaml(call: Call) -> Answer:
    """The description as YAML."""
    return Answer(200, call.described.yaml, CACHED, YAML)


def get_openapi_json(call: Call) -> Answer:
    """The description as JSON."""
    return Answer(200, call.described.json, CACHED)


def get_docs(call: Call) -> Answer:
    """The description as a page."""
    return Answer(200, call.described.page, CACHED, HTML)


def get_problems(_call: Call) -> Answer:
    """Every kind of problem."""
    items = [_problem_item(page) for page in PROBLEMS.values()]
    return Answer(200, {"items": items, "next_cursor": None}, CACHED)


def get_problem(call: Call, slug: str) -> Answer:
    """One kind of problem, for programs or for people."""
    page = PROBLEMS.get(slug)
    if page is None:
        raise ProblemNotFound(name=slug)
    headers = {**CACHED, "Vary": "Accept"}
    if call.request.accept_mimetypes.best_match([JSON, HTML]) == HTML:
        example = json.dumps(_example(page), indent=2, ensure_ascii=False)
        text = render_template("problem.html", problem=page, example=example)
        return Answer(200, text, headers, HTML)
    body: JsonMap = {
        **_problem_item(page),
        "meaning": page.meaning,
        "cause": page.cause,
        "fix": page.fix,
        "example": _example(page),
    }
    return Answer(200, body, headers)


def get_livez(_call: Call) -> Answer:
    """Whether the process lives: it never asks the database."""
    return Answer(200, {"status": "live"}, LIVE)


def get_readyz(call: Call) -> Answer:
    """Whether it can serve: the database answers, fits this release, and tells the same time."""
    if not is_ready(call.services.database, head_revision()):
        raise NotReady
    if not is_clock_right(call.services):
        structlog.get_logger().error("clock_differs", is_right=False)
        raise ClockDiffers
    return Answer(200, {"status": "ready"}, LIVE)


def _problem_item(page: ProblemPage) -> JsonMap:
    return {
        "slug": page.slug,
        "code": page.code,
        "status": page.status,
        "title": page.title,
        "url": f"/problems/{page.slug}",
    }


def _example(page: ProblemPage) -> JsonMap:
    return {
        "type": f"/problems/{page.slug}",
        "title": page.title,
        "status": page.status,
        "detail": page.meaning,
        "instance": "urn:uuid:0b0e6e0c-7b1e-4c60-9a55-0d3f0a1c2b3d",
        "code": page.code,
        **page.example,
    }


OPERATIONS = (
    Operation(
        id="map",
        method="GET",
        path="/",
        tag="About",
        summary="The way in",
        view=get_map,
        is_open=True,
        description="A browser gets the lobby.",
        returns={200: Returns("Where things are.", {JSON: answers.MapSchema(), HTML: None})},
    ),
    Operation(
        id="openapiYaml",
        method="GET",
        path="/openapi.yaml",
        tag="About",
        summary="This description, as YAML",
        view=get_openapi_yaml,
        is_open=True,
        returns={200: Returns("The description.", {YAML: answers.AnythingSchema()})},
    ),
    Operation(
        id="openapiJson",
        method="GET",
        path="/openapi.json",
        tag="About",
        summary="This description, as JSON",
        view=get_openapi_json,
        is_open=True,
        returns={200: Returns("The description.", {JSON: answers.AnythingSchema()})},
    ),
    Operation(
        id="docs",
        method="GET",
        path="/docs",
        tag="About",
        summary="This description, as a page",
        view=get_docs,
        is_open=True,
        returns={200: Returns("The page.", {HTML: None})},
    ),
    Operation(
        id="listProblems",
        method="GET",
        path="/problems",
        tag="About",
        summary="Every kind of problem",
        view=get_problems,
        is_open=True,
        returns={200: Returns("The kinds.", {JSON: answers.ProblemsSchema()})},
    ),
    Operation(
        id="describeProblem",
        method="GET",
        path="/problems/{slug}",
        tag="About",
        summary="What a problem means, and what to do",
        view=get_problem,
        is_open=True,
        returns={200: Returns("The problem.", {JSON: answers.ProblemPageSchema(), HTML: None})},
        refuses=("not-found",),
    ),
    Operation(
        id="live",
        method="GET",
        path="/livez",
        tag="About",
        summary="Whether the process lives",
        view=get_livez,
        is_open=True,
        returns={200: Returns("It lives.", {JSON: answers.HealthSchema()})},
    ),
    Operation(
        id="ready",
        method="GET",
        path="/readyz",
        tag="About",
        summary="Whether it can serve",
        view=get_readyz,
        is_open=True,
        returns={200: Returns("It can.", {JSON: answers.HealthSchema()})},
        refuses=("not-ready",),
    ),
)
