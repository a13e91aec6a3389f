"""Checks JSON against the part of JSON Schema that docs/*.schema.json use.

usage: schema.py SCHEMA FILE...
"""

import json
import os
import re
import sys

TYPES = {"object": dict, "array": list, "string": str, "integer": int,
         "number": (int, float), "boolean": bool, "null": type(None)}
KNOWN = {"$schema", "$defs", "$ref", "title", "description", "type", "required",
         "properties", "additionalProperties", "items", "minItems", "maxItems",
         "uniqueItems", "enum", "const", "pattern", "minimum", "maximum", "oneOf"}


def has_type(value, name):
    if isinstance(value, bool):
        return name == "boolean"
    return isinstance(value, TYPES[name])


def validate(value, schema, path="$", root=None):
    """Raises AssertionError with the path of the first thing that is wrong."""
    root = root or schema
    if "$ref" in schema:
        name = schema["$ref"].removeprefix("#/$defs/")
        validate(value, root["$defs"][name], path, root)
        return
    assert set(schema) <= KNOWN, (path, set(schema) - KNOWN)
    if "oneOf" in schema:
        faults = []
        for choice in schema["oneOf"]:
            try:
                validate(value, choice, path, root)
            except AssertionError as fault:
                faults.append(fault)
        assert len(faults) == len(schema["oneOf"]) - 1, (path, faults)
    types = schema.get("type")
    if types:
        names = types if isinstance(types, list) else [types]
        assert any(has_type(value, name) for name in names), (path, types, value)
    assert value in schema.get("enum", [value]), (path, value)
    constant = schema.get("const", value)
    assert value == constant and isinstance(value, bool) == \
        isinstance(constant, bool), (path, value)
    assert not isinstance(value, str) or re.search(schema.get("pattern", ""), value), \
        (path, value)
    if has_type(value, "number"):
        assert schema.get("minimum", value) <= value <= schema.get("maximum", value), \
            (path, value)
    if isinstance(value, list):
        assert schema.get("minItems", 0) <= len(value) <= \
            schema.get("maxItems", len(value)), path
        texts = [json.dumps(item, sort_keys=True) for item in value]
        assert not schema.get("uniqueItems") or len(texts) == len(set(texts)), path
        for i, item in enumerate(value):
            validate(item, schema.get("items", {}), f"{path}[{i}]", root)
    if isinstance(value, dict):
        properties = schema.get("properties", {})
        assert set(schema.get("required", [])) <= set(value), \
            (path, set(schema["required"]) - set(value))
        others = schema.get("additionalProperties", True)
        assert others is not False or set(value) <= set(properties), \
            (path, set(value) - set(properties))
        for name, item in value.items():
            validate(item, properties.get(name, others if isinstance(others, dict)
                                          else {}), f"{path}.{name}", root)


def load(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def load_documented(name):
    """The schema of that name in docs/."""
    here = os.path.dirname(os.path.abspath(__file__))
    return load(os.path.join(here, *[os.pardir] * 4, "docs", name + ".schema.json"))


if __name__ == "__main__":
    for name in sys.argv[2:]:
        validate(load(name), load(sys.argv[1]))
