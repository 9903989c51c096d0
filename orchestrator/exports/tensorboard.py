"""Curves as event files that TensorBoard reads: a folder per run, a scalar per column, the iteration as step."""

from pathlib import Path

import numpy as np

from orchestrator.errors import writing
from orchestrator.exports.column_table import ColumnTable
from orchestrator.exports.extra import needing_extra
from orchestrator.exports.run_tables import LABELS, curve_table

NO_SCALARS = {*LABELS, "by", "iteration", "seconds", "f_star"}
BY_TIME = "by_time"
"""Before the names of the curve by time (the newest model of every node), where there is one by iteration, too."""


def write_event_file(run: Path, into: Path) -> None:
    """The curve of a run folder. The clock of TensorBoard is that of the run, from its begin."""
    with needing_extra("event files of TensorBoard"):
        from tensorboardX import SummaryWriter
    table = curve_table(run)
    with writing(into):
        into.mkdir(parents=True, exist_ok=True)
        for former in into.glob("events.out.tfevents.*"):  # or the same curve would be there twice
            former.unlink()
        with SummaryWriter(logdir=str(into)) as events:
            for tag, value, step, seconds in scalars(table):
                events.add_scalar(tag, value, step, walltime=seconds)


def scalars(table: ColumnTable) -> list[tuple[str, float, int, float]]:
    """Tag, value, step and seconds of every number of a curve."""
    columns = table.columns
    is_by_time = columns["by"] == "time"
    has_both = bool(is_by_time.any() and not is_by_time.all())
    clock = np.nan_to_num(columns["seconds"].astype(np.float64))
    found = []
    for name, values in columns.items():
        if name in NO_SCALARS or values.dtype.kind not in "if":
            continue
        for place in np.flatnonzero(np.isfinite(values)).tolist():
            tag = f"{BY_TIME}/{name}" if has_both and is_by_time[place] else name
            found.append((tag, float(values[place]), int(columns["iteration"][place]), float(clock[place])))
    return found
