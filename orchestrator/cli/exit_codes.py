"""What `pame` returns to the shell."""

from enum import IntEnum

from orchestrator.runs import Status


class ExitCode(IntEnum):
    """0 done; 1 a fault of ours or of the machine; 2 wrong usage; 3 diverged; 130 interrupted."""

    DONE = 0
    FAULT = 1
    USAGE = 2
    DIVERGED = 3
    INTERRUPTED = 130


EXIT = {
    Status.FINISHED: ExitCode.DONE,
    Status.DIVERGED: ExitCode.DIVERGED,
    Status.INTERRUPTED: ExitCode.INTERRUPTED,
    Status.FAILED: ExitCode.FAULT,
}

EPILOG = (
    "Exit codes: 0 done; 1 the machine failed (disk full, no permission, no orchestrator, dead nodes); 2 wrong usage "
    "or a mistake in the experiment; 3 the run diverged (its run folder is kept); 130 interrupted with Ctrl-C (its run "
    "folder is kept)."
)
