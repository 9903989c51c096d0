"""Campaigns as a user calls them."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from orchestrator.backends.processes import NodeProcesses
from tests.command import BOUND_S, TOKEN, Service, begun, call, lines_of, only_run, wait_for, written


def rows_of(folder: Path) -> list[dict[str, Any]]:
    """Labels and figures beside all else."""
    return [{**row["labels"], **row["figures"], **row} for row in lines_of(folder / "rows.jsonl")]


def interrupted(folder: Path, *arguments: object) -> str:
    """The page of a campaign that got Ctrl-C after its first run."""
    with begun(folder, *arguments) as process:
        wait_for(lambda: written(folder, "runs/*/rows.jsonl"), process)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=BOUND_S)
    assert process.returncode == 130, errors
    assert rows_of(only_run(folder))
    return (only_run(folder) / "report.html").read_text()


@contextmanager
def served(folder: Path, nodes: int) -> Iterator[tuple[str, ...]]:
    """An orchestrator that stays, with nodes; what leads a command to it."""
    service = Service(folder)
    on = ("--on", service.address, "--token", TOKEN)
    try:
        with NodeProcesses(folder / "nodes.log") as processes:
            service.join(processes, range(nodes))
            wait_for(lambda: f"{nodes} nodes alive" in call(folder, "nodes", *on).stdout)
            yield on
    finally:
        service.kill()
