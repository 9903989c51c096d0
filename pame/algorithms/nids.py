"""NIDS: gradient steps whose drift a dual variable takes back, so that all nodes reach the optimum itself.

    z_i = x_i - eta (g_i(x_i) + d_i),       r_i = sum_j Q_ij (z_i - z_j) / 2
    d_i <- d_i + r_i / eta,                 x_i <- z_i - r_i

From d^0 = 0 this is the recursion of the paper (Li, Shi and Yan, 2019) with c = 1/(2 eta) and W = Q,

    x^{k+1} = (I + Q)/2 (2 x^k - x^{k-1} - eta (g^k - g^{k-1})),      x^1 = (I + Q)/2 (x^0 - eta g^0)

but for x^1, which the paper does not mix. An edge that is active once in e iterations adds r / (e eta) to the dual,
because the dual then acts e times, as in ProxSkip: with r / eta a ring with period 5 diverges. e is the least common
multiple of its ends' periods, over the root of the odds that they draw each other then (`dual_share`): without the
odds, 32 nodes with periods 3 to 7 and participation 0.2 drifted away after a thousand iterations, and with the odds
themselves they took three times as long. `dual` multiplies it all: 4 is nearly without the odds there, and reached a
suboptimality of 0.02 after 300 iterations instead of 600. Period 1, all neighbours and `dual: 1` is NIDS as published.

The sum of the duals is zero, or a bias stays for ever: `flows` says what a missing message means.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from annotated_types import Gt

from pame.algorithms.base import dense
from pame.algorithms.flows import FlowNode, FlowSpec, dual_share
from pame.algorithms.interface import Context, Form, Message, Received
from pame.algorithms.mixing import pull
from pame.exchange import Vector, as_sent


@dataclass(frozen=True)
class NidsSpec(FlowSpec):
    """NIDS: gradient steps with a dual correction, which make the optimum a fixed point.

    dual: how much more the duals of edges that are seldom active take; 1 is safe, more is faster at first and may drift
    """

    kind: Literal["nids"] = "nids"
    dual: Annotated[float, Gt(0)] = 1.0

    def node(self, context: Context) -> "Nids":
        return Nids(self, context)


class Nids(FlowNode[NidsSpec]):
    vectors: ClassVar = {"z": Form.DENSE}
    bundles: ClassVar = [frozenset({"z"})]

    @property
    def dual(self) -> Vector:
        """d_i^k."""
        return -self._flows.total

    def prepare(self, k: int) -> None:
        self._ahead = self._descend(k, self._model, self._gradient(k) + self.dual)

    def message(self, k: int) -> Message:
        return {"z": as_sent(self._ahead, self._context.values)}

    def absorb(self, k: int, received: Sequence[Received]) -> float:
        """r, over the edges that both ends use. Its own z counts as it was sent, so that both ends see the same."""
        others = {message.sender: dense(message, "z") for message in received if message.iteration == k}
        used, own = self._used(k, others), as_sent(self._ahead, self._context.values)
        duals = {j: 0.5 * weight * self._dual_share(j) / self._size(k) for j, weight in used.items()}
        self._flows.pull(duals, own, others)
        self._ahead = self._ahead + 0.5 * pull(used, own, others)
        return float(len(received))

    def step(self, k: int) -> None:
        self._model = self._finite(k, self._ahead)

    def _dual_share(self, neighbour: int) -> float:
        return self._spec.dual * dual_share(self._context.selection, self._context.node, neighbour)
