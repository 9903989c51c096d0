"""What can be wrong with a study."""

from pame.errors import PameError


class StudyError(PameError):
    """The study cannot be run as asked."""
