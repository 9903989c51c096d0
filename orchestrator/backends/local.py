"""The backend `local`: an orchestrator in this process and every node a process of its own, on loopback."""

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

from orchestrator.backends.on_processes import Places, RunRequest, check_processes, run_on_processes
from orchestrator.backends.processes import ON_LOOPBACK
from orchestrator.control import NetworkObserver
from orchestrator.control.manual_faults import require_loss
from orchestrator.experiment import Experiment
from orchestrator.results import Ending


def check_local(experiment: Experiment, base: Path) -> None:
    """Refuse what cannot be built, more processes than this machine can turn to, and packets to be lost by faults."""
    plan = check_processes(experiment, base)
    require_loss(plan, dict.fromkeys(range(experiment.nodes), "local cannot; netns and containers can"))


def local(
    experiment: Experiment, base: Path, folder: Path, watcher: NetworkObserver, notes: Sequence[str] = ()
) -> Ending:
    """Run and fill the run folder; no process is left, whatever happens."""
    request = RunRequest("local", experiment, base, folder, watcher, notes)
    return run_on_processes(request, on_loopback(experiment.nodes))


def on_loopback(nodes: int) -> AbstractContextManager[Places]:
    """Places for so many nodes; there is nothing to build."""
    return nullcontext(Places(ON_LOOPBACK.host, [ON_LOOPBACK] * nodes))
