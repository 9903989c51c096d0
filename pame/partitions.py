"""Which samples of a data set each node has: indices by the labels, drawn from the seed.

    iid         all samples are shuffled once and cut into pieces whose sizes differ by at most one
    classes     node i has class i mod K and C - 1 others; each class is shuffled and split evenly over its holders
    dirichlet   by class: each class is cut over the nodes with p ~ Dir(beta 1_m); sizes differ
                by node: sizes are the same; each node draws its mix of classes q ~ Dir(beta 1_K)

"Dir(beta)" in the literature is one of the last two: by class in Flower, FedLab and DecentralizePy, by node in FedDyn,
DisPFL and the code of DFedSAM.

The draws of a partition have keys (seed, PARTITION, node = a class or a node, iteration = which draw).
"""

from bisect import bisect_right
from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
from annotated_types import Ge, Interval
from numpy.typing import NDArray

from pame.errors import ParameterError
from pame.randomness import Key, Purpose, dirichlet, permutation, subset, uniforms

Indices = NDArray[np.int64]

DRAWS = 100
"""How often a partition is drawn until every node has enough samples."""
_ORDER, _OTHERS, _TURNS, _MIX = range(4)  # iterations of keys; the draws of proportions begin with _MIX
_DOUBLINGS = 10
_FEW = 10  # draws for a value that works: who has enough in few has it in DRAWS


@dataclass(frozen=True, slots=True)
class IidPartition:
    """Every node has samples of the same law: all are shuffled once and cut."""

    kind: Literal["iid"] = "iid"


@dataclass(frozen=True, slots=True)
class ClassesPartition:
    """Every node has samples of a few classes only; how many samples differs.

    classes: how many classes a node has: its own (its number modulo all classes) and others drawn for it
    """

    kind: Literal["classes"] = "classes"
    classes: Annotated[int, Ge(1)] = 2


@dataclass(frozen=True, slots=True)
class DirichletPartition:
    """Shares of classes are drawn from a Dirichlet distribution.

    beta: its concentration; the smaller, the more the nodes differ
    by: `class` cuts each class over the nodes, so that sizes differ; `node` draws for each node a mix of classes, and
        all have the same number of samples
    least: samples that every node must have; by class, the partition is drawn anew until they have
    """

    kind: Literal["dirichlet"] = "dirichlet"
    beta: Annotated[float, Interval(ge=0.001, le=1e6)] = 0.5
    by: Literal["class", "node"] = "class"
    least: Annotated[int, Ge(1)] = 10


Partition = IidPartition | ClassesPartition | DirichletPartition


def shares(spec: Partition, labels: NDArray[np.int64], classes: int, nodes: int, seed: int) -> list[Indices]:
    """The indices of each node's samples, ascending; no sample has two nodes, and some may have none."""
    sizes = _class_sizes(labels, classes)
    if nodes > labels.size:
        raise ParameterError(f"nodes: {nodes} nodes cannot share {labels.size} samples: use at most {labels.size}")
    match spec:
        case IidPartition():
            found = np.array_split(permutation(Key(seed, Purpose.PARTITION, iteration=_ORDER), labels.size), nodes)
        case ClassesPartition():
            found = _by_classes(spec, labels, sizes, nodes, seed)
        case DirichletPartition():
            found = _by_dirichlet(spec, labels, sizes, nodes, seed)
    return [np.sort(share) for share in found]


def class_counts(shares: list[Indices], labels: NDArray[np.int64], classes: int) -> NDArray[np.int64]:
    """Row i: how many samples of each class node i has."""
    return np.array([np.bincount(labels[share], minlength=classes) for share in shares], dtype=np.int64)


def held_classes(spec: ClassesPartition, classes: int, nodes: int, seed: int) -> list[Indices]:
    """The classes of each node, ascending."""
    if spec.classes > classes:
        raise ParameterError(
            f"partition.classes: {spec.classes} classes per node, but the data has {classes}: use at most {classes}"
        )
    held = []
    for node in range(nodes):
        own = node % classes
        others = subset(Key(seed, Purpose.PARTITION, node, _OTHERS), classes - 1, spec.classes - 1)
        held.append(np.sort(np.append(others + (others >= own), own)))
    return held


def _by_classes(
    spec: ClassesPartition, labels: NDArray[np.int64], sizes: list[int], nodes: int, seed: int
) -> list[Indices]:
    held = held_classes(spec, len(sizes), nodes, seed)
    _refuse_missing(sizes, "partition.kind: classes")
    found: list[list[Indices]] = [[] for _ in range(nodes)]
    for number in range(len(sizes)):
        holders = [node for node in range(nodes) if number in held[node]]
        if holders:
            pieces = np.array_split(_shuffled(labels, number, seed), len(holders))
            for node, piece in zip(holders, pieces, strict=True):
                found[node].append(piece)
    joined = [np.concatenate(pieces) for pieces in found]
    empty = [node for node, share in enumerate(joined) if not share.size]
    if empty:
        raise ParameterError(
            f"partition.classes: node {empty[0]} would have no sample, because its classes have fewer samples than "
            f"nodes: set nodes to {min(sizes)} at most, or use partition.kind: iid"
        )
    return joined


def _by_dirichlet(
    spec: DirichletPartition, labels: NDArray[np.int64], sizes: list[int], nodes: int, seed: int
) -> list[Indices]:
    _refuse_missing(sizes, "partition.kind: dirichlet")
    most = labels.size // nodes
    if spec.least > most:
        raise ParameterError(
            f"partition.least: {nodes} nodes cannot have {spec.least} of {labels.size} samples each: use at most {most}"
        )
    orders = [_shuffled(labels, number, seed) for number in range(len(sizes))]
    return _cut(spec, orders, nodes, seed) if spec.by == "class" else _mixed(spec, orders, nodes, most, seed)


def _cut(spec: DirichletPartition, orders: list[Indices], nodes: int, seed: int) -> list[Indices]:
    """By class: node i has the part of each class between the cumulated shares of i nodes and of i + 1."""
    sizes = [order.size for order in orders]
    cuts, smallest = _enough(spec.beta, sizes, nodes, seed, spec.least)
    if cuts is None:
        raise ParameterError(_refusal(spec, sizes, nodes, seed, smallest))
    pieces = [np.split(order, places) for order, places in zip(orders, cuts, strict=True)]
    return [np.concatenate([of_class[node] for of_class in pieces]) for node in range(nodes)]


def _enough(
    beta: float, sizes: list[int], nodes: int, seed: int, least: int, draws: int = DRAWS
) -> tuple[list[Indices] | None, int]:
    """Where the classes are cut in the first draw with enough for every node; the best smallest size of all draws."""
    best = 0
    for draw in range(draws):
        keys = [Key(seed, Purpose.PARTITION, number, _MIX + draw) for number in range(len(sizes))]
        cuts = [
            np.floor(np.cumsum(dirichlet(key, beta, nodes))[:-1] * size).astype(np.int64).clip(0, size)
            for key, size in zip(keys, sizes, strict=True)
        ]
        each = sum(np.diff(places, prepend=0, append=size) for places, size in zip(cuts, sizes, strict=True))
        best = max(best, int(np.min(each)))
        if best >= least:
            return cuts, best
    return None, best


def _refusal(spec: DirichletPartition, sizes: list[int], nodes: int, seed: int, smallest: int) -> str:
    """With values that work: a smaller `least`, a larger `beta`, or equal sizes."""
    larger = (spec.beta * 2**power for power in range(1, _DOUBLINGS))
    works = next((beta for beta in larger if _enough(beta, sizes, nodes, seed, spec.least, _FEW)[0] is not None), None)
    ways = [
        *([f"partition.least: {smallest}"] if smallest else []),
        *([f"partition.beta: {works:g}"] if works is not None else []),
        "partition.by: node",
    ]
    return (
        f"partition.least: in {DRAWS} draws with beta {spec.beta:g} some node always had fewer than {spec.least} "
        f"samples (at best {smallest}): use {' or '.join(ways)}"
    )


def _mixed(spec: DirichletPartition, orders: list[Indices], nodes: int, size: int, seed: int) -> list[Indices]:
    """By node: in turn r every node, beginning with node r mod m, takes the next sample of a class drawn from its mix.

    A class that has run out has no share in a mix any more; who has no other takes of all classes by what is left.
    """
    mixes = [dirichlet(Key(seed, Purpose.PARTITION, node, _MIX), spec.beta, len(orders)) for node in range(nodes)]
    draws = [uniforms(Key(seed, Purpose.PARTITION, node, _TURNS), size).tolist() for node in range(nodes)]
    waiting = [order[::-1].tolist() for order in orders]
    taken: list[list[int]] = [[] for _ in range(nodes)]
    limits = _limits(mixes, waiting)
    for turn in range(size):
        for place in range(nodes):
            node = (turn + place) % nodes
            cumulated = limits[node] or np.cumsum([len(left) for left in waiting]).tolist()
            number = bisect_right(cumulated, draws[node][turn] * cumulated[-1])
            if number == len(orders):  # the product was rounded up
                number = bisect_right(cumulated, cumulated[-1] * (1.0 - 2.0**-50))
            taken[node].append(waiting[number].pop())
            if not waiting[number]:
                limits = _limits(mixes, waiting)
    return [np.array(share, dtype=np.int64) for share in taken]


def _limits(mixes: list[NDArray[np.float64]], waiting: list[list[int]]) -> list[list[float]]:
    """Each node's shares of the classes that are left, cumulated; none: it has no share in any."""
    left = np.array([bool(samples) for samples in waiting])
    cumulated = [np.cumsum(np.where(left, mix, 0.0)).tolist() for mix in mixes]
    return [limits if limits[-1] > 0.0 else [] for limits in cumulated]


def _shuffled(labels: NDArray[np.int64], number: int, seed: int) -> Indices:
    """The samples of a class, in the order in which they are given away."""
    samples = np.flatnonzero(labels == number)
    return samples[permutation(Key(seed, Purpose.PARTITION, number, _ORDER), samples.size)]


def _class_sizes(labels: NDArray[np.int64], classes: int) -> list[int]:
    if labels.size and not (labels.min() >= 0 and labels.max() < classes):
        raise ParameterError(
            f"labels are from {labels.min()} to {labels.max()}: with {classes} classes, use 0 to {classes - 1}"
        )
    return [int(size) for size in np.bincount(labels, minlength=classes)]


def _refuse_missing(sizes: list[int], key: str) -> None:
    missing = [number for number, size in enumerate(sizes) if not size]
    if missing:
        raise ParameterError(
            f"{key}: class {missing[0]} has no training sample: use partition.kind: iid, or other data"
        )
