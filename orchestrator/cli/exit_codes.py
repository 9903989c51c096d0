"""What `pame` returns to the shell."""

from enum import IntEnum


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


EPILOG = (
    "Exit codes: 0 done; 1 the machine failed (disk full, no permission, no orchestrator, dead nodes); 2 wrong usage "
    "or a mistake in the experiment; 3 the run diverged; 4 the run is broken (nobody hears anybody); 5 the run is "
    "degraded (messages refused, dropped or missing that no fault explains); 130 interrupted with Ctrl-C. The run "
    "folder is kept."
)
