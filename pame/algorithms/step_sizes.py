"""Step sizes of PaME.

`penalty` is the step as the paper prints it, `fixed` the one its tables are matched by:

    penalty:  1 / (sigma_i^k t_i),  sigma_i^k = sigma0 gamma^k          fixed:  eta / gamma^k

gamma^k itself leaves the doubles, exp(-k log gamma) only becomes 0.
"""

from dataclasses import dataclass
from math import exp, log
from typing import Annotated, Literal

from annotated_types import Ge, Gt


@dataclass(frozen=True)
class PenaltyStep:
    """The step as printed: 1 / (sigma0 gamma^k t_i), where t_i is how many messages node i averages.

    sigma0: the penalty at the start
    gamma: by how much it grows per iteration
    """

    kind: Literal["penalty"] = "penalty"
    sigma0: Annotated[float, Gt(0)] = 1.0
    gamma: Annotated[float, Ge(1)] = 1.005

    @property
    def words(self) -> str:
        return f"1/(sigma^k t_i), sigma0 = {self.sigma0:g}, gamma = {self.gamma:g} (as printed)"

    def size(self, k: int, enough: int) -> float:
        return exp(-k * log(self.gamma)) / (self.sigma0 * enough)


AS_PRINTED = PenaltyStep(sigma0=1.0, gamma=1.005)
"""With the paper's values."""


@dataclass(frozen=True)
class FixedStep:
    """A step that does not depend on the participation: eta / gamma^k.

    eta: the step at the start
    gamma: by how much it shrinks per iteration; 1: it stays
    """

    kind: Literal["fixed"] = "fixed"
    eta: Annotated[float, Gt(0)] = 0.1
    gamma: Annotated[float, Ge(1)] = 1.005

    @property
    def words(self) -> str:
        shrinks = "" if self.gamma == 1 else f"/{self.gamma:g}^k"
        return f"fixed, {self.eta:g}{shrinks} (independent of t)"

    def size(self, k: int, enough: int) -> float:
        return self.eta * exp(-k * log(self.gamma))


Step = PenaltyStep | FixedStep
