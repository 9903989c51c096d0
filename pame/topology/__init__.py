"""Who is joined to whom: the kinds of graph an experiment can ask for, their mixing weights and their description.

A kind is a small dataclass in `kinds/`; `build` makes of it a connected `Topology`. Figures (`describe`) and positions
(`layout`) are modules of their own, because a node needs none of them and they import scipy or networkx. Everything
else here may import: the standard library, numpy, annotated-types, `pame.errors` and `pame.randomness`.
"""

from pame.errors import TopologyError
from pame.topology.graph import Edges, MixingKind, Topology, components, mixing_row
from pame.topology.kinds import SPECS, TopologySpec
from pame.topology.kinds.edge_list import EdgeList


def build(spec: TopologySpec, nodes: int, seed: int, edge_list_text: str | None = None) -> Topology:
    """The connected graph of a spec; the same spec, nodes and seed give the same graph everywhere.

    `edge_list_text` is the content of the file that an edge-list spec names; other kinds ignore it.
    """
    if nodes < 2:
        raise TopologyError(f"a topology needs at least 2 nodes, not {nodes}; ask for more nodes")
    if isinstance(spec, EdgeList):
        if edge_list_text is None:
            raise TopologyError(f"the edges in {spec.file} were not read; pass the text of that file")
        edges = spec.parse(edge_list_text, nodes)
    else:
        edges = spec.edges(nodes, seed)
    unreachable = components(nodes, edges).nonzero()[0]
    if unreachable.size:
        raise TopologyError(
            f"the {spec.kind} graph is not connected: no path leads from node 0 to node {unreachable[0]}; "
            "add an edge between their parts"
        )
    return Topology(nodes, edges)


__all__ = ["SPECS", "Edges", "MixingKind", "Topology", "TopologySpec", "build", "mixing_row"]
