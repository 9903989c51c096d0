"""Three drivers of one and the same experiment, without a network.

    lock-step      all nodes take iteration k together; the algorithm objects of the real nodes; no clock
    virtual time   the same objects under a clock: compute times, link delays, stragglers, patience, `rounds` and `free`
    vectorised     PaME only, all nodes in arrays, for thousands of them; same draws, equal to rounding

May import: everything else in `pame`.
"""

from collections.abc import Callable

from pame.byte_account import ByteAccount
from pame.observe import Observer, RunOutcome
from pame.resolved_run import ResolvedRun
from pame.simulator.driver_check import check
from pame.simulator.lockstep import run_lock_step
from pame.simulator.node_group import NodeEnd, NodeGroup, NodesHere, NodeTurn
from pame.simulator.vectorised import run_vectorised
from pame.simulator.virtual_time import run_virtual_time

DRIVERS: dict[str, Callable[[ResolvedRun, Observer, ByteAccount], RunOutcome]] = {
    "lock-step": run_lock_step,
    "vectorised": run_vectorised,
    "virtual-time": run_virtual_time,
}

__all__ = [
    "DRIVERS",
    "NodeEnd",
    "NodeGroup",
    "NodeTurn",
    "NodesHere",
    "check",
    "run_lock_step",
    "run_vectorised",
    "run_virtual_time",
]
