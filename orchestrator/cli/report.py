"""`pame report`: write the report of a run or a campaign anew, from what is in its folder."""

import time
from pathlib import Path
from typing import Annotated

import typer

from orchestrator.cli.runs import RunsFolder
from orchestrator.report import write_report, write_sweep_report
from orchestrator.results import find_run, is_running
from orchestrator.results.campaign_record import read_record


def report(
    run: Annotated[str, typer.Argument(metavar="RUN", help="A run folder, its name below --out, or `last`.")],
    out: RunsFolder = Path("runs"),
) -> None:
    """Write the report of a run or a campaign anew and print its path; one that broke off has one too."""
    now = time.time()
    folder = find_run(run, out, now)
    whole = folder.resolve()  # `.` has no name of its own
    record = read_record(whole)
    if (folder / "sweep.json").is_file():
        write_sweep_report(whole)
    elif record is not None:
        from orchestrator.campaigns.conduct import report_anew
        from orchestrator.campaigns.make import make_campaign

        report_anew(make_campaign(record.verb, record.arguments), record, whole)
    else:
        write_report(whole, running=is_running(whole, now))
    typer.echo(folder / "report.html")
