"""What a run leaves behind: one folder per run, written as the run goes.

    experiment.yaml   the resolved experiment           records.csv    one row per node and iteration
    topology.json     graph, figures, picture           links.csv      one row per directed link
    curve.jsonl       the points of the curves          summary.json   how it ended
    report.html       all of it for a person (written by orchestrator.report)

May import: `orchestrator.experiment`, `orchestrator.drawing`, `pame`.
"""

from orchestrator.runs.folder import RunFolder, create_folder
from orchestrator.runs.summary import Ending, Status, summarise

__all__ = ["Ending", "RunFolder", "Status", "create_folder", "summarise"]
