"""The adaptive non-uniform quantizer (ANQ) of Michelusi, Scutari and Lee, "Finite-Bit Quantization for Distributed
Algorithms with Linear Convergence" (2022): levels lie the farther apart the farther they are from 0, without end, and
only as many bits are spent as the levels at hand need. It keeps their compression rule at every coordinate:

    probabilistic   E Q(x) = x,   sqrt(E |Q(x) - x|^2) <= eta + omega |x|      q_l = eta/omega (a^l - 1)
    deterministic                          |Q(x) - x|  <= eta + omega |x|

On the scale y = 1 + omega |x| / eta levels are powers of a and the rule is error <= omega y. A point t between y = 1
and y = a has, rounded at random, the mean square error (a - t)(t - 1), at most (omega t)^2 for all t if and only if
a <= (omega + r)^2, r = sqrt(1 + omega^2). Rounded to the nearest it is worst at t = (1 + a)/2, which is within the
rule if and only if a <= (1 + omega) / (1 - omega). The largest such a is taken. The first level eta (a - 1) / omega is
2 eta (omega + r), or 2 eta / (1 - omega).

eta falls geometrically with the iteration, eta_k = eta shrink^k, so that the error can go to 0 with what is compressed.
"""

from dataclasses import dataclass
from math import isfinite, sqrt
from sys import float_info
from typing import Annotated, ClassVar, Literal

import numpy as np
from annotated_types import Ge, Gt, Le, Lt

from pame.compressors.checks import check_finite, too_large
from pame.compressors.growing_levels import climb, heights
from pame.compressors.payload import FormName, Levels
from pame.exchange import Vector
from pame.randomness import Key, uniforms


@dataclass(frozen=True)
class AdaptiveQuantizer:
    """Adaptive non-uniform quantization: levels whose gaps grow with the value, finer at every iteration.

    eta: the absolute error at the start
    shrink: what the absolute error is multiplied by per iteration
    omega: the relative error
    rounding: to one of the two nearest levels without bias (probabilistic), or to the nearest (deterministic)
    """

    kind: Literal["adaptive"] = "adaptive"
    eta: Annotated[float, Gt(0)] = 0.01
    shrink: Annotated[float, Gt(0), Le(1)] = 0.99
    omega: Annotated[float, Ge(0.001), Lt(1)] = 0.1
    rounding: Literal["probabilistic", "deterministic"] = "probabilistic"

    form: ClassVar[FormName] = "levels"

    def error(self, iteration: int) -> float:
        """eta_k."""
        return max(self.eta * self.shrink**iteration, float_info.min)

    def compress(self, vector: Vector, key: Key) -> Levels:
        """The level below or above; at random by the key's uniform numbers, or the nearest."""
        check_finite(vector, key)
        first, growth = self._ladder(key.iteration)
        magnitudes = np.abs(vector)
        levels, low = climb(first, growth, magnitudes)
        with np.errstate(over="ignore"):
            step = (growth - 1.0) * low + first
        up = (magnitudes - low) / step
        levels += up > (uniforms(key, vector.size) if self.rounding == "probabilistic" else 0.5)
        if not isfinite(heights(first, growth, levels.max(keepdims=True))[0]):
            raise too_large("a level lies beyond the doubles", key)
        return Levels(first, growth, np.where(vector < 0.0, -levels, levels))

    def _ladder(self, iteration: int) -> tuple[float, float]:
        """q_1 and a."""
        eta, omega = self.error(iteration), self.omega
        if self.rounding == "deterministic":
            return 2.0 * eta / (1.0 - omega), (1.0 + omega) / (1.0 - omega)
        root = omega + sqrt(1.0 + omega * omega)
        return 2.0 * eta * root, root * root
