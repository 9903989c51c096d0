"""What needs the optional libraries of the extra `notebook`, and what is said where they are not there."""

from collections.abc import Iterator
from contextlib import contextmanager

from pame.errors import PameError


class ExtraMissing(PameError):
    """A library that only some need is not installed."""


@contextmanager
def needing_extra(what: str) -> Iterator[None]:
    """Around the imports; `what`: what needs them, as the sentence begins."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise ExtraMissing(
            f"{what} need {(error.name or '').partition('.')[0]}: install it with pip install 'pame-testbed[notebook]'"
        ) from None
