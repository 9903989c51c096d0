"""Who is joined to whom: the kinds of graph an experiment can ask for, their mixing weights and their description.

A kind is a small dataclass in `kinds/`; `build` makes of it a connected `Topology`. Figures (`describe`) and positions
(`layout`) are modules of their own, because a node needs none of them and they import scipy or networkx. Everything
else here may import: the standard library, numpy, annotated-types, `pame.errors` and `pame.randomness`.
"""

from pame.topology.build import build
from pame.topology.graph import Edges, Topology
from pame.topology.kinds import SPECS, TopologySpec
from pame.topology.weights import MixingKind, mixing_row

__all__ = ["SPECS", "Edges", "MixingKind", "Topology", "TopologySpec", "build", "mixing_row"]
