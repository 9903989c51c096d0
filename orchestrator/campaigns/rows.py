"""rows.jsonl: a line per cell as it ends, on the disk at once; a campaign that broke off goes on from it."""

import fcntl
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

from orchestrator.campaigns.cell import Cell, Run, run_of
from orchestrator.errors import writing
from orchestrator.results.campaign_record import ROWS
from orchestrator.results.files import reading
from pame.errors import PameError


class CannotResume(PameError):
    """A campaign cannot go on where it was."""


class RowFile:
    """The rows of a campaign, those from before a break among them."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._file: TextIO | None = None
        self._by_key: dict[str, Mapping[str, Any]] = {}
        self._keys: dict[str, str] = {}
        with reading(folder):
            text = (folder / ROWS).read_text(encoding="utf-8") if (folder / ROWS).is_file() else ""
        for line in map(json.loads, _whole(text).splitlines()):
            self._remember(line)

    @contextmanager
    def appending(self) -> Iterator[None]:
        """Nobody else writes meanwhile; a last line that was cut goes."""
        with writing(self._folder):
            file = (self._folder / ROWS).open("a+", encoding="utf-8")
        with file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise CannotResume(f"{self._folder} is still under way: wait for its end, or stop it first") from None
            with writing(self._folder):
                file.seek(0)
                file.truncate(len(_whole(file.read()).encode()))
            self._file = file
            try:
                yield
            finally:
                self._file = None

    def find(self, stage: str, cell: Cell, key: str) -> Run | None:
        """What became of the same experiment; a row of the same place with another experiment is a refusal."""
        if self._keys.get(_place(stage, cell.labels, cell.seed), key) != key:
            words = ", ".join(f"{name} {value}" for name, value in cell.labels.items())
            raise CannotResume(
                f"{self._folder}: the experiment of {words}, seed {cell.seed} is another one now: a file that it is "
                "made of has changed since; put it back as it was, or begin anew"
            )
        line = self._by_key.get(key)
        return None if line is None else run_of(line, cell)

    def add(self, stage: str, run: Run, key: str) -> None:
        """One more, if it is not there yet."""
        if self._file is None or _place(stage, run.labels, run.seed) in self._keys:
            return
        line = {"stage": stage, **run.plain(), "key": key}
        with writing(self._folder):
            self._file.write(json.dumps(line) + "\n")
            self._file.flush()
        self._remember(line)

    def _remember(self, line: Mapping[str, Any]) -> None:
        self._keys[_place(line["stage"], line["labels"], line["seed"])] = line["key"]
        self._by_key.setdefault(line["key"], line)


def _place(stage: str, labels: Mapping[str, Any], seed: int) -> str:
    return json.dumps([stage, labels, seed], sort_keys=True)


def _whole(text: str) -> str:
    return text[: text.rfind("\n") + 1]
