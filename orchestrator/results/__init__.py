"""What a run leaves behind: one folder per run, written as the run goes.

    experiment.yaml   the resolved experiment           records.csv    one row per node and iteration
    topology.json     graph, figures, picture           links.csv      one row per directed link
    curve.jsonl       the points of the curves          events.jsonl   what happened to nodes and links, if anything
    plan.jsonl        what is done to the network       class_counts.json  samples of each class at each node
    connections.csv   what the kernels counted by link  models.npy     the results
    summary.json      how it ended                      report.html    all of it for a person (by orchestrator.report)
    provenance.json   code, command, libraries, machine
    kept/             models that are still to be judged (by orchestrator.evaluation)
    nodes.log         what the nodes said, if started here  error.log  the traceback of a simulation that failed

records.csv, curve.jsonl and events.jsonl grow as the run goes on, so that a crash costs what came in the last second.
links.csv, connections.csv, models.npy and summary.json are written at the end (the middle two only by a network): a
folder without a summary is that of a run under way or broken off.

May import: `orchestrator.experiment`, `contract`, `pame`.
"""

from orchestrator.results.folder import RunFolder, create_folder
from orchestrator.results.listing import RunEntry, UnknownRun, find_run, is_running, list_runs
from orchestrator.results.provenance import begin_provenance, end_provenance
from orchestrator.results.summarise import Ending, Status, summarise

__all__ = [
    "Ending", "RunEntry", "RunFolder", "Status", "UnknownRun", "begin_provenance", "create_folder", "end_provenance",
    "find_run", "is_running", "list_runs", "summarise",
]  # fmt: skip
