"""A file that a verb writes for the user: never over one that is there."""

from pathlib import Path

from orchestrator.errors import writing
from pame.errors import PameError


class FileIsThere(PameError):
    """A file would be written over."""


def write_new(path: Path, text: str, force: bool) -> None:
    """Refused if the file is there, unless that is what is wanted."""
    with writing(path):
        try:
            with path.open("w" if force else "x", encoding="utf-8") as file:
                file.write(text)
        except FileExistsError:
            raise FileIsThere(f"{path} is there already: give another name, or --force to write over it") from None
