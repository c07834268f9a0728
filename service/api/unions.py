"""Values of several shapes: told apart by a field, or one of many."""

from collections.abc import Mapping, Sequence
from typing import Any

from marshmallow import Schema, ValidationError, fields


class Tagged(fields.Field[Any]):
    """A value whose shape is named by one of its fields, `type` unless it is another.

    `schemas` are the shapes by what stands there; `name` is what
    `openapi.yaml` calls the union.
    """

    def __init__(
        self,
        name: str,
        schemas: Mapping[str, Schema],
        *,
        tag: str = "type",
        **kwargs: Any,  # noqa: ANN401
    ) -> None:
        super().__init__(**kwargs)
        self.tag = tag
        self.union = name
        self.schemas = schemas

    def _deserialize(
        self,
        value: Any,  # noqa: ANN401  JSON enters here
        attr: str | None,  # noqa: ARG002  marshmallow's signature
        data: Mapping[str, Any] | None,  # noqa: ARG002
        **kwargs: Any,  # noqa: ANN401, ARG002
    ) -> Any:  # noqa: ANN401  what the shape's schema builds
        if not isinstance(value, dict):
            message = "Not a JSON object."
            raise ValidationError(message)
        kind = value.get(self.tag)
        if not isinstance(kind, str) or kind not in self.schemas:
            known = ", ".join(f"`{name}`" for name in self.schemas)
            raise ValidationError({self.tag: [f"Must be one of {known}."]})
        return self.schemas[kind].load(value)


class AnyOf(fields.Field[Any]):
    """A value of one of several shapes, where the field before it says which; for descriptions."""

    def __init__(self, shapes: Sequence[Schema | fields.Field[Any]], **kwargs: Any) -> None:  # noqa: ANN401
        super().__init__(**kwargs)
        self.shapes = shapes
