"""The mistakes a user can make at the edges, and the ways a machine can fail."""

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pame.errors import PameError


class UnreadableFile(PameError):
    """A file that an experiment names cannot be read."""


class UnknownBackend(PameError):
    """There is no backend of that name."""


class MachineFault(PameError):
    """Not a mistake of the user: the machine failed."""


class CannotWrite(MachineFault):
    """The machine does not let us write: disk full, no permission, a file in the way."""


class RunKilled(MachineFault):
    """The process of a run was killed from outside."""


class RunFailed(MachineFault):
    """A simulated run failed by a mistake in the code it runs, which would fail the others, too."""


class NotEnoughNodes(MachineFault):
    """Too few nodes joined, or some were not ready in time."""


class NodeFailed(MachineFault):
    """A node process could not start."""


class CannotListen(MachineFault):
    """A port is taken, or an address is not this machine's."""


class Unreachable(MachineFault):
    """No orchestrator answers, or it went away."""


class FaultNotDone(MachineFault):
    """Nodes could not carry out a fault by hand."""


class SubmissionRefused(PameError):
    """The orchestrator does not run this experiment, or not now."""


class QueueFull(PameError):
    """Too many experiments wait for their turn."""


class NoTls(PameError):
    """An experiment asks for TLS where there is none."""


class EvaluationFailed(MachineFault):
    """Models that were kept could not be judged."""


class TooManyNodes(PameError):
    """More node processes than this machine can run."""


class TooLittleMemory(PameError):
    """The experiment needs more memory than the machine has."""


class TooLittleDisk(PameError):
    """The models that the experiment keeps would fill the disk."""


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turns a failed write below this into one sentence with the fix."""
    try:
        yield
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
        fix = "free some space" if full else "choose another place to write to"
        raise CannotWrite(f"cannot write to {path}: {error.strerror}; {fix}") from None
