"""How a run is looked at where there are conditions: by the clock, if there is one, and with what was done to it.

Of a run that left a folder, windows are what its nodes told; else what was planned.
"""

from dataclasses import dataclass, replace
from pathlib import Path

from orchestrator.campaigns.cell import Measurement
from orchestrator.campaigns.compare.fault_windows import windows_in
from orchestrator.campaigns.compare.measure import CompareLook, figures_of
from orchestrator.campaigns.compare.mixing_partners import company_of
from orchestrator.campaigns.run_left import By, RunLeft
from orchestrator.experiment import Experiment
from orchestrator.results.fault_history import Faults, read_faults
from orchestrator.results.points import read_curve
from orchestrator.results.summary import require_summary
from pame.resolved_run import ResolvedRun


@dataclass(frozen=True)
class ConditionLook(CompareLook):
    """The curve by time where there is a clock: trouble keeps nodes apart, and all conditions are looked at alike."""

    def prepared(self, setting: ResolvedRun, driver: str) -> ResolvedRun:
        if driver != "virtual-time":
            return self.finer(setting, "iteration")
        # in `free` nobody would end a run that is looked at by time alone, unless it is by time that it ends
        can_end = setting.exchange.waits or setting.conditions.keep_nodes_apart
        return self.finer(setting, "time") if can_end else replace(setting, fine=None)

    def measure(self, left: RunLeft) -> Measurement:
        by: By = "time" if any(point.by == "time" for point in left.points) else "iteration"
        curve = left.curve(by, taking_part=True)
        figures = figures_of(left.setting, company_of(left.setting))
        planned = Faults(tuple(left.setting.plan), 0, {}, {}) if left.setting.plan else None
        return Measurement(curve, {**figures, "windows": windows_in(planned, left.points, left.seconds)})

    def measure_folder(self, folder: Path, experiment: Experiment, backend: str, base: Path) -> Measurement:
        measured, summary = super().measure_folder(folder, experiment, backend, base), require_summary(folder)
        told = read_faults(folder, summary.faults)
        if told is None or not told.plan:
            return measured
        windows = windows_in(told, read_curve(folder), summary.seconds)
        return replace(measured, figures={**measured.figures, "windows": windows})
