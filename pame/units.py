"""Types of numbers with a unit: plain floats here, `30s`, `10mbit` and `5%` in an experiment file.

A field with a unit is called by it (`delay_s`); its key in a file is not (`delay`): there, the value has the unit.
"""

from dataclasses import dataclass
from typing import Annotated

from annotated_types import Ge, Gt, Le


@dataclass(frozen=True, slots=True)
class Unit:
    """Metadata of a type. `suffix`: of the names of its fields."""

    suffix: str


@dataclass(frozen=True, slots=True)
class OrInfinite:
    """Metadata of a type: a number may also be infinite, for which a file has a word."""

    word: str


SECONDS, BITS_PER_SECOND, SHARE = Unit("_s"), Unit("_bps"), Unit("")

Seconds = Annotated[float, SECONDS, Ge(0)]
Rate = Annotated[float, BITS_PER_SECOND, Gt(0)]
Share = Annotated[float, SHARE, Ge(0), Le(1)]
Count = Annotated[int, Ge(1)]
