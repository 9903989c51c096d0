"""The algorithms, one file each, behind one interface (`interface.py`); a new one is a file and a line in SPECS.

May import: `pame.compressors`, `pame.exchange`, `pame.randomness`, `pame.sampling`, `pame.problems`, `pame.topology`.
Knows nothing of transport or time.
"""

from pame.algorithms.anq_nids import AnqNids, AnqNidsSpec
from pame.algorithms.base import NodeBase
from pame.algorithms.beer import Beer, BeerSpec
from pame.algorithms.choco import Choco, ChocoSpec
from pame.algorithms.dcd_psgd import DcdPsgd, DcdPsgdSpec
from pame.algorithms.dfedavgm import Dfedavgm, DfedavgmSpec
from pame.algorithms.dfedsam import Dfedsam, DfedsamSpec
from pame.algorithms.dmgt_svrg import DmgtSvrg, DmgtSvrgSpec
from pame.algorithms.dpsgd import Dpsgd, DpsgdSpec
from pame.algorithms.epidemic import Epidemic, EpidemicSpec
from pame.algorithms.interface import (
    Algorithm,
    AlgorithmSpec,
    Context,
    Delivery,
    Form,
    Message,
    Received,
)
from pame.algorithms.nids import Nids, NidsSpec
from pame.algorithms.pame import Pame, PameSpec
from pame.algorithms.selection import Selection, Wanted, Who
from pame.algorithms.squarm import Squarm, SquarmSpec
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
    "AnqNids",
    "AnqNidsSpec",
    "Beer",
    "BeerSpec",
    "Choco",
    "ChocoSpec",
    "Context",
    "DcdPsgd",
    "DcdPsgdSpec",
    "Delivery",
    "Dfedavgm",
    "DfedavgmSpec",
    "Dfedsam",
    "DfedsamSpec",
    "DmgtSvrg",
    "DmgtSvrgSpec",
    "Dpsgd",
    "DpsgdSpec",
    "Epidemic",
    "EpidemicSpec",
    "FixedStep",
    "Form",
    "Message",
    "Nids",
    "NidsSpec",
    "NodeBase",
    "Pame",
    "PameSpec",
    "PenaltyStep",
    "Received",
    "Selection",
    "Squarm",
    "SquarmSpec",
    "Step",
    "Wanted",
    "Who",
]
