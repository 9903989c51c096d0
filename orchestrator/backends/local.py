"""The backend `local`: an orchestrator in this process and every node a process of its own, on loopback."""

from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

from orchestrator.backends.on_processes import Places, check_processes, runs_on
from orchestrator.backends.processes import ON_LOOPBACK
from orchestrator.control.manual_faults import require_loss
from orchestrator.experiment import Experiment


def check_local(experiment: Experiment, base: Path) -> None:
    """Refuse what cannot be built, more processes than this machine can turn to, and packets to be lost by faults."""
    plan = check_processes(experiment, base)
    require_loss(plan, dict.fromkeys(range(experiment.nodes), "local cannot; netns and containers can"))


def on_loopback(nodes: int) -> AbstractContextManager[Places]:
    """Places for so many nodes; there is nothing to build."""
    return nullcontext(Places(ON_LOOPBACK.host, [ON_LOOPBACK] * nodes))


local = runs_on("local", on_loopback)
