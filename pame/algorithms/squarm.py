"""SQuARM-SGD (Singh, Data, George and Diggavi 2021): local Nesterov steps; at a round CHOCO's consensus, if it is worth
it.

    v_i  = beta v_i + g(x_i),     x' = x_i - eta_k (beta v_i + g(x_i)),      eta_k = eta/gamma^k
    at a round:  q_i = C(x' - xhat_i)  if  ||x' - xhat_i||^2 > c_k eta_k^2,  else nothing;   xhat_j += q_j  for every j
                 x_i = x' + gam sum_j Q_ij (xhat_j - xhat_i)

c_k = threshold (k + 1)^growth (the paper wants a c_k that grows more slowly than k). "Nothing" is an empty message, so
that silence is not taken for a loss. H local steps are a period of H.
"""

from dataclasses import dataclass, field
from typing import Annotated, Literal

from annotated_types import Ge, Gt, Lt

from pame.algorithms.choco import Choco, ChocoSpec
from pame.algorithms.interface import Context
from pame.compressors import CompressorSpec, Sign


@dataclass(frozen=True)
class SquarmSpec(ChocoSpec):
    """SQuARM-SGD: CHOCO with Nesterov momentum and messages only where a model has moved enough.

    gam: the consensus step, how much of the way to its neighbours a node goes
    momentum: beta
    threshold: a node speaks when ||x - xhat||^2 is above threshold (k + 1)^growth eta_k^2; 0: always
    growth: how the threshold grows; the paper wants less than 1
    """

    kind: Literal["squarm"] = "squarm"  # type: ignore[assignment]
    momentum: Annotated[float, Ge(0), Lt(1)] = 0.9
    threshold: Annotated[float, Ge(0)] = 1.0
    growth: Annotated[float, Ge(0), Lt(1)] = 0.0
    eta: Annotated[float, Gt(0)] = 0.02
    compressor: CompressorSpec = field(default_factory=Sign)

    def node(self, context: Context) -> "Squarm":
        return Squarm(self, context)


class Squarm(Choco):
    _spec: SquarmSpec

    def __init__(self, spec: SquarmSpec, context: Context) -> None:
        super().__init__(spec, context)
        self._velocity = 0.0 * context.start
        self.bundles = [*self.bundles, *self._forms.silences]

    def prepare(self, k: int) -> None:
        momentum, gradient = self._spec.momentum, self._gradient(k)
        self._velocity = momentum * self._velocity + gradient
        self._ahead = self._descend(k, self._model, momentum * self._velocity + gradient)
        if self._is_round(k):
            moved = self._ahead - self.own("q")
            threshold = self._spec.threshold * (k + 1) ** self._spec.growth
            speaks = float(moved @ moved) > threshold * self._size(k) ** 2
            self.tell(k, {"q": self._ahead} if speaks else {})
