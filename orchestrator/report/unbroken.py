"""Words as HTML whose lines break between them: never inside a word, a number with its unit, a range or an equation."""

import re
from html import escape

_NUMBER = r"[-+−±(≈]*\d(?:[\d.,]|\u202f(?=\d))*(?:e-?\d+)?"
_UNIT = r"[ \u202f](?:[KMGT]iB|B|µs|ms|s|min|h|%|bits?|[kMmG]bit(?:/s)?)(?!\w)"
_OTHER = r"(?<!\S)\S{1,3} [=×] \S+|\S*[-/–—…|{}]\S*"
_IN_CELLS = re.compile(rf"{_NUMBER}{_UNIT}[).,;:]*|{_OTHER}")
_IN_PROSE = re.compile(rf"{_NUMBER}(?: … {_NUMBER}(?:{_UNIT})?|{_UNIT}(?: … {_NUMBER}{_UNIT})?)[).,;:]*|{_OTHER}")
"""Where a browser would break a line although it is one number with its unit, one equation, one word or, where there
is room for it, one range."""
LONG, NARROW = 28, 20
"""Characters: longer words may break where they stand among others, lest they are wider than a telephone or a tile."""


def prose(text: str, longest: int = LONG) -> str:
    """The words of a text, with what is at most so long kept on one line."""
    return _marked(text, _IN_PROSE, longest)


def whole(text: str) -> str:
    """The words of a table's cell, however long: its box scrolls."""
    return _marked(text, _IN_CELLS, len(text))


def kept(markup: str) -> str:
    """On one line."""
    return f'<span class="whole">{markup}</span>'


def _marked(text: str, unbroken: re.Pattern[str], longest: int) -> str:
    parts, end = [], 0
    for found in unbroken.finditer(text):
        word = escape(found[0])
        parts += [escape(text[end : found.start()]), kept(word) if len(found[0]) <= longest else word]
        end = found.end()
    return "".join([*parts, escape(text[end:])])
