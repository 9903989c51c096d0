"""The self-contained HTML report of a run, and of a sweep: one file, no network, charts drawn in the page.

Reads only the files of a run folder. May import: the standard library, numpy, vl_convert, yaml, `orchestrator.faults`
(plans in words), `orchestrator.errors`, and of `pame` its errors, faults, plans and topologies.
"""

from orchestrator.report.files import ReportError
from orchestrator.report.run_report import write_report
from orchestrator.report.sweep_report import write_sweep_report

__all__ = ["ReportError", "write_report", "write_sweep_report"]
