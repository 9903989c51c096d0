"""An experiment file, with overrides, to the validated experiments it asks for: one, or one per run of a sweep."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from pydantic import ValidationError

from orchestrator.experiment.errors import ExperimentError
from orchestrator.experiment.explain import explain, show_key
from orchestrator.experiment.model import Experiment
from orchestrator.experiment.overrides import Override, apply_overrides, parse_override
from orchestrator.experiment.sweep import TooLarge, chosen, combinations, swept
from orchestrator.experiment.text import Data, UnreadableText, parse, read_text
from orchestrator.experiment.text import to_yaml as data_to_yaml
from orchestrator.experiment.units import percentages_as_numbers


@dataclass(frozen=True)
class Variant:
    """One run of a file: what the sweep chose for it, by dotted key as written in the file, and the experiment."""

    values: dict[str, Data]
    experiment: Experiment


def load(path: Path, overrides: Sequence[str] = ()) -> list[Variant]:
    """The experiments of a file, in the order of the sweep; ExperimentError names every mistake in it."""
    try:
        text = read_text(path)
    except UnreadableText as error:
        raise ExperimentError([f"{path}: {error}"]) from None
    return load_text(text, path, overrides)


def load_text(text: str, path: Path, overrides: Sequence[str] = ()) -> list[Variant]:
    """The same from the text of a file; `path` is what errors call it."""
    try:
        data = parse(text)
    except UnreadableText as error:
        raise ExperimentError([f"{path}: {error}"]) from None
    if data is None:
        raise ExperimentError([f"{path}: is empty; start with e.g. 'nodes: 16'"])
    if not isinstance(data, dict):
        raise ExperimentError([f"{path}: is not a mapping of settings; write lines such as 'nodes: 16'"])
    if {"base", "algorithms"} <= data.keys():
        raise ExperimentError([f"{path}: is a comparison; run it with `pame compare {path}`"])
    replaced = _parse_overrides(overrides)
    try:
        data = apply_overrides(data, replaced)
    except ValueError as error:
        raise ExperimentError([str(error)]) from None
    return _variants(_Source(str(path), replaced), {"name": _name(path), **data})


def dump(experiment: Experiment) -> dict[str, Data]:
    """The resolved experiment as an experiment file has it: every setting, quantities with their units."""
    return {key: _kind_first(value) for key, value in experiment.model_dump(mode="json", by_alias=True).items()}


def to_yaml(experiment: Experiment) -> str:
    """The resolved experiment as the text of an experiment file, which loads to an equal experiment."""
    return data_to_yaml(dump(experiment))


def default_path() -> Path:
    """The experiment that runs when none is given."""
    return Path(str(resources.files("orchestrator.experiment") / "default.yaml"))


@dataclass(frozen=True)
class _Source:
    """Where settings come from, for error messages."""

    file: str
    overrides: tuple[Override, ...]

    def of(self, path: tuple[str, ...]) -> str:
        overridden = any(path[: len(override.path)] == override.path for override in self.overrides)
        return "--set" if overridden else f"{self.file}:"


def _variants(source: _Source, data: dict[str, Data]) -> list[Variant]:
    axes = swept(data)
    empty = [path for path, values in axes.items() if not values]
    problems = [f"{source.of(path)} {show_key(path)}: the list is empty; give at least one value" for path in empty]
    variants = []
    try:
        for choice in combinations({path: values for path, values in axes.items() if path not in empty}):
            picked = chosen(data, choice)
            try:
                experiment = Experiment.model_validate_json(json.dumps(percentages_as_numbers(picked)))
                variants.append(Variant({".".join(path): value for path, value in choice.items()}, experiment))
            except ValidationError as error:
                found = explain(error, Experiment, picked)
                problems += [f"{source.of(at)} {show_key(at)}: {problem}" for at, problem in found if at not in empty]
    except TooLarge as error:
        problems.append(f"{source.file}: {error}")
    if problems:
        raise ExperimentError(problems)
    return variants


def _parse_overrides(overrides: Sequence[str]) -> tuple[Override, ...]:
    parsed, problems = [], []
    for text in overrides:
        try:
            parsed.append(parse_override(text))
        except ValueError as error:
            problems.append(str(error))
    if problems:
        raise ExperimentError(problems)
    return tuple(parsed)


def _kind_first(value: Data) -> Data:
    if isinstance(value, list):
        return [_kind_first(inner) for inner in value]
    if not isinstance(value, dict):
        return value
    return {key: _kind_first(value[key]) for key in sorted(value, key=lambda key: key != "kind")}


def _name(path: Path) -> str:
    return re.sub(r"[^A-Za-z0-9._-]", "-", path.stem)[:100] or "experiment"
