"""Grid and torus: nodes in rows and columns, as square as the divisors of their number allow."""

from dataclasses import dataclass
from itertools import count
from math import isqrt
from typing import Literal

import numpy as np

from pame.errors import TopologyError
from pame.topology.graph import Edges, canonical


@dataclass(frozen=True)
class Grid:
    """Nodes in rows and columns, joined to those beside, above and below; a prime number of nodes makes a line."""

    kind: Literal["grid"] = "grid"

    def edges(self, nodes: int, _seed: int) -> Edges:
        """Node r * columns + c is in row r and column c."""
        ids = np.arange(nodes).reshape(_rows(nodes), -1)
        beside = np.stack([ids[:, :-1].ravel(), ids[:, 1:].ravel()], axis=1)
        below = np.stack([ids[:-1].ravel(), ids[1:].ravel()], axis=1)
        return canonical(np.concatenate([beside, below]), nodes)


@dataclass(frozen=True)
class Torus:
    """A grid whose last row and column are joined to the first: every node has 4 neighbours (3 if there are 2 rows)."""

    kind: Literal["torus"] = "torus"

    def edges(self, nodes: int, _seed: int) -> Edges:
        """As the grid, with wrap-around; with 2 rows the way up and the way down are one edge."""
        if _rows(nodes) == 1:
            raise TopologyError(
                f"a torus needs at least 2 rows and 2 columns, and {nodes} nodes make a single row; "
                f"use {_nearest_with_rows(nodes)} nodes, or a ring"
            )
        ids = np.arange(nodes).reshape(_rows(nodes), -1)
        ways = [np.stack([ids.ravel(), np.roll(ids, -1, axis).ravel()], axis=1) for axis in (0, 1)]
        return canonical(np.concatenate(ways), nodes)


def _rows(nodes: int) -> int:
    """The largest divisor that is at most the square root."""
    return next(rows for rows in range(isqrt(nodes), 0, -1) if nodes % rows == 0)


def _nearest_with_rows(nodes: int) -> str:
    below = next((near for near in range(nodes - 1, 3, -1) if _rows(near) > 1), None)
    above = next(near for near in count(max(4, nodes + 1)) if _rows(near) > 1)
    return f"{above}" if below is None else f"{below} or {above}"
