"""What the sections of an experiment file are made of: values with units and bounds, and no unknown keys.

A section of its own is a `Section`. A spec of `pame` is one, too: there its numbers have units, and its keys have none.

patience_s: Seconds | Literal["adaptive"]        a field of a spec
patience: 30s                                    a line of a file
"""

from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields
from functools import cache
from math import inf
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    GetCoreSchemaHandler,
    PlainSerializer,
    StringConstraints,
    ValidationInfo,
)
from pydantic.fields import FieldInfo
from pydantic_core import CoreSchema, core_schema

from orchestrator.experiment.units import Duration, Expected, Quantity, Rate, Share
from pame.units import BITS_PER_SECOND, SECONDS, SHARE, OrInfinite, Unit

Name = Annotated[
    str,
    StringConstraints(pattern=r"^[A-Za-z0-9._-]{1,100}$"),
    Expected("a name of at most 100 letters, digits, - _ . (in quotes if it looks like a number)"),
]
_IN_FILE: Mapping[Unit, Any] = {SECONDS: Duration, BITS_PER_SECOND: Rate, SHARE: Share}


class Section(BaseModel):
    """What all parts of an experiment have in common: they never change, and unknown keys are mistakes."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", strict=True, allow_inf_nan=False, use_attribute_docstrings=True
    )


@dataclass(frozen=True, eq=False)
class KindUnion:
    """A pydantic type: the spec registered under the section's `kind`; without a kind, the default one, if any."""

    specs: Mapping[str, type]
    default: str | None = None

    def __get_pydantic_core_schema__(self, source: object, handler: GetCoreSchemaHandler) -> CoreSchema:
        kinds = tuple(self.specs.values())
        union: object = Annotated[Union[kinds], Discriminator("kind")] if len(kinds) > 1 else kinds[0]  # noqa: UP007
        return core_schema.no_info_before_validator_function(self._with_kind, handler.generate_schema(union))

    def _with_kind(self, section: object) -> object:
        return {"kind": self.default, **section} if self.default and isinstance(section, dict) else section


@dataclass(frozen=True, eq=False)
class SpecSection:
    """A pydantic type: the dataclass, read from a section with the keys and units of a file."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        keys, defaults = file_keys(source), {field.name: field for field in fields(source)}
        known = [
            core_schema.dataclass_field(
                name,
                _with_default(handler.generate_schema(hint), defaults[name]),
                validation_alias=key,
                serialization_alias=key,
            )
            for key, (name, hint) in keys.items()
        ]
        return core_schema.dataclass_schema(
            source,
            core_schema.dataclass_args_schema(source.__name__, known),
            list(defaults),
            ref=f"{source.__module__}.{source.__name__}:{id(source)}",
            frozen=True,
            slots=hasattr(source, "__slots__"),
            config={"strict": True, "extra_fields_behavior": "forbid", "allow_inf_nan": False},
        )


@cache
def file_keys(spec: Any) -> Mapping[str, tuple[str, Any]]:
    """By the keys of a file: the field, and its type as pydantic reads it there."""
    hints = get_type_hints(spec, include_extras=True)
    return {written(field.name, hints[field.name]): (field.name, in_file(hints[field.name])) for field in fields(spec)}


def written(name: str, hint: Any) -> str:
    """A field's key: without its unit, or its alias where its name could not be the key, as with `for`."""
    aliases = (item.alias for item in unwrap(hint)[1] if isinstance(item, FieldInfo))
    options = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
    unit = next((item for option in options for item in unwrap(option)[1] if isinstance(item, Unit)), None)
    return next(filter(None, aliases), name.removesuffix(unit.suffix) if unit else name)


def in_file(hint: Any) -> Any:
    """The type of a field as pydantic reads it from a file."""
    if get_origin(hint) in (Union, UnionType):
        return Union[tuple(map(in_file, get_args(hint)))]  # noqa: UP007
    _, metadata = unwrap(hint)
    unit = next((item for item in metadata if isinstance(item, Unit)), None)
    if unit is None:
        return hint
    number: Any = Annotated.__class_getitem__((_IN_FILE[unit], *(item for item in metadata if item is not unit)))  # type: ignore[attr-defined]
    infinite = next((item for item in metadata if isinstance(item, OrInfinite)), None)
    return number if infinite is None else _or_word(number, infinite.word)


def unwrap(annotation: Any) -> tuple[Any, tuple[Any, ...]]:
    """The type and the metadata of an `Annotated`."""
    if get_origin(annotation) is Annotated:
        plain, *metadata = get_args(annotation)
        return plain, tuple(metadata)
    return annotation, ()


def _or_word(number: Any, word: str) -> Any:
    """Infinity is the word in a file, and itself in Python."""
    quantity = next(item for item in unwrap(number)[1] if isinstance(item, Quantity))

    def as_word(value: object, info: ValidationInfo) -> object:
        return word if value == inf and info.mode == "python" else value

    return Annotated[
        number | Literal[word],
        BeforeValidator(as_word),
        AfterValidator(lambda value: inf if value == word else value),
        PlainSerializer(lambda value: word if value == inf else quantity.show(value), when_used="json"),
    ]


def _with_default(schema: CoreSchema, field: Any) -> CoreSchema:
    if field.default_factory is not MISSING:
        return core_schema.with_default_schema(schema, default_factory=field.default_factory)
    return schema if field.default is MISSING else core_schema.with_default_schema(schema, default=field.default)
