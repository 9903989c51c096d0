"""A section whose `kind` decides its other keys: one of the specs of a registry, e.g. `pame.topology.SPECS`."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Union

from pydantic import Discriminator, GetCoreSchemaHandler
from pydantic_core import CoreSchema, core_schema


@dataclass(frozen=True, eq=False)
class KindUnion:
    """A pydantic type: the dataclass registered under the section's `kind`; without a kind, the default one, if any."""

    specs: Mapping[str, type]
    default: str | None = None

    def __get_pydantic_core_schema__(self, source: object, handler: GetCoreSchemaHandler) -> CoreSchema:
        kinds = tuple(self.specs.values())
        union: object = Annotated[Union[kinds], Discriminator("kind")] if len(kinds) > 1 else kinds[0]  # noqa: UP007
        return core_schema.no_info_before_validator_function(self._with_kind, handler.generate_schema(union))

    def _with_kind(self, section: object) -> object:
        return {"kind": self.default, **section} if self.default and isinstance(section, dict) else section
