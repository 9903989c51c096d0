"""The JSON schema (draft 2020-12) of an experiment file, for editors: keys, meanings, defaults, units, sweeps.

Pydantic's own schema, and what it cannot know: a list of values may stand for any value, and one of sections, which may
have names, for any section (a sweep); a percentage for any number; and a tagged section without a kind is of the
default kind.
"""

from copy import deepcopy
from dataclasses import MISSING, fields
from typing import Annotated, Any

from pydantic import BaseModel, TypeAdapter

from orchestrator.experiment.describe import kind_of, meanings, sections_within
from orchestrator.experiment.load import dump
from orchestrator.experiment.model import Experiment
from orchestrator.experiment.section import SpecSection
from orchestrator.experiment.units import PERCENTAGE

Schema = dict[str, Any]
_NOTES = ("title", "description", "default")
_NAMED = "Named"
_CALLED = "What this section of a sweep is called in tables and reports; made of its settings if left out."


def json_schema() -> Schema:
    schema = Experiment.model_json_schema()
    definitions: Schema = schema["$defs"]
    _write_defaults_and_meanings(schema)
    holders = [(section, form) for section in (schema, *definitions.values()) for form in forms(section)]
    for _, form in holders:
        for prop in form["properties"].values():
            _open_tagged_section(prop, definitions)
    entries = [entry for prop in schema["properties"].values() for entry in _entries(prop, definitions)]
    for section, form in holders:
        for key, prop in form["properties"].items():
            form["properties"][key] = _with_sweep(prop, definitions, section not in entries)
    _add_named_sections(definitions)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}


def _write_defaults_and_meanings(schema: Schema) -> None:
    """Defaults with their units, as a file has them."""
    for key, default in dump(Experiment()).items():
        schema["properties"][key]["default"] = default
    del schema["properties"]["name"]["default"]  # it is the file's own name
    for _, section in sections_within(Experiment):
        properties = schema["$defs"][section.__name__].get("properties", {})
        for key, default in _defaults(section).items():
            properties[key]["default"] = default
        for key, meaning in meanings(section).items():
            if key in properties:
                properties[key].setdefault("description", meaning)


def _defaults(section: Any) -> Schema:
    """Of a section in which nothing is required, and which is no spec of a kind."""
    if issubclass(section, BaseModel):
        is_required = any(field.is_required() for field in section.model_fields.values())
        return {} if is_required else section().model_dump(mode="json")
    is_required = any(field.default is MISSING and field.default_factory is MISSING for field in fields(section))
    if is_required or kind_of(section):
        return {}
    written: Schema = TypeAdapter(Annotated[section, SpecSection()]).dump_python(section(), mode="json", by_alias=True)
    return written


def _open_tagged_section(prop: Schema, definitions: Schema) -> None:
    """Let `kind` be a sweep over the kinds of its union, and be left out where there is a default kind."""
    members = [_resolved(member, definitions) for member in prop.get("oneOf") or prop.get("anyOf", ())]
    tagged = [member for member in members if "const" in member.get("properties", {}).get("kind", {})]
    kinds = [member["properties"]["kind"]["const"] for member in tagged]
    if kinds:
        prop["anyOf"] = prop.pop("oneOf", None) or prop["anyOf"]
    for member, kind in zip(tagged, kinds, strict=True):
        several = {"type": "array", "minItems": 1, "items": {"enum": kinds}, "contains": {"const": kind}}
        member["properties"]["kind"] = {"title": "Kind", "default": kind, "anyOf": [{"const": kind}, several]}
        if "discriminator" in prop and kind != prop["default"]["kind"]:
            member["required"] = [*member.get("required", ()), "kind"]
    prop.pop("discriminator", None)


def _entries(prop: Schema, definitions: Schema) -> list[Schema]:
    """The sections that a list is made of; there is no default kind among them, and no sweep in them."""
    found = []
    for items in (holder["items"] for holder in prop.get("anyOf", ()) if "items" in holder):
        if items.pop("discriminator", None):
            found += [_resolved(member, definitions) for member in items["oneOf"]]
    for entry in found:
        entry["required"] = [*entry.get("required", ()), "kind"]
    return found


def _with_sweep(prop: Schema, definitions: Schema, sweeps: bool) -> Schema:
    """The property, or a non-empty list of what it accepts."""
    plain, sections = _plain(prop, definitions), _sections(prop, definitions)
    swept_already = any(member.get("type") == "array" for member in prop.get("anyOf", ()))
    if swept_already or (not sections and all(value.get("type") == "null" for value in plain)):
        return prop
    notes = {key: prop[key] for key in _NOTES if key in prop}
    one = {key: value for key, value in prop.items() if key not in _NOTES}
    if "description" not in notes and "description" in (section := _resolved(one, definitions)):
        notes["description"] = section["description"]
    items = [*plain, *({"$ref": f"{section}{_NAMED}"} for section in sections)]
    several = {"type": "array", "minItems": 1, "items": items[0] if len(items) == 1 else {"anyOf": items}}
    accepted = one["anyOf"] if list(one) == ["anyOf"] else [one]
    extra = [value for value in plain if value not in accepted and value.get("pattern") == PERCENTAGE]
    return {**notes, "anyOf": [*accepted, *extra, *([several] if sweeps else [])]}


def _sections(schema: Schema, definitions: Schema) -> list[str]:
    """The references to sections that a property accepts."""
    found = [place for member in schema.get("anyOf", ()) for place in _sections(member, definitions)]
    if "$ref" in schema:
        found += [schema["$ref"]] * bool(forms(_resolved(schema, definitions)))
    return found


def forms(section: Schema) -> list[Schema]:
    """The ways to write a section that have keys; it may also be a word."""
    return [form for form in (section, *section.get("anyOf", ())) if "properties" in form]


def _add_named_sections(definitions: Schema) -> None:
    """Every section as it may stand in a list of them: with a name."""
    name = {"title": "Name", "type": "string", "minLength": 1, "maxLength": 60, "description": _CALLED}
    for place in list(definitions):
        named = deepcopy(definitions[place])
        for form in forms(named):
            form["properties"].setdefault("name", name)
        if forms(named):
            definitions[f"{place}{_NAMED}"] = named


def _plain(schema: Schema, definitions: Schema) -> list[Schema]:
    """What of a schema is neither a section nor a list, without its notes; a number may also be a percentage."""
    schema = _resolved(schema, definitions)
    if "anyOf" in schema:
        return [value for member in schema["anyOf"] for value in _plain(member, definitions)]
    if "properties" in schema or schema.get("type") in ("object", "array"):
        return []
    value = {key: inner for key, inner in schema.items() if key not in _NOTES}
    percentage = {"type": "string", "pattern": PERCENTAGE, "examples": ["20%"]}
    return [value, percentage] if schema.get("type") == "number" else [value]


def _resolved(schema: Schema, definitions: Schema) -> Schema:
    found: Schema = definitions[schema["$ref"].rpartition("/")[2]] if "$ref" in schema else schema
    return found
