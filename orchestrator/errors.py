"""The mistakes a user can make at the edges, and the ways a machine can fail."""

from pame.errors import PameError


class UnreadableFile(PameError):
    """A file that an experiment names cannot be read."""


class CannotWrite(PameError):
    """The machine does not let us write: disk full, no permission, a file in the way."""
