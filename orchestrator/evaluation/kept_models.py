"""Models of the points of a run on the disk, until they are judged: written as the run goes, read when it is over.

<run folder>/kept/   models.bin     one row per model, each model once; float32 where it is judged as such, else float64
                     points.jsonl   first n and the type of the numbers, then a line per point: `UnjudgedPoint`

Whoever writes or judges them holds a lock on a file `lock`: it ends with its process, and processes that this one has
forked do not have it.
"""

import fcntl
import json
import shutil
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from hashlib import blake2b
from pathlib import Path
from threading import Lock
from typing import IO, Self

import numpy as np
from numpy.typing import NDArray

from orchestrator.errors import writing
from orchestrator.experiment import Experiment
from orchestrator.experiment.resolve import is_judged_after
from orchestrator.results.files import json_lines, reading, whole
from orchestrator.results.typed_json import from_json, to_text
from pame.observe import StoredModels, UnjudgedPoint
from pame.problems import Problem, SinglePrecision
from pame.resolved_run import ResolvedRun

FOLDER = "kept"
LEAST_FREE = 256 * 2**20
"""So much stays free on the disk: for records, and for whoever else writes there."""
_NO_ROOM = -1


def number_type(problem: Problem) -> np.dtype[np.floating]:
    """Of the numbers that are kept of a model: as exact as it is judged."""
    return np.dtype("<f4" if isinstance(problem, SinglePrecision) else "<f8")


class KeptModels:
    """Takes the models of one run, as `pame.observe.ModelStore` describes it; to be used as a context."""

    def __init__(self, run_folder: Path, problem: Problem, least_free: int = LEAST_FREE) -> None:
        self.folder = run_folder / FOLDER
        self.points = 0
        self.missed = 0
        """Points for which there was no room on the disk."""
        self.last: UnjudgedPoint | None = None
        self._type = number_type(problem)
        self._row = problem.n * self._type.itemsize
        self._least_free = least_free
        self._known: dict[bytes, int] = {}
        """Rows by the digests of their contents."""
        self._writing = Lock()
        self._files = ExitStack()
        with writing(self.folder):
            self.folder.mkdir(parents=True)
            self._models = self._files.enter_context((self.folder / "models.bin").open("wb", buffering=0))
            self._lines = self._files.enter_context((self.folder / "points.jsonl").open("w", encoding="utf-8"))
            if (lock := locked(self.folder)) is not None:
                self._files.enter_context(lock)
            self._lines.write(json.dumps({"n": problem.n, "type": self._type.str}) + "\n")
            self._lines.flush()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._files.close()

    def put(self, mean: NDArray[np.float64], own: NDArray[np.float64], consensus: float) -> StoredModels:
        """Write what is not there yet. A full disk ends no run: the point is missed."""
        with self._writing, np.errstate(over="ignore", invalid="ignore"):
            before = len(self._known)
            try:
                self._require(len(own) + 1)
                rows = [self._put(model) for model in (mean, *own)]
            except OSError:
                self._forget(before)
                return StoredModels(_NO_ROOM, (), consensus)
        return StoredModels(rows[0], tuple(rows[1:]), consensus)

    def add(self, point: UnjudgedPoint) -> None:
        self.last = point
        if point.models.mean == _NO_ROOM:
            self.missed += 1
            return
        self.points += 1
        with writing(self.folder):
            self._lines.write(to_text(point) + "\n")
            self._lines.flush()

    def _require(self, rows: int) -> None:
        if shutil.disk_usage(self.folder).free < self._least_free + rows * self._row:
            raise OSError("no room")

    def _put(self, model: NDArray[np.float64]) -> int:
        content = model.astype(self._type).tobytes()
        digest = blake2b(content, digest_size=16).digest()
        if digest not in self._known:
            written = self._models.write(content)
            if written != len(content):
                raise OSError("no room")
            self._known[digest] = len(self._known)
        return self._known[digest]

    def _forget(self, rows: int) -> None:
        self._known = dict(list(self._known.items())[:rows])
        self._models.truncate(rows * self._row)
        self._models.seek(rows * self._row)


def model_store(
    run_folder: Path, experiment: Experiment, setting: ResolvedRun
) -> tuple[ResolvedRun, KeptModels | None]:
    """The run as it is to be driven, and where its models go; None: they are judged at once."""
    if not is_judged_after(experiment):
        return setting, None
    store = KeptModels(run_folder, setting.problem)
    return replace(setting, store=store), store


@dataclass(frozen=True)
class KeptRun:
    """All that is kept of one run."""

    path: Path
    n: int
    type: np.dtype[np.floating]
    points: tuple[UnjudgedPoint, ...]

    @property
    def bytes(self) -> int:
        return (self.path / "models.bin").stat().st_size

    @property
    def is_apart(self) -> bool:
        """Whether every model is judged by itself, so that it can be judged anywhere."""
        return self.type.itemsize == np.float32().itemsize

    def models(self, rows: Sequence[int]) -> NDArray[np.float64]:
        stored = np.memmap(self.path / "models.bin", dtype=self.type, mode="r").reshape(-1, self.n)
        return stored[list(rows)].astype(np.float64)


def read_kept(run_folder: Path) -> KeptRun | None:
    """What a run has kept and nobody has judged; a point whose models were cut short by a crash is left out."""
    path = run_folder / FOLDER
    if not (path / "points.jsonl").is_file():
        return None
    with reading(path):
        lines = list(json_lines(path / "points.jsonl"))
        n, kind = whole(lines[0].get("n")) if lines else None, str(lines[0].get("type")) if lines else ""
        if not n or kind not in ("<f4", "<f8"):
            return None
        number = np.dtype(kind)
        rows = (path / "models.bin").stat().st_size // (n * number.itemsize)
    told = (from_json(UnjudgedPoint, line) for line in lines[1:])
    points = [point for point in told if point and max(point.models.mean, *point.models.own, 0) < rows]
    return KeptRun(path, n, number, tuple(points))


def locked(path: Path) -> IO[str] | None:
    """The right to judge what is kept, as long as the file is open; None: somebody else has it."""
    with writing(path):
        file = (path / "lock").open("w", encoding="utf-8")
    try:
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        file.close()
        return None
    return file
