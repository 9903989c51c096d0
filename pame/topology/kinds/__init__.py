"""The kinds of graph, one dataclass each: a `kind` name, its parameters, and `edges(nodes, seed)`.

A new kind is a file here, and its class in `TopologySpec`. May import: as `pame.topology`.
"""

from typing import get_args

from pame.topology.kinds.edge_list import EdgeList
from pame.topology.kinds.erdos_renyi import ErdosRenyi
from pame.topology.kinds.lattice import Grid, Torus
from pame.topology.kinds.plain import Complete, Exponential, Ring, Star
from pame.topology.kinds.random_regular import RandomRegular
from pame.topology.kinds.scale_free import ScaleFree
from pame.topology.kinds.small_world import SmallWorld
from pame.topology.kinds.two_clusters import TwoClusters

TopologySpec = (
    Ring
    | Grid
    | Torus
    | Star
    | Complete
    | ErdosRenyi
    | RandomRegular
    | SmallWorld
    | ScaleFree
    | Exponential
    | TwoClusters
    | EdgeList
)

SPECS: dict[str, type] = {spec.kind: spec for spec in get_args(TopologySpec)}

__all__ = [
    "SPECS",
    "Complete",
    "EdgeList",
    "ErdosRenyi",
    "Exponential",
    "Grid",
    "RandomRegular",
    "Ring",
    "ScaleFree",
    "SmallWorld",
    "Star",
    "TopologySpec",
    "Torus",
    "TwoClusters",
]
