"""What studies, comparisons and claims do alike: a line per run as it ends, and an end that keeps what there is."""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from orchestrator.errors import writing
from pame.errors import PameError

INTERRUPTED = "interrupted"
Keep = Callable[[Mapping[str, object]], None]
"""A row, as plain values."""


class PartialResults:
    """Around the work: what stops it is remembered, so that a report of what was done can be written first.

    with attempt: work()
    write the report, with attempt.trouble
    attempt.complain()
    """

    def __init__(self) -> None:
        self.trouble: str | None = None
        """Why not everything was done."""
        self._error: PameError | None = None

    def __enter__(self) -> "PartialResults":
        return self

    def __exit__(self, _kind: object, error: BaseException | None, _where: object) -> bool:
        if isinstance(error, KeyboardInterrupt):
            self.trouble = INTERRUPTED
        elif isinstance(error, PameError):
            self._error, self.trouble = error, str(error)
        return isinstance(error, KeyboardInterrupt | PameError)

    def complain(self) -> None:
        """Raise the error that stopped the work, if one did."""
        if self._error is not None:
            raise self._error


@contextmanager
def row_file(folder: Path) -> Iterator[Keep]:
    """rows.jsonl: what is kept is on the disk at once."""
    with writing(folder), (folder / "rows.jsonl").open("w", encoding="utf-8") as rows:

        def keep(row: Mapping[str, object]) -> None:
            rows.write(json.dumps(row) + "\n")
            rows.flush()

        yield keep
