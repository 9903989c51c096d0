"""One look at a plugin: what was looked at, whether it is right, and why not, with the place in the plugin."""

from collections.abc import Callable
from dataclasses import dataclass
from inspect import unwrap
from pathlib import Path
from typing import Any

from contract.unexpected_errors import in_one_line
from pame.errors import PameError


class NotRight(PameError):
    """What a look found wrong."""


@dataclass(frozen=True)
class PluginLook:
    """`words`: what was seen or, if it failed, why."""

    what: str
    is_right: bool
    words: str


def look(what: str, at: Callable[[], str]) -> PluginLook:
    """Whatever the plugin does, it becomes one line."""
    try:
        return PluginLook(what, True, at())
    except PameError as error:
        return PluginLook(what, False, str(error))
    except Exception as error:  # whatever a file of somebody else does
        return PluginLook(what, False, in_one_line(error))


def place_of(owner: Any, method: str) -> str:
    """E.g. `mine.py, line 40`: where a method is written, be it in a base class."""
    code = getattr(unwrap(getattr(owner, method, None) or owner), "__code__", None)
    return "" if code is None else f"{Path(code.co_filename).name}, line {code.co_firstlineno}"
