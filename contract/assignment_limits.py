"""What an assignment may ask of a node, checked before anything is drawn or allocated.

Every number of a message has a range; data, models and replicas must fit into this machine. `ParameterError` says what
does not.
"""

import os
import re
from collections.abc import Callable, Collection

import numpy as np

from contract.rpc import control_pb2 as pb
from pame.errors import ParameterError
from pame.fault_effects import Plan
from pame.fault_plan_text import named_nodes
from pame.problems import ProblemSpec
from pame.spec_json import LARGEST, LARGEST_WHOLE

MOST_NODES = 100_000
SECRET_BYTES = 16
"""Of a run, which every stream between its nodes shows."""
MOST_EDGES = 20_000_000
MOST_TEXT = 32 * 2**20
_LARGEST_SEED = 2**63
_MODELS = 16
"""Of a node besides its data: model, average, gradient, messages, snapshots."""
_ADDRESS = re.compile(r"[!-~]{1,255}:([1-9][0-9]{0,4})")
_LAST_PORT = 65535
_NAME = 255


def check(message: pb.Assignment) -> None:
    """Everything but the specs, the rules and the plan, which are read elsewhere, by bounds of their own."""
    nodes, edges = message.nodes, len(message.edges)
    if not 1 <= nodes <= MOST_NODES or message.index >= nodes or len(message.periods) != nodes:
        raise not_an_assignment(f"node {message.index} of {nodes}, {len(message.periods)} periods")
    if edges % 2 or edges > 2 * MOST_EDGES or not _are_edges(message):
        raise not_an_assignment(f"{edges} ends of edges that are no graph on {nodes} nodes")
    if len(message.plan) > MOST_TEXT or message.seed >= _LARGEST_SEED:
        raise not_an_assignment(f"a plan of {len(message.plan)} characters, or seed {message.seed}")
    if not all(1 <= count <= LARGEST_WHOLE for count in (message.snapshot_every, *message.periods)):
        raise not_an_assignment(f"snapshots and periods are counted from 1 to {LARGEST_WHOLE}")
    if len(message.secret) != SECRET_BYTES:
        raise not_an_assignment(f"a secret of {len(message.secret)} bytes, not {SECRET_BYTES}")
    if not 0.0 <= message.resume.seconds <= LARGEST:
        raise not_an_assignment(
            f"it begins after {message.resume.seconds:g} seconds, which is not within 0 and {LARGEST:g}"
        )
    neighbours(message.neighbours, nodes, message.index)


def neighbours(near: Collection[pb.Neighbour], nodes: int, index: int) -> None:
    """Who they are, and where they listen."""
    if len({one.index for one in near}) < len(near):
        raise not_an_assignment("a neighbour comes twice")
    for one in near:
        if one.index >= nodes or one.index == index:
            raise not_an_assignment(f"neighbour {one.index} of node {index} among {nodes} nodes")
        match = _ADDRESS.fullmatch(one.address)
        if match is None or int(match[1]) > _LAST_PORT:
            raise not_an_assignment(f"neighbour {one.index} is at no HOST:PORT")
        if len(one.name) > _NAME or not one.name.isprintable():
            raise not_an_assignment(f"the name of neighbour {one.index}")


def plan(events: Plan, nodes: int) -> None:
    strangers = [node for node in named_nodes(events) if node >= nodes]
    if strangers:
        raise not_an_assignment(f"its plan names node {strangers[0]}, and there are {nodes}")


def memory(problem: ProblemSpec, contacts: int, there: Callable[[], int] | None = None) -> None:
    """Refuse what cannot fit: this node's data, its models, a replica of each neighbour's. `there`: bytes."""
    n, samples = getattr(problem, "n", 0), getattr(problem, "samples", 0)
    needed = 8 * n * samples + model_bytes(n, contacts)
    require_memory(needed, "its data and models", "make problem.samples or problem.n smaller", there)


def model_bytes(n: int, contacts: int) -> int:
    """Of a node's models and replicas, at the most."""
    return 8 * n * (_MODELS + contacts)


def require_memory(needed: int, use: str, advice: str, there: Callable[[], int] | None = None) -> None:
    has = (there or _physical)()
    if needed > has:
        raise ParameterError(
            f"a node needs {needed / 2**30:.3g} GiB for {use}, and this machine has {has / 2**30:.3g} GiB: {advice}"
        )


def _physical() -> int:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def _are_edges(message: pb.Assignment) -> bool:
    """Pairs of different nodes, the smaller first, ascending, none twice."""
    edges = np.array(message.edges, dtype=np.int64).reshape(-1, 2)
    low, high = edges[:, 0], edges[:, 1]
    keys = low * message.nodes + high
    return bool(np.all(low < high) and np.all(high < message.nodes) and np.all(np.diff(keys) > 0))


def not_an_assignment(why: str) -> ParameterError:
    return ParameterError(f"not an assignment: {why}")
