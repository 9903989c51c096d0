"""What an experiment will take, estimated before anything of it is drawn: edges, memory, evaluations, records."""

from dataclasses import dataclass
from math import comb, inf, log2

from contract.data_store import find_data
from orchestrator.experiment import Experiment
from pame.errors import PameError
from pame.network_specs import SoftmaxSpec, parameters
from pame.problems import ImageClassificationSpec
from pame.topology.kinds import Complete, ErdosRenyi, Exponential, RandomRegular, ScaleFree, SmallWorld, TwoClusters

_NUMBER = 8
_MODELS_PER_NODE = 4
"""Model, average, gradient and message of a node; or its newest snapshot, its result and pieces of both."""
_MODELS_PER_NETWORK_NODE = 13
"""Those, and in the simulator what lies in shared memory: a model, and messages of two iterations."""
_EDGE_BYTES = 64
_FASTEST = 1000.0
"""Iterations per second: nobody is faster for long."""


@dataclass(frozen=True)
class Cost:
    """All of them upper estimates; a kind of a plugin that does not say its size counts as nothing. A network's
    evaluations have no operations: what they cost is said by the run."""

    edges: int
    bytes: int
    """All nodes' data and the test set, models, the graph."""
    records: int
    """Rows: one per node and iteration."""
    evaluations: int
    operations: int
    """Additions and multiplications of all evaluations."""


def cost_of(experiment: Experiment, seconds: float = inf) -> Cost:
    """Of a run that takes so long at most."""
    problem, nodes, stop = experiment.problem, experiment.nodes, experiment.stop
    iterations = int(min(stop.last_iteration, _FASTEST * min(seconds, stop.limit_s)))
    n, samples = getattr(problem, "n", 0), getattr(problem, "samples", 0)
    rows = nodes * samples + (getattr(problem, "test_samples", 0) or 0)
    evaluations = 1 + iterations // experiment.evaluate.every
    if stop.paper is not None:
        evaluations += iterations // stop.paper.every
    edges = edges_of(experiment)
    models = n * _MODELS_PER_NODE
    if isinstance(problem, ImageClassificationSpec):  # nodes map the same samples
        models = _parameters(problem) * _MODELS_PER_NETWORK_NODE
    return Cost(
        edges=edges,
        bytes=_NUMBER * (n * rows + nodes * models) + _EDGE_BYTES * edges,
        records=nodes * iterations,
        evaluations=evaluations,
        operations=2 * n * rows * evaluations,
    )


def _parameters(problem: ImageClassificationSpec) -> int:
    """Of its network; a user's own, or one on data that are not here, counts as nothing."""
    try:
        facts = find_data(problem.data).manifest.facts
    except PameError:  # told when the data are opened
        return 0
    fits = facts.is_image or isinstance(problem.model, SoftmaxSpec)
    return (parameters(problem.model, facts.shape, len(facts.classes)) or 0) if fits else 0


def edges_of(experiment: Experiment) -> int:
    """How many edges the graph has, at most or about; a file tells by itself."""
    nodes = experiment.nodes
    match experiment.topology:
        case Complete() | TwoClusters():
            return comb(nodes, 2)
        case ErdosRenyi(p=p):
            return int(p * comb(nodes, 2)) + 1
        case RandomRegular(degree=degree) | SmallWorld(degree=degree):
            return nodes * min(degree, nodes) // 2 + 1
        case ScaleFree(attach=attach):
            return nodes * min(attach, nodes)
        case Exponential():
            return nodes * (int(log2(nodes)) + 1)
    return 2 * nodes
