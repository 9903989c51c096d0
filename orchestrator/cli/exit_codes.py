"""What `pame` returns to the shell."""

from collections.abc import Iterable
from enum import IntEnum

from orchestrator.runs import Status
from orchestrator.runs.health import Health, State


class ExitCode(IntEnum):
    """0 done and sound; 1 a fault of ours or of the machine; 2 wrong usage; 3 diverged; 4 broken; 5 degraded; 130
    interrupted."""

    DONE = 0
    FAULT = 1
    USAGE = 2
    DIVERGED = 3
    BROKEN = 4
    DEGRADED = 5
    INTERRUPTED = 130


_BY_STATUS = {
    Status.FINISHED: ExitCode.DONE,
    Status.DIVERGED: ExitCode.DIVERGED,
    Status.INTERRUPTED: ExitCode.INTERRUPTED,
    Status.FAILED: ExitCode.FAULT,
}

_FROM_GOOD_TO_BAD = (
    ExitCode.DONE,
    ExitCode.DEGRADED,
    ExitCode.FAULT,
    ExitCode.DIVERGED,
    ExitCode.BROKEN,
    ExitCode.USAGE,
    ExitCode.INTERRUPTED,
)

EPILOG = (
    "Exit codes: 0 done; 1 the machine failed (disk full, no permission, no orchestrator, dead nodes); 2 wrong usage "
    "or a mistake in the experiment; 3 the run diverged; 4 the run is broken (nobody hears anybody); 5 the run is "
    "degraded (messages refused, dropped or missing that no fault explains); 130 interrupted with Ctrl-C. The run "
    "folder is kept."
)


def exit_code(status: Status, health: Health | None) -> ExitCode:
    """Of a run."""
    state = None if health is None or status is Status.INTERRUPTED else health.state
    if state is State.BROKEN:
        return ExitCode.BROKEN
    if state is State.DEGRADED and status is Status.FINISHED:
        return ExitCode.DEGRADED
    return _BY_STATUS[status]


def worst(codes: Iterable[ExitCode]) -> ExitCode:
    """Of several runs."""
    return max(codes, key=_FROM_GOOD_TO_BAD.index)
