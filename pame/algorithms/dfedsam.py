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


class Dfedsam(GossipNode[DfedsamSpec]):
    def step(self, k: int) -> None:
        start = self._take_average()
        slope = self._gradient(k, start)
        steepness = float(np.sqrt(slope @ slope))
        if self._spec.rho > 0.0 and steepness > 0.0:
            slope = self._gradient(k, start + self._spec.rho / steepness * slope)
        self._model = self._descend(k, start, slope)
