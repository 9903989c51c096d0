"""An experiment as somebody proposes it on the page: checked as any file is, and what it would do, before it begins."""

import re
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
from orchestrator.experiment.resolve import make_network_setting, warnings
from orchestrator.number_words import duration
from pame.network_specs import ModuleSpec

_FOLDER = Path("experiments")
_MOST_FAULTS = 100
_NAME = re.compile(r"[A-Za-z0-9._-]{1,100}")
NO_FILES: Files = {}


@dataclass(frozen=True)
class ReadyExperiment:
    name: str
    about: str
    """Its first line of comment."""


def ready_experiments() -> list[ReadyExperiment]:
    """Those that can be picked: the default, and the single runs in experiments/; reads files."""
    found = [ReadyExperiment("default", "The experiment that runs when none is given.")]
    for path in sorted(_FOLDER.glob("*.yaml")):
        text = path.read_text(encoding="utf-8", errors="replace")
        try:
            data = yaml.safe_load(text)
        except yaml.YAMLError:
            continue
        if _NAME.fullmatch(path.stem) and isinstance(data, dict) and _is_single(data):
            first = next((line.lstrip("# ") for line in text.splitlines() if line.startswith("#")), "")
            found.append(ReadyExperiment(path.stem, first))
    return found


def text_of_ready(name: str) -> str | None:
    """None if there is none of that name."""
    if name == "default":
        return default_path().read_text(encoding="utf-8")
    known = {one.name for one in ready_experiments()}
    return (_FOLDER / f"{name}.yaml").read_text(encoding="utf-8") if name in known else None


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


def _is_single(data: Mapping[str, object]) -> bool:
    """No comparison, and no file beside it that would have to come along."""
    topology = data.get("topology")
    has_file = "plan" in data or (isinstance(topology, dict) and "file" in topology)
    return not has_file and not {"base", "algorithms"} <= data.keys()


def _files_of(experiment: Experiment) -> Iterator[str]:
    for key, name in named(experiment).items():
        yield f"experiment: {key}: {name} is a file, and the page carries none: use `pame run FILE`"
    model = getattr(experiment.problem, "model", None)
    if isinstance(model, ModuleSpec):
        where = f"experiment: problem.model.module: {model.module}"
        yield f"{where} is a file, and the page carries none: use `pame run FILE`"
