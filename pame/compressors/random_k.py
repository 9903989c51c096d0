"""Random-k: s coordinates, drawn as PaME draws a support, so that everybody can draw them and none need be sent.

contractive   the values as they are        E ||C(x) - x||^2 = (1 - s/n) ||x||^2
unbiased      the values times n/s          E C(x) = x,   E ||C(x) - x||^2 = (n/s - 1) ||x||^2
"""

from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from annotated_types import Ge, Gt, Le

from pame.compressors.checks import check_finite, kept
from pame.compressors.payload import FormName
from pame.exchange import PartialMessage, Vector
from pame.randomness import Key
from pame.sampling import support


@dataclass(frozen=True)
class RandomK:
    """Some coordinates, drawn at random.

    share: how many of n are kept: a share, or a count if it is an integer
    unbiased: whether they are scaled up so that the mean is kept
    """

    kind: Literal["random-k"] = "random-k"
    share: Annotated[float, Gt(0), Le(1)] | Annotated[int, Ge(1)] = 0.1
    unbiased: bool = False

    form: ClassVar[FormName] = "partial"

    def compress(self, vector: Vector, key: Key) -> PartialMessage:
        """The values on the support of the key's node and iteration, whatever the key is for."""
        check_finite(vector, key)
        n = vector.size
        s = kept(self.share, n)
        coordinates = support(key.seed, key.node, key.iteration, n, s)
        values = vector[coordinates]
        return PartialMessage(n, coordinates, values * (n / s) if self.unbiased else values)
