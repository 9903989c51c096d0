"""The algorithms, one file each, behind one interface (`interface.py`); a new one is a file and a line in SPECS.

May import: `pame.compressors`, `pame.exchange`, `pame.randomness`, `pame.sampling`, `pame.problems`, `pame.topology`.
Knows nothing of transport or time.
"""

from pame.algorithms.anq_nids import AnqNidsSpec
from pame.algorithms.base import NodeBase
from pame.algorithms.beer import BeerSpec
from pame.algorithms.choco import ChocoSpec
from pame.algorithms.dcd_psgd import DcdPsgdSpec
from pame.algorithms.dfedavgm import DfedavgmSpec
from pame.algorithms.dfedsam import DfedsamSpec
from pame.algorithms.dmgt_svrg import DmgtSvrgSpec
from pame.algorithms.dpsgd import DpsgdSpec
from pame.algorithms.epidemic import EpidemicSpec
from pame.algorithms.interface import Algorithm, AlgorithmSpec, Context, Delivery, Form, Message, Received
from pame.algorithms.nids import NidsSpec
from pame.algorithms.pame import PameSpec
from pame.algorithms.selection import Selection, Wanted, Who
from pame.algorithms.squarm import SquarmSpec
from pame.algorithms.step_sizes import FixedStep, PenaltyStep, Step

SPECS: dict[str, type[AlgorithmSpec]] = {
    "pame": PameSpec,
    "dpsgd": DpsgdSpec,
    "dfedsam": DfedsamSpec,
    "dfedavgm": DfedavgmSpec,
    "epidemic": EpidemicSpec,
    "nids": NidsSpec,
    "dmgt-svrg": DmgtSvrgSpec,
    "choco": ChocoSpec,
    "beer": BeerSpec,
    "anq-nids": AnqNidsSpec,
    "dcd-psgd": DcdPsgdSpec,
    "squarm": SquarmSpec,
}

__all__ = [
    "SPECS",
    "Algorithm",
    "AlgorithmSpec",
    "AnqNidsSpec",
    "BeerSpec",
    "ChocoSpec",
    "Context",
    "DcdPsgdSpec",
    "Delivery",
    "DfedavgmSpec",
    "DfedsamSpec",
    "DmgtSvrgSpec",
    "DpsgdSpec",
    "EpidemicSpec",
    "FixedStep",
    "Form",
    "Message",
    "NidsSpec",
    "NodeBase",
    "PameSpec",
    "PenaltyStep",
    "Received",
    "Selection",
    "SquarmSpec",
    "Step",
    "Wanted",
    "Who",
]
