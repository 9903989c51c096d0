"""Plugins of the orchestrator: as `contract.plugins`, and topologies and faults, too; experiment files know them."""

import os
from collections.abc import Iterable
from pathlib import Path

from contract.plugins import VARIABLE, PluginError, load_plugins, offer, plugin_files
from orchestrator.experiment import Experiment
from orchestrator.experiment.faults.kinds import FAULTS
from pame import topology

__all__ = ["PluginError", "add_plugins"]


def add_plugins(files: Iterable[Path] = ()) -> None:
    """In force from now on, here and in the processes that are started; with those that the environment names."""
    named = dict.fromkeys(str(path.resolve()) for path in (*plugin_files(), *files))
    if named:
        os.environ[VARIABLE] = os.pathsep.join(named)
    modules = load_plugins()
    for module in modules:
        offer(module, "TOPOLOGIES", topology.SPECS)
        offer(module, "FAULTS", FAULTS)
    if modules:
        Experiment.model_rebuild(force=True)  # its sections are made of the registries
