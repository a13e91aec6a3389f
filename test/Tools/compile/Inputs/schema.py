"""Checks JSON against the part of JSON Schema that docs/schedule.schema.json uses."""

import re

TYPES = {"object": dict, "array": list, "string": str, "integer": int,
         "number": (int, float), "boolean": bool, "null": type(None)}
KNOWN = {"$schema", "title", "description", "type", "required", "properties",
         "additionalProperties", "items", "minItems", "enum", "const", "pattern",
         "minimum", "maximum"}


def has_type(value, name):
    if isinstance(value, bool):
        return name == "boolean"
    return isinstance(value, TYPES[name])


def validate(value, schema, path="$"):
    """Raises AssertionError with the path of the first thing that is wrong."""
    assert set(schema) <= KNOWN, (path, set(schema) - KNOWN)
    types = schema.get("type")
    if types:
        names = types if isinstance(types, list) else [types]
        assert any(has_type(value, name) for name in names), (path, types, value)
    assert value in schema.get("enum", [value]), (path, value)
    assert value == schema.get("const", value), (path, value)
    assert not isinstance(value, str) or re.search(schema.get("pattern", ""), value), \
        (path, value)
    if has_type(value, "number"):
        assert schema.get("minimum", value) <= value <= schema.get("maximum", value), \
            (path, value)
    if isinstance(value, list):
        assert len(value) >= schema.get("minItems", 0), path
        for i, item in enumerate(value):
            validate(item, schema.get("items", {}), f"{path}[{i}]")
    if isinstance(value, dict):
        properties = schema.get("properties", {})
        assert set(schema.get("required", [])) <= set(value), \
            (path, set(schema["required"]) - set(value))
        assert schema.get("additionalProperties", True) or \
            set(value) <= set(properties), (path, set(value) - set(properties))
        for name, item in value.items():
            validate(item, properties.get(name, {}), f"{path}.{name}")
