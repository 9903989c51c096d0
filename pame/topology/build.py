"""From what an experiment asks for to a connected graph."""

from pame.errors import TopologyError
from pame.topology.graph import Topology, components
from pame.topology.kinds import TopologySpec
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
