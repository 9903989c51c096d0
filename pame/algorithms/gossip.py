"""Gossip: at a round a node's model becomes the weighted sum of its own and its neighbours' whole models.

What D-PSGD, DFedSAM and DFedAvgM have in common; they differ in the local step. A missing neighbour's weight goes to
the node itself (`on_loss: self`). Treating it as zero (`naive`) shrinks the model at every loss; it is here to show
that.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal, TypeVar

from pame.algorithms.base import MixingSpec, SteppingNode, dense
from pame.algorithms.interface import Context, Form, Message, Received
from pame.algorithms.mixing import Mixing
from pame.exchange import Vector, as_sent


@dataclass(frozen=True)
class GossipSpec(MixingSpec):
    """Those of mixing, and what a missing message means.

    on_loss: a missing neighbour's weight goes to the node itself (self), or it counts as a model of zeros (naive)
    """

    on_loss: Literal["self", "naive"] = "self"


Spec = TypeVar("Spec", bound=GossipSpec)


class GossipNode(SteppingNode[Spec]):
    bundles: ClassVar = [frozenset({"x"})]

    def __init__(self, spec: Spec, context: Context) -> None:
        super().__init__(spec, context)
        self._mixing = Mixing(context, spec.mixing)

    @property
    def vectors(self) -> Mapping[str, Form]:
        return {"x": Form.DENSE}

    def message(self, k: int) -> Message:
        return {"x": as_sent(self._own, self._context.values)}

    def absorb(self, k: int, received: Sequence[Received]) -> float:
        models = {message.sender: self._model_in(message) for message in received}
        self._average = self._mixing.average(k, self._own, models, self._spec.on_loss)
        return float(len(received))

    def _model_in(self, received: Received) -> Vector:
        return dense(received, "x")
