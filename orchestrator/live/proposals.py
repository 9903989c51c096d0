"""An experiment as somebody proposes it on the page: checked as any file is, and what it would do, before it begins."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import Any

import yaml

from orchestrator.control.submission_text import read_submission
from orchestrator.experiment import Experiment, ExperimentError, Variant, default_path, to_yaml
from orchestrator.experiment.faults.plan_words import planned_words
from orchestrator.experiment.late_faults import late_faults, likely_seconds
from orchestrator.experiment.named_files import Files, named
from orchestrator.experiment.ready import ready_file, ready_files
from orchestrator.experiment.resolve import make_network_setting, warnings
from orchestrator.number_words import duration
from pame.network_specs import ModuleSpec

_MOST_FAULTS = 100
NO_FILES: Files = {}


@dataclass(frozen=True)
class ReadyExperiment:
    name: str
    about: str
    """Its first line of comment."""


def ready_experiments() -> list[ReadyExperiment]:
    """Those that can be picked: the default, and the ready ones that are single runs; reads files."""
    singles = [one for one in ready_files() if not one.is_comparison and _is_single(one.path)]
    default = ReadyExperiment("default", "The experiment that runs when none is given.")
    return [default, *(ReadyExperiment(one.name, one.about) for one in singles)]


def text_of_ready(name: str) -> str | None:
    """None if there is none of that name."""
    if name == "default":
        return default_path().read_text(encoding="utf-8")
    path = ready_file(name) if name in {one.name for one in ready_experiments()} else None
    return None if path is None else path.read_text(encoding="utf-8")


def read_proposal(text: str) -> Variant:
    """ExperimentError names what is wrong; a page can carry no files along."""
    variant = read_submission(text)
    if problems := list(_files_of(variant.experiment)):
        raise ExperimentError(problems)
    return variant


def with_seed(experiment: Experiment, seed: int) -> Experiment:
    """The same experiment, drawn anew; the plan of another run is not."""
    return read_submission(to_yaml(experiment), [f"seed={seed}"]).experiment


def preview(variant: Variant, files: Files) -> Mapping[str, Any]:
    """What it would be; draws the graph and the plan, so it belongs into a thread."""
    experiment = variant.experiment
    setting = make_network_setting(experiment, files)
    likely = likely_seconds(experiment, setting, None)
    limit = setting.stop.limit_s
    plan = [planned_words(event) for event in setting.plan]
    return {
        "name": experiment.name,
        "nodes": experiment.nodes,
        "about": f"{experiment.nodes} nodes, {experiment.topology.kind} with {len(setting.topology.edges)} edges, "
        f"{experiment.problem.kind}, {experiment.algorithm.kind}, seed {experiment.seed}",
        "ends": _ends(setting.stop.iterations, limit, likely),
        "faults": plan[:_MOST_FAULTS],
        "more_faults": max(0, len(plan) - _MOST_FAULTS),
        "notes": [*variant.notes, *warnings(experiment, setting, None), *late_faults(experiment, setting, None)],
    }


def _ends(iterations: int | None, limit_s: float, likely_s: float) -> str:
    """When it ends, as far as that is known before."""
    rules = [f"after {iterations} iterations"] if iterations is not None else []
    rules += [f"after {duration(limit_s)}"] if limit_s < inf else []
    guess = "" if likely_s == inf else f"; about {duration(float(f'{min(likely_s, limit_s):.2g}'))} (an estimate)"
    return f"ends {' or '.join(rules) or 'by its own rule'}{guess}"


def _is_single(path: Path) -> bool:
    """No file is beside it that would have to come along."""
    try:
        data = yaml.safe_load(path.read_text(encoding="utf-8", errors="replace"))
    except yaml.YAMLError:
        return False
    topology = data.get("topology") if isinstance(data, dict) else None
    return isinstance(data, dict) and "plan" not in data and not (isinstance(topology, dict) and "file" in topology)


def _files_of(experiment: Experiment) -> Iterator[str]:
    for key, name in named(experiment).items():
        yield f"experiment: {key}: {name} is a file, and the page carries none: use `pame run FILE`"
    model = getattr(experiment.problem, "model", None)
    if isinstance(model, ModuleSpec):
        where = f"experiment: problem.model.module: {model.module}"
        yield f"{where} is a file, and the page carries none: use `pame run FILE`"
