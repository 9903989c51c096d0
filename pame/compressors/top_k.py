"""Top-k: the coordinates of largest magnitude, as they are.

||C(x) - x||^2 <= (1 - s/n) ||x||^2, with equality where all magnitudes are equal.
"""

from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

import numpy as np
from annotated_types import Ge, Gt, Le

from pame.compressors.checks import check_finite, kept
from pame.compressors.payload import FormName, Sparse
from pame.exchange import Vector
from pame.randomness import Key


@dataclass(frozen=True)
class TopK:
    """The coordinates with the largest magnitude.

    share: how many of n are kept: a share, or a count if it is an integer
    """

    kind: Literal["top-k"] = "top-k"
    share: Annotated[float, Gt(0), Le(1)] | Annotated[int, Ge(1)] = 0.1

    form: ClassVar[FormName] = "sparse"

    def compress(self, vector: Vector, key: Key) -> Sparse:
        """The s largest magnitudes; of equal ones those of lower index."""
        check_finite(vector, key)
        s = kept(self.share, vector.size)
        magnitudes = np.abs(vector)
        least = np.partition(magnitudes, vector.size - s)[vector.size - s]
        chosen = magnitudes > least
        equal = np.flatnonzero(magnitudes == least)
        chosen[equal[: s - int(np.count_nonzero(chosen))]] = True
        support = np.flatnonzero(chosen)
        return Sparse(vector.size, support, vector[support])
