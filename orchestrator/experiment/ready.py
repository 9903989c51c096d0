"""The ready experiments: files that come with the testbed, each found by its name."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

import orchestrator
from orchestrator.errors import UnreadableFile

_FOLDER = "experiments"
_ENDING = ".yaml"
_DATA = re.compile(r"pame data prepare ([\w-]+)")
_NEAREST, _NEAR = 3, 0.6


@dataclass(frozen=True)
class ReadyFile:
    """One of them; `about`: the first line of the comment above its settings."""

    name: str
    path: Path
    about: str
    data: str
    """The data set that has to be prepared for it; empty: none."""
    is_comparison: bool


def ready_files() -> list[ReadyFile]:
    """In the order of the alphabet."""
    return [_described(name, path) for name, path in sorted(_paths().items())]


def ready_file(name: str) -> Path | None:
    """The file of a ready experiment, by its name with or without its ending."""
    return _paths().get(name.removesuffix(_ENDING))


def name_of(path: Path) -> str:
    """What a user types for a file: its path, or its name if it is a ready experiment of the installed testbed."""
    return path.stem if path.is_absolute() and ready_file(path.stem) == path else str(path)


def find_experiment(given: Path) -> Path:
    """The file that is meant: a file of this name, with or without its ending, or else a ready experiment.

    A path with a folder in it is taken as it is.
    """
    if given.is_file() or len(given.parts) != 1:
        return given
    if (beside := Path(f"{given}{_ENDING}")).is_file():
        return beside
    if (ready := ready_file(given.name)) is not None:
        return ready
    if given.exists():
        return given
    nearest = get_close_matches(given.name.removesuffix(_ENDING), _paths(), _NEAREST, _NEAR)
    meant = f"; did you mean {' or '.join(nearest)}?" if nearest else ":"
    raise UnreadableFile(
        f"there is no file and no ready experiment {str(given)!r}{meant} `pame examples` lists those that are ready, "
        "`pame init` writes one of your own"
    )


def _paths() -> dict[str, Path]:
    """By name; those in a folder `experiments` here go before those of the installed testbed."""
    return {path.stem: path for folder in reversed(list(_folders())) for path in folder.glob(f"*{_ENDING}")}


def _folders() -> Iterator[Path]:
    yield Path(_FOLDER)
    yield Path(orchestrator.__file__).parent.parent / _FOLDER


def _described(name: str, path: Path) -> ReadyFile:
    text = path.read_text(encoding="utf-8", errors="replace")
    keys = {line.partition(":")[0] for line in text.splitlines()}
    needed = _DATA.search(text)
    about = text.partition("\n")[0].removeprefix("#").strip()
    return ReadyFile(name, path, about, needed[1] if needed else "", {"base", "algorithms"} <= keys)
