"""YAML text to plain data and back, with less magic than YAML 1.1 has.

`1e-3` is a number; `yes`, `on`, `1:30`, `0x10` and `2024-01-01` are text. A key given twice, anchors, tags, a second
document and absurd nesting are refused: each is a mistake, or an attack, in a file of settings.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NoReturn

import yaml

from orchestrator.experiment.errors import shorten

Data = None | bool | int | float | str | list["Data"] | dict[str, "Data"]
Lines = Mapping[tuple[str, ...], int]
"""In which line a key, or an item of a list, begins; an item is called by its number."""

_LARGEST = 1 << 20
_DEEPEST = 20
_MOST_EVENTS = 10_000
_LONGEST_NUMBER = 100
_PREFIX = "tag:yaml.org,2002:"
_WORDS: dict[str, bool | None] = {"": None, "~": None, "null": None, "true": True, "false": False}
_INTEGER = re.compile(r"[-+]?[0-9]+")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?|[-+]?\.inf|\.nan")


class UnreadableText(Exception):
    """Why a text is not plain data, in half a sentence; `line`: where, if it is about one place."""

    def __init__(self, why: str, line: int | None = None) -> None:
        super().__init__(why)
        self.line = line


def read_text(path: Path) -> str:
    """The text of a small UTF-8 file."""
    try:
        with path.open("rb") as file:
            content = file.read(_LARGEST + 1)
    except FileNotFoundError:
        raise UnreadableText("there is no such file") from None
    except IsADirectoryError:
        raise UnreadableText("is a directory; give the experiment file in it") from None
    except (OSError, ValueError) as error:
        raise UnreadableText(f"cannot be read ({getattr(error, 'strerror', None) or error})") from None
    if len(content) > _LARGEST:
        raise UnreadableText("is larger than 1 MiB; an experiment file is a page of settings")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UnreadableText(f"is not UTF-8 text (byte {error.start} is not); save it as UTF-8") from None


def parse(text: str) -> Data:
    """The data of a YAML document; empty text is None."""
    return parse_with_lines(text)[0]


def parse_with_lines(text: str) -> tuple[Data, Lines]:
    """The same, and where everything stands."""
    lines: dict[tuple[str, ...], int] = {}
    try:
        return _document(_limited(yaml.parse(text, Loader=yaml.SafeLoader)), lines), lines
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f" (column {mark.column + 1})" if mark else ""
        line = mark.line + 1 if mark else None
        raise UnreadableText(f"is not YAML: {error.problem or error.context}{where}", line) from None
    except yaml.YAMLError:
        raise UnreadableText("is not YAML: it holds characters that are not allowed") from None
    except (ValueError, OverflowError):  # an escape such as \U00110000 names no character
        raise UnreadableText("is not YAML: it holds an escape that names no character") from None


def to_yaml(data: Data) -> str:
    """YAML text that `parse` reads back to the same data."""
    text = yaml.dump(data, Dumper=_Dumper, sort_keys=False, allow_unicode=True)
    # PyYAML writes this one, a line break to YAML, so that it reads it back as another.
    return yaml.dump(data, Dumper=_Dumper, sort_keys=False) if "\x85" in text else text


def _limited(events: Iterable[yaml.Event]) -> Iterator[yaml.Event]:
    """The events one by one, so that a hostile text is refused before PyYAML has read all of it."""
    for count, event in enumerate(events):
        if count > _MOST_EVENTS:
            _refuse(event, "far more values than an experiment has")
        yield event


def _document(events: Iterator[yaml.Event], lines: dict[tuple[str, ...], int]) -> Data:
    document: Data = None
    started = False
    for event in events:
        if isinstance(event, yaml.DocumentStartEvent):
            if started:
                words = "holds more than one YAML document; keep one and remove the '---' between them"
                raise UnreadableText(words, _line(event))
            document, started = _build(next(events), events, (), lines), True
    return document


def _build(
    event: yaml.Event, events: Iterator[yaml.Event], path: tuple[str, ...], lines: dict[tuple[str, ...], int]
) -> Data:
    if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
        _refuse(event, "anchors (&) and aliases (*) are not supported; write the value out")
    if getattr(event, "tag", None) not in (None, "!"):
        _refuse(event, "tags (!) are not supported; write the plain value")
    if len(path) > _DEEPEST:
        _refuse(event, f"nested more than {_DEEPEST} deep; an experiment is not")
    if isinstance(event, yaml.ScalarEvent):
        return _scalar(event)
    if isinstance(event, yaml.SequenceStartEvent):
        items: list[Data] = []
        while not isinstance(inner := next(events), yaml.SequenceEndEvent):
            place = (*path, str(len(items)))
            lines[place] = _line(inner)
            items.append(_build(inner, events, place, lines))
        return items
    mapping: dict[str, Data] = {}
    while not isinstance(inner := next(events), yaml.MappingEndEvent):
        key = _key(inner)
        if key in mapping:
            _refuse(inner, f"the key {shorten(key)!r} is given twice; remove one of them")
        lines[*path, key] = _line(inner)
        mapping[key] = _build(next(events), events, (*path, key), lines)
    return mapping


def _key(event: yaml.Event) -> str:
    if not isinstance(event, yaml.ScalarEvent) or event.anchor or event.tag:
        _refuse(event, "a key must be a plain word")
    return _characters(event)


def _scalar(event: yaml.ScalarEvent) -> Data:
    text = _characters(event)
    if not event.implicit[0] or event.style:
        return text
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    if len(text) <= _LONGEST_NUMBER:
        if _INTEGER.fullmatch(text):
            return int(text)
        if _FLOAT.fullmatch(text):
            return float(text.replace(".inf", "inf").replace(".nan", "nan"))
    return text


def _characters(event: yaml.ScalarEvent) -> str:
    text = str(event.value)
    if any("\ud800" <= character <= "\udfff" for character in text):
        _refuse(event, "half a character (a surrogate) is no text")
    return text


def _line(event: yaml.Event) -> int:
    assert event.start_mark is not None, "events of a parser have places"
    return event.start_mark.line + 1


def _refuse(event: yaml.Event, why: str) -> NoReturn:
    raise UnreadableText(f"cannot be used: {why}", _line(event))


class _Dumper(yaml.SafeDumper):
    """Quotes exactly what `parse` would not read as text."""

    yaml_implicit_resolvers = {  # noqa: RUF012 - PyYAML's own way
        None: [
            (f"{_PREFIX}{kind}", re.compile(rf"(?i:{pattern})\Z"))
            for kind, pattern in {
                "null": "|~|null",
                "bool": "true|false",
                "int": _INTEGER.pattern,
                "float": _FLOAT.pattern,
            }.items()
        ]
    }
