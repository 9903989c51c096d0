"""The algorithms, one file each, behind one seam (`seam.py`); a new one is a file and a line in SPECS.

May import: `pame.exchange`, `pame.sampling`, `pame.problems`, `pame.topology`. Knows nothing of transport or time.
"""

from pame.algorithms.dpsgd import Dpsgd, DpsgdSpec
from pame.algorithms.pame import Pame, PameSpec
from pame.algorithms.seam import (
    Algorithm,
    AlgorithmSpec,
    Context,
    Delivery,
    Form,
    Message,
    Reach,
    Received,
)
from pame.algorithms.selection import Mode, Selection, Wanted
from pame.algorithms.steps import FixedStep, PenaltyStep, Step

SPECS: dict[str, type[PameSpec] | type[DpsgdSpec]] = {"pame": PameSpec, "dpsgd": DpsgdSpec}

__all__ = [
    "SPECS",
    "Algorithm",
    "AlgorithmSpec",
    "Context",
    "Delivery",
    "Dpsgd",
    "DpsgdSpec",
    "FixedStep",
    "Form",
    "Message",
    "Mode",
    "Pame",
    "PameSpec",
    "PenaltyStep",
    "Reach",
    "Received",
    "Selection",
    "Step",
    "Wanted",
]
