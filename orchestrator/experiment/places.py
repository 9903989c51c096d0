"""Where settings stand: the line of a file, or `--set`. Mistakes are told as `file:line: key: what is wrong`."""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from orchestrator.experiment.text import Lines
from pame.errors import PameError

Path = tuple[str, ...]
_KEY = re.compile(r"([A-Za-z_]\w*(?:\.[\w-]+)*): ")


@dataclass(frozen=True)
class FilePlaces:
    """Of one file, or of one run of its sweep."""

    file: str
    lines: Lines = field(default_factory=dict)
    typed: tuple[Path, ...] = ()
    """What a user gave with `--set`."""
    items: Mapping[Path, int] = field(default_factory=dict)
    """Which of the values of a list it is, by the path of the list."""

    def of(self, path: Path) -> str:
        """E.g. `demo.yaml:3:`; of what is left out, the line of the section where it is missing."""
        if any(path[: len(typed)] == typed for typed in self.typed):
            return "--set"
        wanted = f"{'.'.join(self._written(path))}."
        above = [place for place in self.lines if wanted.startswith(f"{'.'.join(place)}.")]
        return f"{self.file}:{self.lines[max(above, key=len)]}:" if above else f"{self.file}:"

    def of_key(self, sentence: str) -> str:
        """The same of a sentence that begins with a dotted key."""
        return self.of(tuple(sentence.partition(": ")[0].split(".")))

    def key(self, path: Path) -> Path:
        """With the number of the section in a list of them."""
        written = self._written(path)
        return written[:-1] if path in self.items else written

    def _written(self, path: Path) -> Path:
        written: list[str] = []
        for place, key in enumerate(path, 1):
            written.append(key)
            if (number := self.items.get(path[:place])) is not None:
                written.append(str(number))
        return tuple(written)

    @contextmanager
    def told(self) -> Iterator[None]:
        """A mistake below this that begins with a key of the file is told with its place."""
        try:
            yield
        except PameError as error:
            key = _KEY.match(str(error))
            if key is not None and (place := self.of_key(key[0])) != f"{self.file}:":
                error.args = (f"{place} {error}",)
            raise


NOWHERE = FilePlaces("experiment")
"""Of settings that no file holds."""
