"""The mistakes a user can make at the edges: files, folders, arguments."""

from pame.errors import PameError


class FileError(PameError):
    """A file or folder that was asked for cannot be read or written."""
