"""Scaled sign: ||x||_1 / n times the sign of each coordinate; 0 counts as positive.

||C(x) - x||^2 = ||x||^2 - ||x||_1^2 / n <= (1 - 1/n) ||x||^2, with equality where all but one coordinate are 0.
"""

from dataclasses import dataclass
from math import isfinite
from typing import ClassVar, Literal

import numpy as np

from pame.compressors.checks import check_finite, too_large
from pame.compressors.payload import FormName, Signs
from pame.exchange import Vector
from pame.randomness import Key


@dataclass(frozen=True)
class Sign:
    """The signs, times the mean magnitude."""

    kind: Literal["sign"] = "sign"

    form: ClassVar[FormName] = "signs"

    def compress(self, vector: Vector, key: Key) -> Signs:
        check_finite(vector, key)
        with np.errstate(over="ignore"):
            scale = float(np.abs(vector).mean())
        if not isfinite(scale):
            raise too_large("the sum of magnitudes lies beyond the doubles", key)
        return Signs(scale, vector < 0.0)
