"""From marshmallow's schemas to JSON Schema, tagged unions included.

apispec turns a field that it doesn't know into an empty schema without a
word, so each of ours is taught here, and the tests look at what comes out.
"""

from typing import Any, TypeAlias

from apispec import APISpec
from apispec.ext.marshmallow import MarshmallowPlugin
from marshmallow import Schema, fields

from service.api.schemas import move_union
from service.api.unions import AnyOf, Tagged
from service.rules.fields import CardField, StrictInteger
from service.rules.ruleset import AnyRuleset

OPENAPI_VERSION = "3.1.1"
JsonSchema: TypeAlias = "dict[str, Any]"


def new_spec(title: str, version: str, **options: object) -> tuple[APISpec, MarshmallowPlugin]:
    """An empty description, and the plugin that fills it."""
    plugin = MarshmallowPlugin(schema_name_resolver=_name)
    spec = APISpec(title, version, OPENAPI_VERSION, plugins=[plugin], **options)
    converter = plugin.converter
    if converter is None:
        message = "the plugin has no converter until it is part of a spec"
        raise TypeError(message)
    converter.field_mapping[CardField] = ("string", None)
    converter.field_mapping[StrictInteger] = ("integer", None)
    teach: Any = converter.add_attribute_function
    teach(_describe_union)
    return spec, plugin


def json_schema(schema: Schema) -> JsonSchema:
    """The schema as JSON Schema that stands alone."""
    spec, plugin = new_spec("schema", "1")
    return _standing_alone(spec, _reference(plugin, schema))


def moves_json_schema(ruleset: AnyRuleset) -> JsonSchema:
    """The ruleset's moves as JSON Schema: one of its shapes, told apart by `type`."""
    spec, plugin = new_spec("schema", "1")
    converter: Any = plugin.converter
    union: JsonSchema = converter.field2property(move_union(ruleset))
    return _standing_alone(spec, union)


def _standing_alone(spec: APISpec, root: JsonSchema) -> JsonSchema:
    """The root with the components that it refers to beside it, as `$defs`."""
    components = spec.to_dict()["components"].get("schemas", {})
    whole = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **root,
        "$defs": components,
    }
    alone: JsonSchema = _repointed(whole)
    return alone


def _repointed(value: Any) -> Any:  # noqa: ANN401  JSON
    if isinstance(value, dict):
        return {key: _repointed(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_repointed(item) for item in value]
    if isinstance(value, str):
        return value.replace("#/components/schemas/", "#/$defs/")
    return value


def _describe_union(self: Any, field: fields.Field[Any], **_: object) -> JsonSchema:  # noqa: ANN401
    """What the converter says of a union; nothing of any other field."""
    match field:
        case Tagged():
            return _tagged(self, field)
        case AnyOf():
            shapes = [_shape(self, shape) for shape in field.shapes]
            shapes += [{"type": "null"}] if field.allow_none else []
            return shapes[0] if len(shapes) == 1 else {"anyOf": shapes}
        case _:
            return {}


def _tagged(converter: Any, field: Tagged) -> JsonSchema:  # noqa: ANN401
    """A reference to the union, which is described once: `oneOf` with its discriminator."""
    components = converter.spec.components
    if field.union not in components.schemas:
        shapes = {kind: _shape(converter, schema) for kind, schema in field.schemas.items()}
        union = {
            "oneOf": list(shapes.values()),
            "discriminator": {
                "propertyName": field.tag,
                "mapping": {kind: shape["$ref"] for kind, shape in shapes.items()},
            },
        }
        components.schema(field.union, union)
    return {"$ref": f"#/components/schemas/{field.union}"}


def _shape(converter: Any, shape: Schema | fields.Field[Any]) -> JsonSchema:  # noqa: ANN401
    described: JsonSchema = (
        converter.resolve_nested_schema(shape)
        if isinstance(shape, Schema)
        else converter.field2property(shape)
    )
    return described


def _reference(plugin: MarshmallowPlugin, schema: Schema) -> JsonSchema:
    resolver: Any = plugin.resolver
    described: JsonSchema = resolver.resolve_schema_dict(schema)
    return described


def _name(schema: Any) -> str:  # noqa: ANN401  a schema, its class or its name
    """A component's name: the class without `Schema`, after its ruleset's where it is of one."""
    kind = schema if isinstance(schema, type) else type(schema)
    name = str(kind.__name__).removesuffix("Schema")
    *_, folder, _module = ["", "", *kind.__module__.split(".")]
    if ".rules." not in kind.__module__:
        return name
    return "".join(part.capitalize() for part in folder.split("_")) + name
