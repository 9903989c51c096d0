"""The files that an experiment names (`plan`, `topology.file`): in the folder of its file, or carried by a submission.

Whoever runs `pame` on a file of its own reads them from there. A client reads them and sends their text; the
orchestrator takes that text and never opens a path that a client names.
"""

from collections.abc import Mapping
from pathlib import Path

from orchestrator.errors import UnreadableFile
from orchestrator.experiment import Experiment
from pame.topology.kinds import EdgeList

Files = Path | Mapping[str, str]
"""A folder, or texts by their paths as the experiment writes them."""
MOST_CARRIED = 3 * 2**20
"""Bytes of text with one submission."""
_MOST_READ = 256 * 2**20


def text_of(key: str, name: str, files: Files) -> str:
    """The text of a file; `key` is where the experiment names it."""
    if isinstance(files, Path):
        return _read(key, files / name)
    if name not in files:
        raise UnreadableFile(f"{key}: the submission does not carry the text of {name!r}: use a newer client")
    return files[name]


def carried(experiment: Experiment, base: Path) -> dict[str, str]:
    """What a client sends along: the text of every file that is named."""
    files = {name: _read(key, base / name) for key, name in named(experiment).items()}
    size = sum(len(text.encode()) for text in files.values())
    if size > MOST_CARRIED:
        raise UnreadableFile(
            f"{', '.join(named(experiment))}: {size / 2**20:.3g} MiB, and a submission carries at most "
            f"{MOST_CARRIED / 2**20:.3g} MiB: start the orchestrator with `pame serve --experiment FILE`"
        )
    return files


def named(experiment: Experiment) -> dict[str, str]:
    """Files by the key that names them."""
    found = {} if experiment.plan is None else {"plan": experiment.plan}
    if isinstance(experiment.topology, EdgeList):
        found["topology.file"] = experiment.topology.file
    return found


def _read(key: str, path: Path) -> str:
    try:
        with path.open("rb") as file:
            data = file.read(_MOST_READ + 1)
        if len(data) > _MOST_READ:
            raise ValueError(f"more than {_MOST_READ // 2**20} MiB")
        return data.decode()
    except (OSError, ValueError) as error:
        raise UnreadableFile(f"{key}: cannot read {path} ({error}); give the path of a text file") from None
