"""What the lock-step simulator makes of an experiment: real nodes must come to the same bits."""

from pathlib import Path

import numpy as np

from orchestrator.experiment import Experiment
from orchestrator.experiment.resolve import make_network_setting
from pame.byte_account import ByteAccount
from pame.observe import Observer, RunOutcome
from pame.simulator import run_lock_step
from tests.harness import Watcher


def simulated(
    experiment: Experiment, base: Path, account: ByteAccount | None = None, watcher: Observer | None = None
) -> RunOutcome:
    setting = make_network_setting(experiment, base)
    return run_lock_step(setting, watcher or Watcher(), account or ByteAccount(experiment.nodes))


def is_as_simulated(folder: Path, experiment: Experiment) -> bool:
    """The models that a run has left."""
    return bool(np.load(folder / "models.npy").tobytes() == simulated(experiment, folder).models.tobytes())
