"""What is wrong with an experiment file: one line per problem, and all of them at once."""

from collections.abc import Sequence

from pame.errors import PameError

_SHOWN = 20
_LONGEST = 60


class ExperimentError(PameError):
    """An experiment file, or an override of it, cannot be used; `problems` has one line each."""

    def __init__(self, problems: Sequence[str]) -> None:
        self.problems = tuple(dict.fromkeys(map(_on_one_line, problems)))
        more = len(self.problems) - _SHOWN
        super().__init__("\n".join(self.problems[:_SHOWN] + ((f"... and {more} more like these",) if more > 0 else ())))


def shorten(text: str) -> str:
    """What was given, cut to a length that fits into a message."""
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."


def _on_one_line(text: str) -> str:
    """Line ends and control characters of a hostile file are shown as escapes."""
    return "".join(character if character.isprintable() else repr(character)[1:-1] for character in text)
