"""What tests of the terminal look at."""

from io import StringIO

from rich.console import Console


def terminal(width: int = 100, is_real: bool = False) -> tuple[Console, StringIO]:
    """And what is written to it."""
    text = StringIO()
    return Console(file=text, width=width, force_terminal=is_real, color_system=None, highlight=False), text
