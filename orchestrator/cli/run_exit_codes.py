"""What a run's end returns to the shell."""

from collections.abc import Iterable

from orchestrator.cli.exit_codes import ExitCode
from orchestrator.results import Status
from orchestrator.results.health import Health, State

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


def exit_code(status: Status, health: Health | None) -> ExitCode:
    state = None if health is None or status is Status.INTERRUPTED else health.state
    if state is State.BROKEN:
        return ExitCode.BROKEN
    if state is State.DEGRADED and status is Status.FINISHED:
        return ExitCode.DEGRADED
    return _BY_STATUS[status]


def worst(codes: Iterable[ExitCode]) -> ExitCode:
    return max(codes, key=_FROM_GOOD_TO_BAD.index)
