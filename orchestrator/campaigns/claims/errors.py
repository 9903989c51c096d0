"""What can be wrong when claims are to be tested."""

from pame.errors import PameError


class ClaimsError(PameError):
    """The claims cannot be tested as asked."""
