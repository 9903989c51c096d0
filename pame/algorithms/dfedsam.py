"""DFedSAM: local steps of sharpness-aware minimisation, and a gossip average of the models at every round.

    at a round:  y_i = sum_j Q_ij x_j        else:  y_i = x_i
    x_i <- y_i - eta/gamma^k g_i(y_i + rho g_i(y_i) / ||g_i(y_i)||)

Both gradients are of the same mini-batch. The E local steps of a round in the paper (Shi et al., ICML 2023) are a
period of E here: one iteration is one local step. The round comes first and the step after it, so the model after the
last local step is what the paper calls z, which is what the nodes send.

`gossip` says what a missing message means.
"""

from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
from annotated_types import Ge

from pame.algorithms.gossip import GossipNode, GossipSpec
from pame.algorithms.gradient_step import descend
from pame.algorithms.interface import Context


@dataclass(frozen=True)
class DfedsamSpec(GossipSpec):
    """DFedSAM: local steps with the gradient at the worst point nearby, then gossip.

    rho: how far away that point is
    """

    kind: Literal["dfedsam"] = "dfedsam"
    rho: Annotated[float, Ge(0)] = 0.01

    def node(self, context: Context) -> "Dfedsam":
        return Dfedsam(self, context)


class Dfedsam(GossipNode):
    """One node of DFedSAM."""

    def __init__(self, spec: DfedsamSpec, context: Context) -> None:
        super().__init__(spec, context)
        self._spec = spec

    def step(self, k: int) -> None:
        """A gradient step from the average, with the gradient at the worst point nearby."""
        start, size = self._take_average(), self._spec.step.size(k, 1)
        objective = self._context.objective
        slope = objective.gradient(start, k)
        steepness = float(np.sqrt(slope @ slope))
        if self._spec.rho > 0.0 and steepness > 0.0:
            slope = objective.gradient(start + self._spec.rho / steepness * slope, k)
        self._model = descend(start, size, slope, self._context.node, k)
