"""The experiment that most claims start from, and the conditions under which each comparison of PaME with itself runs.

Participation, support, growth and periods are the paper's. Samples, noise, dimension and the step of 0.055 were fitted
to one row of the paper's table "effect of larger m" (m = 1000, nu = 0.1; see `large_m`), and to nothing else. The step
is an ambiguity of the paper, so both readings run:

as printed         1 / (sigma_i^k t_i) with sigma0 = 1, gamma = 1.005
independent of t   0.055 / 1.005^k

on Erdős–Rényi graphs, which the paper uses, and on regular ones with about as many neighbours.
"""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from itertools import product, starmap

from orchestrator.campaigns.claims.claim import ClaimRun, ClaimsMode
from pame.algorithms.step_sizes import AS_PRINTED

EVERY = 2
"""How far points of its curves are apart."""
TARGET = 0.05
"""The share of the way from f(0) to the optimum that may be left."""
LAST = 300
"""Its last iteration."""


def linear_base(
    iterations: int,
    nodes: int = 32,
    degree: int = 10,
    n: int = 600,
    samples: int = 216,
    participation: float = 0.2,
    gamma: float = 1.005,
) -> str:
    """The text of an experiment file: linear regression on a regular graph."""
    return f"""
nodes: {nodes}
topology: {{kind: random-regular, degree: {degree}}}
problem: {{kind: linear, n: {n}, samples: {samples}, noise: 0.5, test_samples: 1}}
algorithm:
  kind: pame
  participation: {participation}
  support: 0.2
  step: {{kind: fixed, eta: 0.055, gamma: {gamma}}}
period: 3..7
evaluate: {{every: {EVERY}}}
stop: {{iterations: {iterations}}}
simulate: {{driver: vectorised}}
"""


LINEAR = linear_base(LAST)
PRINTED, INDEPENDENT = "as printed", "independent of t"
READINGS = {
    PRINTED: f"algorithm.step={asdict(AS_PRINTED)}",
    INDEPENDENT: "algorithm.step={kind: fixed, eta: 0.055, gamma: 1.005}",
}
"""Of the step, as settings."""
FITTED = (
    "What was fitted: the step 0.055 of the reading `independent of t`, the dimension 600, 216 samples per node and "
    'the noise 0.5 come from our reading of one row of the paper\'s table "effect of larger m" (m = 1000, nu = 0.1). '
    "`As printed` has nothing fitted in its step: sigma0 = 1, gamma = 1.005."
)
ERDOS_RENYI, REGULAR = "Erdős–Rényi", "regular"
GRAPHS = (ERDOS_RENYI, REGULAR)
_SHORT = {PRINTED: "printed", INDEPENDENT: "independent", ERDOS_RENYI: "erdos-renyi", REGULAR: "regular"}
SHARE = 0.3
"""Of the other nodes that are neighbours, unless the claim is about it."""
NODES = {ClaimsMode.QUICK: (32,), ClaimsMode.FULL: (32, 64, 128)}


@dataclass(frozen=True)
class ClaimCondition:
    """A reading of the step, a kind of graph, a number of nodes."""

    reading: str
    graph: str
    nodes: int

    @property
    def place(self) -> str:
        """In words, without the reading."""
        return f"{self.graph}, m = {self.nodes}"

    def run(self, key: str, words: str, settings: tuple[str, ...], share: float = SHARE) -> ClaimRun:
        """A run under this condition, on a graph where each node has this share of the others as neighbours."""
        own = (f"nodes={self.nodes}", graph_setting(self.graph, self.nodes, share), READINGS[self.reading])
        name = f"{key}_{_SHORT[self.reading]}_{_SHORT[self.graph]}_m-{self.nodes}"
        return ClaimRun(name, words, (*own, *settings), f"{self.reading}, {self.place}")


def conditions(mode: ClaimsMode) -> Iterator[ClaimCondition]:
    """All of them: 32 nodes in quick mode, 64 and 128 too in full mode."""
    return starmap(ClaimCondition, product(READINGS, GRAPHS, NODES[mode]))


def graph_setting(graph: str, nodes: int, share: float) -> str:
    """A graph in which a node has about this share of the others as neighbours."""
    if graph == ERDOS_RENYI:
        return f"topology={{kind: erdos-renyi, p: {share:g}}}"
    return f"topology={{kind: random-regular, degree: {2 * round(share * (nodes - 1) / 2)}}}"
