"""topology.json: the graph of a run, its figures and its picture."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from orchestrator.results.files import read_object_if_whole
from orchestrator.results.graph_drawing.svg import svg
from orchestrator.results.typed_json import from_json
from pame.topology import Topology
from pame.topology.describe import describe
from pame.topology.graph import canonical
from pame.topology.layout import layout

FILE = "topology.json"
GRAPH_NODES = 20_000


@dataclass(frozen=True)
class TopologyFile:
    """The names of the fields are the keys of the file."""

    nodes: int = 0
    kind: str = ""
    description: Mapping[str, float | bool | None] = field(default_factory=dict)
    """The figures of `pame.topology.describe`."""
    edges: Sequence[Any] = ()
    """Pairs of nodes."""
    positions: Sequence[Any] = ()
    """Where each node is drawn."""
    svg: str = ""

    @cached_property
    def graph(self) -> Topology | None:
        """None if nodes and edges do not fit together, or are too many for a report."""
        nodes, edges = self.nodes, self.edges
        if not 1 <= nodes <= GRAPH_NODES:
            return None
        if not all(isinstance(edge, list) and [type(end) for end in edge] == [int, int] for edge in edges):
            return None
        if not all(0 <= a < nodes and 0 <= b < nodes and a != b for a, b in edges):
            return None
        return Topology(nodes, canonical(np.array(edges, np.int64).reshape(-1, 2), nodes))


def drawn_topology(topology: Topology, kind: str) -> TopologyFile:
    """What is written of a graph; takes a while, because it is laid out."""
    positions, figures = layout(topology), asdict(describe(topology))
    nodes, drawing = figures.pop("nodes"), svg(topology, positions)
    return TopologyFile(nodes, kind, figures, topology.edges.tolist(), positions.round(4).tolist(), drawing)


def read_topology(folder: Path) -> TopologyFile | None:
    return from_json(TopologyFile, read_object_if_whole(folder / FILE))
