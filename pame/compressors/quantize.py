"""b-bit quantization: each coordinate to one of the two nearest multiples of scale / L, at random, L = 2^(b-1) - 1.

The scale is max |x|. (QSGD's analysis has the Euclidean norm, of which a coordinate is a small share, so that nearly
all become 0; in practice the maximum is common.) Rounding is unbiased: E Q(x) = x. With
V = (sqrt(1 + (n-1) / L^2) - 1) / 2

    unbiased      Q(x)              E ||Q(x) - x||^2 <= V ||x||^2
    contractive   Q(x) / (1 + V)    E ||C(x) - x||^2 <= (1 - 1/(1 + V)) ||x||^2

V is sharp. The largest coordinate is exact; with the others at p/L of it, V is (n-1) p (1-p) / (L^2 + (n-1) p^2), which
is largest at p = 1 / (1 + sqrt(1 + (n-1)/L^2)); further up a coordinate has the same variance, but more weight.
"""

from dataclasses import dataclass
from math import sqrt
from typing import Annotated, ClassVar, Literal

import numpy as np
from annotated_types import Ge, Le

from pame.compressors.checks import check_finite
from pame.compressors.payload import FormName, Quantized, most_steps
from pame.exchange import Vector
from pame.randomness import Key, uniforms


@dataclass(frozen=True)
class Quantize:
    """Quantization to evenly spaced levels, rounded without bias.

    bits: per coordinate, its sign included
    unbiased: whether the mean is kept; otherwise the result is scaled down so that it contracts
    """

    kind: Literal["quantize"] = "quantize"
    bits: Annotated[int, Ge(2), Le(16)] = 8
    unbiased: bool = True

    form: ClassVar[FormName] = "quantized"

    def variance(self, n: int) -> float:
        """V: how large E ||Q(x) - x||^2 can be, in parts of ||x||^2."""
        return (sqrt(1.0 + (n - 1) / most_steps(self.bits) ** 2) - 1.0) / 2.0

    def compress(self, vector: Vector, key: Key) -> Quantized:
        """Levels drawn with the key's uniform numbers, one per coordinate."""
        check_finite(vector, key)
        magnitudes = np.abs(vector)
        scale = float(magnitudes.max())
        if scale == 0.0:
            return Quantized(self.bits, 0.0, np.zeros(vector.size, dtype=np.int64))
        ladder = magnitudes / scale * most_steps(self.bits)
        levels = np.floor(ladder)
        levels += uniforms(key, vector.size) < ladder - levels
        sent = scale if self.unbiased else scale / (1.0 + self.variance(vector.size))
        return Quantized(self.bits, sent, np.copysign(levels, vector).astype(np.int64))
