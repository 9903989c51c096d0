"""The value section: finite numbers as little-endian float64 or float32, bit for bit."""

from math import isfinite

import numpy as np
from numpy.typing import NDArray

from pame.codec.refusal import Refusal, Refused
from pame.errors import PameError
from pame.exchange import ValueType, Vector, is_finite

WireValues = NDArray[np.float64] | NDArray[np.float32]


class NotFinite(PameError):
    """A value to be sent is NaN, infinite, or too large for float32; `coordinate` says which."""

    def __init__(self, coordinate: int, value: float) -> None:
        beyond = " (beyond float32)" if isfinite(value) else ""
        super().__init__(f"Coordinate {coordinate} is {value}{beyond} and cannot be sent; take a smaller step.")
        self.coordinate = coordinate


def to_wire(values: Vector, value_type: ValueType, coordinates: NDArray[np.int64] | None = None) -> WireValues:
    """The values as they travel; `NotFinite` if one cannot. `coordinates` are those of the values, if not 0, 1, ..."""
    if value_type is ValueType.FLOAT64:
        wire: WireValues = np.ascontiguousarray(values, dtype="<f8")
    else:
        with np.errstate(over="ignore", invalid="ignore"):
            wire = values.astype("<f4")
    if not is_finite(wire):
        index = int(np.flatnonzero(~np.isfinite(wire))[0])
        raise NotFinite(index if coordinates is None else int(coordinates[index]), float(values[index]))
    if value_type is ValueType.FLOAT32 and not np.array_equal(wire, values):
        raise ValueError("values to be sent as float32 must be float32 numbers: reveal them as float32")
    return wire


def from_wire(section: memoryview, value_type: ValueType) -> Vector:
    """The values of a section whose length is right; refused if one is not finite."""
    wire: WireValues  # copied: aligned, and rid of the buffer
    if value_type is ValueType.FLOAT32:
        wire = np.frombuffer(section, dtype="<f4").astype(np.float32)
    else:
        wire = np.frombuffer(section, dtype="<f8").astype(np.float64)
    if not is_finite(wire):
        raise Refused(Refusal.NOT_FINITE, "A value is not a finite number.")
    return wire.astype(np.float64, copy=False)
