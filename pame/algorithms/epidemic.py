"""Epidemic learning: a local step, the result to some random nodes anywhere, and the mean of one's own and what came.

    y_i = x_i - eta/gamma^k g_i(x_i),      x_i <- mean of y_i and the y_j received        (at no round: x_i <- y_i)

EL-Local (`sampling: local`): every node draws by itself to whom it sends, `fan_out` others; how many reach it varies.
EL-Oracle (`oracle`): everybody exchanges models along the edges of a regular graph drawn anew at each iteration,
uniformly among all of them (`topology.regular_draw`), as in the paper (de Vos et al., NeurIPS 2023): a doubly
stochastic average. The topology of the experiment plays no part.

It is memoryless: the mean is over what came (`on_loss: received`). `naive` divides by the number of models that were
sent, as if what is missing were zero.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from annotated_types import Ge

from pame.algorithms.base import DescendingSpec, SteppingNode, dense
from pame.algorithms.interface import Context, Form, Message, Received
from pame.algorithms.mixing import weighted_sum
from pame.algorithms.selection import Who
from pame.exchange import as_sent


@dataclass(frozen=True)
class EpidemicSpec(DescendingSpec):
    """Epidemic learning: each node sends its model to some random nodes, and averages what it gets.

    sampling: local: each node draws its receivers by itself; oracle: all are joined by a regular graph, drawn
        anew at each iteration uniformly among all regular graphs
    fan_out: to how many nodes a node sends
    on_loss: average what has come (received), or count a missing model as zeros (naive)
    """

    kind: Literal["epidemic"] = "epidemic"
    sampling: Literal["local", "oracle"] = "local"
    fan_out: Annotated[int, Ge(1)] = 4
    on_loss: Literal["received", "naive"] = "received"

    share: ClassVar = 1.0

    @property
    def who(self) -> Who:
        return Who.EPIDEMIC if self.sampling == "local" else Who.REGULAR

    def node(self, context: Context) -> "Epidemic":
        return Epidemic(self, context)


class Epidemic(SteppingNode[EpidemicSpec]):
    vectors: ClassVar = {"y": Form.DENSE}
    bundles: ClassVar = [frozenset({"y"})]

    def prepare(self, k: int) -> None:
        self._ahead = self._descend(k, self._model, self._gradient(k))

    def message(self, k: int) -> Message:
        return {"y": as_sent(self._ahead, self._context.values)}

    def absorb(self, k: int, received: Sequence[Received]) -> float:
        here = self._context.node
        models = {here: self._ahead, **{message.sender: dense(message, "y") for message in received}}
        sent = 1 + len(self._context.selection.senders(here, k))
        count = len(models) if self._spec.on_loss == "received" else sent
        self._ahead = weighted_sum(dict.fromkeys(models, 1.0), models) / count
        return float(len(received))

    def step(self, k: int) -> None:
        self._model = self._finite(k, self._ahead)
