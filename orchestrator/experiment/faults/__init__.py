"""Faults: the words of an experiment's section `faults`, and their compilation to a plan. Pure: no clock, no files.

One file per fault, or family of faults, in `kinds`; `compile_plan` resolves them with the seed
(`pame.fault_plan_text` is the plan's file); `active`, `words` and `live_graph` are for reports.
May import: `pame`, and `orchestrator.experiment` (its values with units).
"""

# First, because the two packages use each other's modules: its `model` takes `kinds`, which takes its `section`.
import orchestrator.experiment  # noqa: F401
from orchestrator.experiment.faults.compile import compile_plan, contradictions, idle_faults
from orchestrator.experiment.faults.happened import FaultOutcomes
from orchestrator.experiment.faults.interface import Fault, FaultError, Horizon
from orchestrator.experiment.faults.kinds import FAULTS
from orchestrator.experiment.faults.plan_words import active, kind_of, words
from orchestrator.experiment.faults.remaining_graph import LiveGraph, live_graph
from orchestrator.experiment.faults.triggers import MOST_EVENTS

__all__ = [
    "FAULTS", "MOST_EVENTS", "Fault", "FaultError", "FaultOutcomes", "Horizon", "LiveGraph", "active", "compile_plan",
    "contradictions", "idle_faults", "kind_of", "live_graph", "words",
]  # fmt: skip
