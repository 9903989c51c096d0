"""The tables of a folder, whatever is in it: a run, a sweep, or another campaign."""

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from orchestrator.exports.campaign_tables import ends_table, is_campaign, is_sweep, points_table, sweep_table
from orchestrator.exports.column_table import ColumnTable
from orchestrator.exports.run_tables import RUN_TABLES

CURVE = "curve"
"""The table that everything has: a row per point."""
Tables = Mapping[str, Callable[[], ColumnTable]]


def tables_in(folder: Path) -> Tables:
    """By name, each read when it is called for; ReportError if there is nothing of ours in the folder."""
    if is_sweep(folder):
        return {name: partial(sweep_table, folder, name) for name in RUN_TABLES}
    if is_campaign(folder):
        return {
            CURVE: partial(points_table, folder),
            "tuning": partial(points_table, folder, tuning=True),
            "summary": partial(ends_table, folder),
        }
    return {name: partial(make, folder) for name, make in RUN_TABLES.items()}
