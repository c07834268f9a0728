"""Values of several shapes: told apart by a field, or one of many."""

from collections.abc import Mapping, Sequence
from typing import Any

from marshmallow import Schema, ValidationError, fields

from service.canonical import dump_json
from service.play.bounded import Bounded


class Tagged(fields.Field[Any]):
    """A value whose shape is named by one of its fields, `type` unless it is another.

    `schemas` are the shapes by what stands there; `name` is what
    `openapi.yaml` calls the union. `remembers` is how many good values are
    kept with what was built of them, where that never changes.
    """

    def __init__(
        self,
        name: str,
        schemas: Mapping[str, Schema],
        *,
        tag: str = "type",
        remembers: int = 0,
        **kwargs: Any,  # noqa: ANN401
    ) -> None:
        super().__init__(**kwargs)
        self.tag = tag
        self.union = name
        self.schemas = schemas
        self._known: Bounded[str, Any] | None = Bounded(remembers) if remembers else None

    def _deserialize(
        self,
        value: Any,  # noqa: ANN401  JSON enters here
        attr: str | None,  # noqa: ARG002  marshmallow's signature
        data: Mapping[str, Any] | None,  # noqa: ARG002
        **kwargs: Any,  # noqa: ANN401, ARG002
    ) -> Any:  # noqa: ANN401  what the shape's schema builds
        if self._known is None:
            return self._load(value)
        text = dump_json(value)
        found = self._known.get(text)
        if found is None:
            found = self._load(value)
            self._known.put(text, found)
        return found

    def _load(self, value: Any) -> Any:  # noqa: ANN401  JSON in, what the shape's schema builds out
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
