"""DFedAvgM: local heavy-ball steps, and a gossip average of the models at every round.

    at a round:  y_i = sum_j Q_ij x_j,  v_i = 0        else:  y_i = x_i
    v_i <- theta v_i - eta/gamma^k g_i(y_i),    x_i <- y_i + v_i

This is y^{k+1} = y^k - eta g(y^k) + theta (y^k - y^{k-1}) with y^{-1} = y^0 at the beginning of a round, as in the
paper (Sun, Li and Wang, TPAMI 2023). Its local iterations are a period here: one iteration is one local step.

Models travel whole, or with `compressor` quantized: y_i = Q_ii x_i + sum_j Q_ij C(x_j). Nothing is remembered of what
was sent, so a lost message costs no more than otherwise, and the noise of C stays in proportion to the model. (The
paper has a quantized variant of its own; of it only the abstract was at hand.)

`gossip` says what a missing message means.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
from annotated_types import Ge, Lt

from pame.algorithms.gossip import GossipNode, GossipSpec
from pame.algorithms.interface import Context, Form, Message, Received
from pame.compressors import Quantize, expand, rounded
from pame.exchange import Vector
from pame.randomness import Key, Purpose


@dataclass(frozen=True)
class DfedavgmSpec(GossipSpec):
    """DFedAvgM: local steps with momentum, then gossip.

    momentum: theta, how much of the last step is taken again; forgotten at every round
    compressor: how models are quantized; null: they travel whole
    """

    kind: Literal["dfedavgm"] = "dfedavgm"
    momentum: Annotated[float, Ge(0), Lt(1)] = 0.9
    compressor: Quantize | None = None

    def node(self, context: Context) -> "Dfedavgm":
        return Dfedavgm(self, context)


class Dfedavgm(GossipNode[DfedavgmSpec]):
    def __init__(self, spec: DfedavgmSpec, context: Context) -> None:
        super().__init__(spec, context)
        self._velocity = np.zeros_like(context.start)

    @property
    def vectors(self) -> Mapping[str, Form]:
        compressor = self._spec.compressor
        return {"x": Form.DENSE if compressor is None else Form(compressor.form)}

    def message(self, k: int) -> Message:
        if self._spec.compressor is None:
            return super().message(k)
        context = self._context
        key = Key(context.seed, Purpose.COMPRESSION, context.node, k)
        return {"x": rounded(self._spec.compressor.compress(self._model, key), context.values)}

    def _model_in(self, received: Received) -> Vector:
        return super()._model_in(received) if self._spec.compressor is None else expand(received.message["x"])

    def absorb(self, k: int, received: Sequence[Received]) -> float:
        self._velocity = np.zeros_like(self._model)
        return super().absorb(k, received)

    def step(self, k: int) -> None:
        start = self._take_average()
        gradient = self._gradient(k, start)
        with np.errstate(over="ignore", invalid="ignore"):
            self._velocity = self._spec.momentum * self._velocity - self._size(k) * gradient
            self._model = self._finite(k, start + self._velocity)
