"""The kernels that a test can assume, and what one holds of a property."""

from contract.realised import Realised
from node.shaping import Kernel

WITH_NETEM = Kernel(net_admin=True, tc=True, htb=True, netem=True, netem_seed=True, nft=True)
WITH_OLD_NETEM = Kernel(net_admin=True, tc=True, htb=True, netem=True, nft=False, reasons=(("nft", "no tables"),))
WITHOUT_NETEM = Kernel(net_admin=True, tc=True, htb=True, nft=True, reasons=(("netem", "kind is unknown"),))
NOTHING = Kernel(reasons=(("net_admin", "Operation not permitted"),))


def held_as(record: Realised) -> tuple[str, float, float | None]:
    return record.mechanism, record.asked, record.held
