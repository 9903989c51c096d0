"""An exception that nobody foresaw, in one line: its type, its words, and the file and line where it came up."""

import logging
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from contract.logs import log_event, log_mistake
from contract.plugins import PluginError, is_plugin
from pame.errors import PameError

_LOG = logging.getLogger(__name__)
_OURS = ("pame", "contract", "node", "orchestrator")
_LONGEST = 300


class FailedElsewhere(Exception):
    """An unforeseen exception of another process: in one line, and its traceback as text."""

    @staticmethod
    def told(error: Exception) -> tuple[str, str]:
        """The arguments, made where the exception is."""
        return in_one_line(error), "".join(traceback.format_exception(error))

    def __str__(self) -> str:
        return f"{self.args[0]}\n{self.args[1]}"


def in_one_line(error: BaseException) -> str:
    """E.g. `ZeroDivisionError: division by zero (my_plugin.py, line 42)`.

    The place is the deepest one in a plugin or in our own code: whoever called a library wrongly is to blame, not the
    library. If a plugin called our code wrongly, both places are named.
    """
    if isinstance(error, FailedElsewhere):
        return str(error.args[0])
    words = "".join(letter if letter.isprintable() else " " for letter in str(error))
    words = " ".join(words.split())
    what = f"{type(error).__name__}: {words[:_LONGEST]}" if words else type(error).__name__
    place = _place(error)
    return f"{what} ({place})" if place else what


@contextmanager
def naming_plugins() -> Iterator[None]:
    """Turns what a plugin does wrong below this into one line; a mistake of ours stays what it is."""
    try:
        yield
    except PameError:
        raise
    except Exception as error:
        if not any(is_plugin(module) for module, _, _ in _frames(error)):
            raise
        raise PluginError(f"a plugin failed: {in_one_line(error)}") from error


def reason_of(error: Exception, node: int) -> str:
    """Why a node ends its run. It is also logged: with its traceback, if it is not a user's mistake."""
    if isinstance(error, PameError):
        reason = str(error)
        log_event(_LOG, "run_failed", logging.ERROR, reason=reason)
    else:
        reason = f"node {node} failed: {in_one_line(error)}"
        log_mistake(_LOG, "run_failed", error, reason=reason)
    return reason


def _place(error: BaseException) -> str:
    frames = _frames(error)
    if not frames:
        return ""
    module, file, line = frames[-1]
    place = f"{_short(module, file)}, line {line}"
    callers = [] if is_plugin(module) else [frame for frame in frames if is_plugin(frame[0])]
    if callers:
        module, file, line = callers[-1]
        place += f", called from {_short(module, file)}, line {line}"
    return place


def _frames(error: BaseException) -> list[tuple[str, str, int]]:
    """(module, file, line) of plugins and of our own code, the deepest last."""
    walked = traceback.walk_tb(error.__traceback__)
    frames = [(str(frame.f_globals.get("__name__")), frame.f_code.co_filename, line) for frame, line in walked]
    return [frame for frame in frames if frame[0].partition(".")[0] in _OURS or is_plugin(frame[0])]


def _short(module: str, file: str) -> str:
    """A file of a plugin by its name, one of ours from its package on."""
    path, package = Path(file), module.partition(".")[0]
    if package not in _OURS or package not in path.parts:
        return path.name
    parts = path.parts[::-1]
    return "/".join(path.parts[-parts.index(package) - 1 :])
