"""How many nodes with neural networks the memory of this machine has room for.

They are forked after torch was imported, so that they share it; a node's own are its models, its samples, and what
torch keeps for one gradient.
"""

from pathlib import Path

from contract.assignment_limits import model_bytes
from contract.data_delivery import shard_source
from orchestrator.errors import TooLittleMemory
from pame.resolved_run import ResolvedRun

SHARED_BYTES = 250 * 2**20
"""Measured: 240 MB are resident with torch 2.13."""
OWN_BYTES = 70 * 2**20
"""Besides models and samples; measured for batches of 32: 25 MB (small CNN) to 85 MB (ResNet-20)."""


def check_torch_memory(setting: ResolvedRun, free: int | None = None) -> None:
    """TooLittleMemory, which says how many nodes fit, unless all do; `free`: bytes, None for those of this machine."""
    source = shard_source(setting.problem)
    if source is None:
        return
    nodes, selection = setting.topology.nodes, setting.selection()
    contacts = max(len(selection.contacts(index)) for index in range(nodes))
    samples = max(source.format(index).bytes for index in range(nodes))
    each = OWN_BYTES + model_bytes(setting.problem.n, contacts) + samples
    there = _free() if free is None else free
    fit = max(0, (there - SHARED_BYTES) // each)
    if fit < nodes:
        raise TooLittleMemory(
            f"{nodes} nodes with this network need about {(SHARED_BYTES + nodes * each) / 2**30:.3g} GiB, and "
            f"{there / 2**30:.3g} GiB are free here: {fit} fit; make nodes smaller, or use --backend simulate"
        )


def _free() -> int:
    """What could be had without swapping."""
    lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
    [kibibytes] = [line.split()[1] for line in lines if line.startswith("MemAvailable:")]
    return int(kibibytes) * 1024
