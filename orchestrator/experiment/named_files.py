"""The files that an experiment names (`plan`, `topology.file`): in the folder of its file, or carried by a submission.

Whoever runs `pame` on a file of its own reads them from there. A client reads them and sends their text; the
orchestrator takes that text and never opens a path that a client names.

A run folder keeps them, and the user's own module (`problem.model.module`), so that it can be done again anywhere.
"""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from contract.plugins import plugin_file
from orchestrator.errors import UnreadableFile
from orchestrator.experiment import Experiment
from pame.network_specs import ModuleSpec
from pame.problems import ImageClassificationSpec
from pame.topology.kinds import EdgeList

Files = Path | Mapping[str, str]
"""A folder, or texts by their paths as the experiment writes them."""
MOST_CARRIED = 3 * 2**20
"""Bytes of text with one submission."""
KEPT = "files"
"""Where a run folder keeps them: there is no other file of a run."""
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


def kept(experiment: Experiment, files: Files) -> tuple[Experiment, Mapping[str, bytes]]:
    """The experiment as its run folder has it, and by their paths there the files that it then names.

    A plan is kept as plan.jsonl by whoever runs it.
    """
    contents: dict[str, bytes] = {}
    if isinstance(experiment.topology, EdgeList):
        name = experiment.topology.file
        contents[place := _place(name)] = text_of("topology.file", name, files).encode()
        experiment = experiment.model_copy(update={"topology": replace(experiment.topology, file=place)})
    problem, module = experiment.problem, own_module(experiment)
    if module is not None and isinstance(problem, ImageClassificationSpec):
        name, _, made = module.module.rpartition(":")
        if (source := plugin_file(name, made)) is not None and source.is_file():
            contents[place := _place(name)] = source.read_bytes()
            model = replace(module, module=f"{place}:{made}")
            experiment = experiment.model_copy(update={"problem": replace(problem, model=model)})
    return experiment, contents


def own_module(experiment: Experiment) -> ModuleSpec | None:
    """Where the user's own network is, if it trains one."""
    model = getattr(experiment.problem, "model", None)
    return model if isinstance(model, ModuleSpec) else None


def _place(name: str) -> str:
    return f"{KEPT}/{Path(name).name}"


def _read(key: str, path: Path) -> str:
    try:
        with path.open("rb") as file:
            data = file.read(_MOST_READ + 1)
        if len(data) > _MOST_READ:
            raise ValueError(f"more than {_MOST_READ // 2**20} MiB")
        return data.decode()
    except (OSError, ValueError) as error:
        raise UnreadableFile(f"{key}: cannot read {path} ({error}); give the path of a text file") from None
