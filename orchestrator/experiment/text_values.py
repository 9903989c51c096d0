"""Values that a file writes as a short text of their own, such as `random(20%)` or `normal(20ms, 5ms)`."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, core_schema


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
