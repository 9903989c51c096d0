"""Quantities with their unit, as they stand in a file: `20ms`, `10mbit`, `20%`; inside, plain floats.

    duration  us, ms, s, min, h         -> seconds
    rate      bit, kbit, mbit, gbit     -> bits per second (per second is implied, decimal prefixes, as in tc)
    share     20% or 0.2                -> 0.2

Numbers are scaled as decimals, so that `20ms` is exactly the float 0.02; what is shown reads back to the same float.
Other values that a file writes as a text of their own, such as `random(20%)`, are `TextValue`s.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated, Any

from annotated_types import Ge, Gt, Le
from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler, PlainSerializer, ValidationInfo
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, core_schema

_NUMBER = r"[0-9]{1,40}(\.[0-9]{1,40})?(e[-+]?[0-9]{1,3})?"
PERCENTAGE = rf"^{_NUMBER}%$"
SHARE_TEXT = rf"{_NUMBER}%?"
"""Inside a longer text: 20% or 0.2."""


@dataclass(frozen=True)
class Expected:
    """Metadata of a type: the words for what it accepts, where its constraints alone would not explain it."""

    expected: str


@dataclass(frozen=True, eq=False)
class Quantity:
    """A pydantic type: text with a unit in a file, a float in Python; `units` maps a unit to its size."""

    expected: str
    examples: tuple[str, ...]
    units: Mapping[str, Decimal]

    @property
    def text(self) -> str:
        """The regular expression of it inside a longer text."""
        return rf"{_NUMBER}({'|'.join(self.units)})"

    @property
    def pattern(self) -> str:
        """The regular expression of the whole text."""
        return f"^{self.text}$"

    def parse(self, text: str) -> float:
        """The number of base units; ValueError if the text is not such a quantity."""
        if not re.fullmatch(self.pattern, text):
            raise ValueError(f"{text!r} is not {self.expected}")
        unit = max((unit for unit in self.units if text.endswith(unit)), key=len)
        return float(Decimal(text.removesuffix(unit)) * self.units[unit])

    def show(self, value: float | str) -> str:
        """The shortest text that reads back to the same float. (A word such as `adaptive` stays as it is.)"""
        if isinstance(value, str):
            return value
        plain = Decimal(repr(value))
        texts = [f"{(plain / size).normalize():f}{unit}" for unit, size in self.units.items()]
        exact = [text for text in texts if re.fullmatch(self.pattern, text) and self.parse(text) == value]
        return min(exact, key=len, default=f"{value!r}{next(unit for unit, size in self.units.items() if size == 1)}")

    def __get_pydantic_core_schema__(self, source: object, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.with_info_before_validator_function(
            self._read,
            core_schema.float_schema(ge=0, allow_inf_nan=False),
            serialization=core_schema.plain_serializer_function_ser_schema(self.show, when_used="json"),
        )

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return {"type": "string", "pattern": self.pattern, "examples": list(self.examples)}

    def _read(self, value: object, info: ValidationInfo) -> object:
        if isinstance(value, str):
            return self.parse(value)
        if info.mode == "json":
            raise ValueError("a file gives a quantity with its unit")
        return value


DURATION = Quantity(
    "a duration such as 20ms, 1.5s or 2min",
    ("20ms", "1.5s", "2min"),
    {"us": Decimal("1e-6"), "ms": Decimal("1e-3"), "s": Decimal(1), "min": Decimal(60), "h": Decimal(3600)},
)
RATE = Quantity(
    "a rate above 0 such as 500kbit, 10mbit or 1gbit",
    ("10mbit", "500kbit", "1gbit"),
    {"bit": Decimal(1), "kbit": Decimal(10**3), "mbit": Decimal(10**6), "gbit": Decimal(10**9)},
)


@dataclass(frozen=True, eq=False)
class TextValue:
    """A pydantic type of values that are written as text; `read` raises ValueError if it is no such text."""

    expected: str
    examples: tuple[str, ...]
    pattern: str
    read: Callable[[str], object]
    show: Callable[[Any], object]
    also: Callable[[object], object] | None = None
    """Reads what is not text."""

    def __get_pydantic_core_schema__(self, source: object, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(
            self._validate, serialization=core_schema.plain_serializer_function_ser_schema(self.show, when_used="json")
        )

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        text = {"type": "string", "pattern": f"^{self.pattern}$", "examples": list(self.examples)}
        pair = {"type": "array", "items": {"type": "integer", "minimum": 0}, "minItems": 2, "maxItems": 2}
        return {"anyOf": [text, pair]} if self.also else text

    def _validate(self, value: object) -> object:
        if isinstance(value, str) and re.fullmatch(self.pattern, value):
            return self.read(value)
        if not isinstance(value, str) and self.also:
            return self.also(value)
        raise ValueError(f"not {self.expected}")


def show_share(value: float) -> str | float:
    """0.2 as `20%`, where that reads back to the same float."""
    text = f"{(Decimal(repr(value)) * 100).normalize():f}%"
    return text if re.fullmatch(PERCENTAGE, text) and _percentage(text) == value else value


def read_share(text: str) -> float:
    """20% or 0.2 as 0.2; ValueError above 1."""
    share = _percentage(text) if text.endswith("%") else float(text)
    if share > 1:
        raise ValueError("more than all of it")
    return share


def percentages_as_numbers(value: object) -> object:
    """The same data with every text such as `20%` replaced by 0.2: a percentage is a way to write a number."""
    if isinstance(value, dict):
        return {key: percentages_as_numbers(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [percentages_as_numbers(inner) for inner in value]
    return _percentage(value) if isinstance(value, str) and re.fullmatch(PERCENTAGE, value) else value


def _percentage(text: str) -> float:
    return float(Decimal(text.removesuffix("%")) / 100)


Duration = Annotated[float, DURATION]
Rate = Annotated[float, RATE, Gt(0)]
AS_SHARE = PlainSerializer(show_share, when_used="json")
Share = Annotated[float, Ge(0), Le(1), Expected("a share, 0% to 100%"), AS_SHARE]
PositiveShare = Annotated[float, Gt(0), Le(1), Expected("a share above 0%, at most 100%"), AS_SHARE]
