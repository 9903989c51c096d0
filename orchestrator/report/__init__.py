"""The self-contained HTML report of a run, and of a sweep: one file, no network, charts drawn in the page.

Draws only: what a run folder holds is read by `orchestrator.results`.
May import: `orchestrator.results`, `pame`; numpy, vl_convert.
"""

from orchestrator.report.run_report import write_report
from orchestrator.report.sweep_report import write_sweep_report
from orchestrator.results.files import ReportError

__all__ = ["ReportError", "write_report", "write_sweep_report"]
