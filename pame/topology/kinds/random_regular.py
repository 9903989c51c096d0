"""A random graph in which every node has the same number of neighbours.

Each node has `degree` stubs; stubs are paired at random, and a pair is an edge unless it joins a node to itself or
repeats an edge. Two ways to go on from there:

    all or nothing   start over unless every pair is an edge: exactly uniform over the regular graphs, but succeeds
                     with probability of about exp(-(degree^2 - 1) / 4)
    piece by piece   keep the edges, pair the remaining stubs again (Steger and Wormald): nearly uniform, any degree

The first is used up to degree 4. A degree above half of the others is drawn as the complement of a small one.
"""

from dataclasses import dataclass, replace
from typing import Annotated, Literal

import numpy as np
from annotated_types import Ge
from numpy.typing import NDArray

from pame.errors import TopologyError
from pame.randomness import Key, Purpose, permutation
from pame.topology.graph import Edges, canonical, first_connected

Codes = NDArray[np.int64]
_EXACT_DEGREE = 4
_TRIES = 1000
_TURNS = 200
"""Pairings of one try, far above the dozen or two that are needed."""


@dataclass(frozen=True)
class RandomRegular:
    """Every node has the same number of neighbours, otherwise at random; drawn again until connected.

    degree: that number
    """

    degree: Annotated[int, Ge(1)]
    kind: Literal["random-regular"] = "random-regular"

    def edges(self, nodes: int, seed: int) -> Edges:
        """Uniform over the connected regular graphs up to degree 4 and from degree m - 5, nearly so between."""
        self._refuse_impossible(nodes)
        if self.degree == 2:
            return _cycle(nodes, seed)
        return first_connected(nodes, lambda attempt: _draw(nodes, self.degree, seed, attempt), "use a higher degree")

    def _refuse_impossible(self, nodes: int) -> None:
        if not 1 <= self.degree < nodes:
            raise TopologyError(
                f"a node cannot have {self.degree} neighbours among {nodes} nodes; use a degree of 1 to {nodes - 1}"
            )
        if nodes * self.degree % 2:
            raise TopologyError(
                f"{nodes} nodes of degree {self.degree} would need half an edge; "
                f"use an even degree or {nodes + 1} nodes"
            )
        if self.degree == 1 and nodes > 2:
            raise TopologyError("a graph of degree 1 is only pairs of nodes; use a degree of at least 2")


def _cycle(nodes: int, seed: int) -> Edges:
    """A connected graph of degree 2 is one cycle; pairing stubs would give several, nearly always."""
    order = permutation(Key(seed, Purpose.GRAPH), nodes)
    return canonical(np.stack([order, np.roll(order, -1)], axis=1), nodes)


def _draw(nodes: int, degree: int, seed: int, attempt: int) -> Edges:
    if 2 * degree > nodes - 1:
        absent = _draw(nodes, nodes - 1 - degree, seed, attempt)
        pairs = np.stack(np.triu_indices(nodes, 1), axis=1)
        return pairs[np.isin(_codes(pairs, nodes), _codes(absent, nodes), invert=True)]
    if degree == 0:
        return np.empty((0, 2), dtype=np.int64)
    draws = (_all_or_nothing, _piece_by_piece) if degree <= _EXACT_DEGREE else (_piece_by_piece,)
    for draw in draws:
        for number in range(_TRIES):
            codes = draw(nodes, degree, Key(seed, Purpose.GRAPH, 0, attempt, number))
            if codes is not None:
                return np.stack([codes // nodes, codes % nodes], axis=1)
    raise TopologyError(f"no graph of degree {degree} on {nodes} nodes was found; use another seed or degree")


def _all_or_nothing(nodes: int, degree: int, key: Key) -> Codes | None:
    stubs = np.repeat(np.arange(nodes), degree)
    pairs = stubs[permutation(key, stubs.size)].reshape(-1, 2)
    codes = np.sort(_codes(pairs, nodes))
    repeats = (codes[1:] == codes[:-1]).any()
    return None if repeats or (pairs[:, 0] == pairs[:, 1]).any() else codes


def _piece_by_piece(nodes: int, degree: int, key: Key) -> Codes | None:
    stubs = np.repeat(np.arange(nodes), degree)
    edges = np.empty(0, dtype=np.int64)
    for turn in range(1, _TURNS + 1):
        pairs = stubs[permutation(replace(key, node=turn), stubs.size)].reshape(-1, 2)
        codes = _codes(pairs, nodes)
        kept = np.zeros(codes.size, dtype=np.bool_)
        kept[np.unique(codes, return_index=True)[1]] = True  # of equal pairs the first
        kept &= (pairs[:, 0] != pairs[:, 1]) & ~np.isin(codes, edges)
        edges = np.sort(np.concatenate([edges, codes[kept]]))
        stubs = pairs[~kept].ravel()
        if not stubs.size:
            return edges
        if not kept.any() and not _can_go_on(stubs, edges, nodes):
            return None
    return None


def _can_go_on(stubs: NDArray[np.int64], edges: Codes, nodes: int) -> bool:
    """Whether any two nodes with free stubs are not joined yet."""
    free = np.unique(stubs)
    wanted = free.size * (free.size - 1) // 2
    first, second = np.triu_indices(free.size, 1)
    return bool(np.isin(free[first] * nodes + free[second], edges).sum() < wanted)


def _codes(pairs: NDArray[np.int64], nodes: int) -> Codes:
    """One number per pair, whichever way round it is."""
    return np.asarray(pairs.min(axis=1) * nodes + pairs.max(axis=1), dtype=np.int64)
