"""PaME (the paper's Algorithm 1): local steps, and at every round an average of partial messages.

if k % kappa_i == 0:  v = PME(w_i^k, {w_j^k : j in N_i^k})      else:  v = w_i^k
w_i^{k+1} = v - step(k) grad f_i(v; batch)
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated, ClassVar, Literal

from annotated_types import Ge, Gt, Le

from pame.algorithms.base import SteppingNode
from pame.algorithms.interface import Context, Form, Message, Received
from pame.algorithms.selection import WHO, Who
from pame.algorithms.step_sizes import FixedStep, Step
from pame.errors import ParameterError
from pame.exchange import PartialMessage, aggregate, reveal
from pame.sampling import support


@dataclass(frozen=True)
class PameSpec:
    """PaME: local steps, and at a round the average of parts of some neighbours' models.

    participation: nu, the share of its neighbours that a node averages at a round
    support: s, how much of a model a message reveals: a share of n, or a count if it is an integer
    draw: who draws the edges of a round, each node for itself (directed, the paper's), both ends (mutual) or the edge
        itself (shared); the last two are for comparisons
    step: how large a step is
    """

    kind: Literal["pame"] = "pame"
    participation: Annotated[float, Gt(0), Le(1)] = 0.2
    support: Annotated[float, Gt(0), Le(1)] | Annotated[int, Ge(1)] = 0.2
    draw: Literal["directed", "mutual", "shared"] = "directed"
    step: Step = field(default_factory=FixedStep)

    @property
    def share(self) -> float:
        return self.participation

    def support_size(self, n: int) -> int:
        """`s`: how many of n coordinates a message reveals."""
        if not isinstance(self.support, int):
            return min(max(1, round(self.support * n)), n)
        if self.support > n:
            raise ParameterError(f"a support of {self.support} does not fit a model with n = {n}: give at most {n}")
        return self.support

    @property
    def who(self) -> Who:
        return WHO[self.draw]

    fan_out: ClassVar = 0

    def first_step(self, enough: int) -> float:
        return self.step.size(0, enough)

    def node(self, context: Context) -> "Pame":
        return Pame(self, context)


class Pame(SteppingNode[PameSpec]):
    vectors: ClassVar = {"w": Form.PARTIAL}
    bundles: ClassVar = [frozenset({"w"})]

    def __init__(self, spec: PameSpec, context: Context) -> None:
        super().__init__(spec, context)
        self._support_size = spec.support_size(context.start.size)
        self._enough = context.selection.enough(context.node)

    def message(self, k: int) -> Message:
        context = self._context
        coordinates = support(context.seed, context.node, k, self._model.size, self._support_size)
        return {"w": reveal(self._model, coordinates, context.values)}

    def absorb(self, k: int, received: Sequence[Received]) -> float:
        result = aggregate(self._model, {message.sender: _partial(message) for message in received})
        self._average = result.average
        return float(result.coverage.mean())

    def step(self, k: int) -> None:
        """A gradient step from v. It divides by the nominal t_i: a failing link never enlarges a step."""
        start = self._take_average()
        self._model = self._descend(k, start, self._gradient(k, start))


def _partial(received: Received) -> PartialMessage:
    vector = received.message["w"]
    if not isinstance(vector, PartialMessage):
        raise TypeError(f"PaME was handed a {type(vector).__name__} where it expects a partial message")
    return vector
