"""`pame report`: write the report of a run or a campaign anew, from what is in its folder."""

import time
from pathlib import Path

import typer
from rich.console import Console

from orchestrator.cli.runs import RunName, RunsFolder
from orchestrator.cli.terminal import make_bar
from orchestrator.evaluation import finish_evaluation
from orchestrator.evaluation.kept_models import FOLDER
from orchestrator.report import write_report, write_sweep_report
from orchestrator.results import find_run, is_running
from orchestrator.results.campaign_record import read_record


def report(
    run: RunName,
    out: RunsFolder = Path("runs"),
) -> None:
    """Write the report of a run or a campaign anew and print its path; one that broke off has one too.

    Models that a run has kept and nobody has evaluated are evaluated first.
    """
    now = time.time()
    folder = find_run(run, out, now)
    whole = folder.resolve()  # `.` has no name of its own
    record = read_record(whole)
    for kept in sorted(whole.rglob(f"{FOLDER}/points.jsonl")):
        _finish(kept.parents[1])
    if (folder / "sweep.json").is_file():
        write_sweep_report(whole)
    elif record is not None:
        from orchestrator.campaigns.conduct import report_anew
        from orchestrator.campaigns.make import make_campaign

        report_anew(make_campaign(record.verb, record.arguments), record, whole)
    else:
        write_report(whole, running=is_running(whole, now))
    typer.echo(folder / "report.html")


def _finish(folder: Path) -> None:
    """What a run has kept and nobody has judged, unless somebody is at it."""
    console = Console(stderr=True, highlight=False)
    with make_bar(console) as bar:
        task = bar.add_task(f"evaluating {folder.name}", total=1.0, reached="")

        def progress(done: int, of: int) -> None:
            bar.update(task, completed=done / of if of else 1.0, reached=f"{done}/{of} points")

        is_mine = finish_evaluation(folder, progress)
    if not is_mine:
        console.print(f"{folder.name}: the run goes on, or is being evaluated; this report is of what there is")
