"""The description as a page: no script, nothing from elsewhere, made from the same data."""

import json
import re
from typing import Any

from flask import render_template
from markupsafe import Markup, escape

QUOTED = re.compile("`([^`]+)`")


def prose(text: str) -> Markup:
    """The text as HTML: what stands in backticks is code."""
    return Markup(QUOTED.sub(r"<code>\1</code>", str(escape(text))))  # noqa: S704  escaped before


def docs_page(described: dict[str, Any]) -> str:
    """The page of `/docs`, as HTML."""
    return render_template(
        "docs.html",
        info=described["info"],
        tags=[tag["name"] for tag in described["tags"]],
        operations=_operations(described),
        schemas=_schemas(described),
    )


def _operations(described: dict[str, Any]) -> list[dict[str, Any]]:
    """Each operation with its path and method, as the page lists them."""
    return [
        {
            **operation,
            "path": path,
            "method": method.upper(),
            "tag": operation["tags"][0],
            "needs_key": bool(operation["security"]) and {} not in operation["security"],
            "body": _body_name(operation),
            "returned": _returned(operation),
        }
        for path, methods in described["paths"].items()
        for method, operation in methods.items()
    ]


def _schemas(described: dict[str, Any]) -> dict[str, str]:
    """Each component as indented JSON."""
    components = described["components"]["schemas"]
    return {
        name: json.dumps(components[name], indent=2, ensure_ascii=False)
        for name in sorted(components)
    }


def _body_name(operation: dict[str, Any]) -> str | None:
    content = operation.get("requestBody", {}).get("content", {})
    return next((_name(media) for media in content.values()), None)


def _returned(operation: dict[str, Any]) -> list[dict[str, Any]]:
    """The answers by status, each with the names of its schemas."""
    return [
        {
            "status": status,
            "lines": [line for line in answer["description"].splitlines() if line],
            "schemas": sorted(
                {name for media in answer.get("content", {}).values() if (name := _name(media))}
            ),
        }
        for status, answer in operation["responses"].items()
    ]


def _name(media: dict[str, Any]) -> str | None:
    reference = media["schema"].get("$ref")
    return None if reference is None else str(reference).rsplit("/", 1)[-1]
