"""Comparisons: several algorithms on one experiment, tuned alike, then measured on fresh seeds.

    file           the comparison file                         grid       views, cells, what is tuned, edges of a grid
    measure        a run -> what it took to each target        tune       the best of the settings tried
    verdict        medians and ranges; who needs the fewest    campaign   the stages, and what is left behind
    report         the page, with charts and tables

    conditions     what is done to the algorithms              survival    who survives what, and what each lost
    fault_windows, condition_look, around_faults               survival_*  page, tables, charts and picture of these

May import: everything in `orchestrator` but the command line, and `pame`.
"""

from orchestrator.campaigns.compare.file import Comparison, load_comparison

__all__ = ["Comparison", "load_comparison"]
