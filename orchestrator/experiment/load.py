"""An experiment file, with overrides, to the validated experiments it asks for: one, or one per run of a sweep."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib import resources
from pathlib import Path

from pydantic import ValidationError

from orchestrator.experiment.errors import ExperimentError
from orchestrator.experiment.explain import explain, show_key
from orchestrator.experiment.kept_settings import in_words
from orchestrator.experiment.model import Experiment
from orchestrator.experiment.overrides import Override, apply_overrides, left_out, parse_override, value_at
from orchestrator.experiment.places import NOWHERE, FilePlaces
from orchestrator.experiment.ready import name_of
from orchestrator.experiment.sweep import Picked, Sweep, TooLarge
from orchestrator.experiment.text import Data, Lines, UnreadableText, parse_with_lines, read_text
from orchestrator.experiment.text import to_yaml as data_to_yaml
from orchestrator.experiment.units import percentages_as_numbers


@dataclass(frozen=True)
class Variant:
    """One run of a file: what the sweep chose for it, by dotted key as written in the file, and the experiment."""

    values: dict[str, Data]
    experiment: Experiment
    notes: tuple[str, ...] = ()
    """What became of settings of the file when an override gave their section another kind, or replaced it."""
    places: FilePlaces = NOWHERE
    """Where its settings stand."""


def swept_keys(variants: Sequence[Variant]) -> list[str]:
    """What is swept, in file order; not every run has a value of each."""
    return list(dict.fromkeys(key for variant in variants for key in variant.values))


def load(path: Path, overrides: Sequence[str] = ()) -> list[Variant]:
    """The experiments of a file, in the order of the sweep; ExperimentError names every mistake in it."""
    try:
        text = read_text(path)
    except UnreadableText as error:
        raise ExperimentError([f"{path}: {error}"]) from None
    return load_text(text, path, overrides)


def load_text(text: str, path: Path, overrides: Sequence[str] = ()) -> list[Variant]:
    """The same from the text of a file; `path` is what errors call it."""
    data, lines = read_data(text, path)
    if data is None:
        raise ExperimentError([f"{path}: is empty; start with e.g. 'nodes: 16'"])
    if not isinstance(data, dict):
        raise ExperimentError([f"{path}: is not a mapping of settings; write lines such as 'nodes: 16'"])
    if {"base", "algorithms"} <= data.keys():
        raise ExperimentError([f"{path}: is a comparison; run it with `pame compare {name_of(path)}`"])
    replaced = _parse_overrides(overrides)
    places = FilePlaces(str(path), lines, tuple(override.path for override in replaced))
    return _variants(data, path, replaced, places)


def load_data(
    data: dict[str, Data], path: Path, overrides: Sequence[Override], places: FilePlaces | None = None
) -> list[Variant]:
    """The same from what a file holds; its errors say that the overrides are in the file, too."""
    return _variants(data, path, overrides, places or FilePlaces(str(path)))


def read_data(text: str, path: Path) -> tuple[Data, Lines]:
    """What the text of a file holds, and where; `path` is what errors call it."""
    try:
        return parse_with_lines(text)
    except UnreadableText as error:
        where = f"{path}:" if error.line is None else f"{path}:{error.line}:"
        raise ExperimentError([f"{where} {error}"]) from None


def override_data(data: dict[str, Data], overrides: Sequence[Override]) -> dict[str, Data]:
    """What a file holds with the overrides in it, if it is no sweep; ValueError says what is wrong with one."""
    replaced, former = apply_overrides(data, overrides)
    found = Sweep(replaced, Experiment, former)
    if not former or found.count != 1:
        return replaced
    [picked] = found.runs()
    return picked.data if isinstance(picked.data, dict) else replaced


def dump(experiment: Experiment) -> dict[str, Data]:
    """The resolved experiment as an experiment file has it: every setting, quantities with their units."""
    return {key: _kind_first(value) for key, value in experiment.model_dump(mode="json", by_alias=True).items()}


def to_yaml(experiment: Experiment) -> str:
    """The resolved experiment as the text of an experiment file, which loads to an equal experiment."""
    return data_to_yaml(dump(experiment))


def default_path() -> Path:
    """The experiment that runs when none is given."""
    return Path(str(resources.files("orchestrator.experiment") / "default.yaml"))


def _variants(data: dict[str, Data], path: Path, overrides: Sequence[Override], places: FilePlaces) -> list[Variant]:
    try:
        replaced, former = apply_overrides({"name": _name(path), **data}, overrides)
    except ValueError as error:
        raise ExperimentError([str(error)]) from None
    notes, found = left_out(data, overrides), Sweep(replaced, Experiment, former)
    problems = [f"{places.of(at)} {show_key(at)}: {mistake}" for at, mistake in found.mistakes.items()]
    variants = []
    try:
        for picked in found.runs():
            mine = replace(places, items=picked.items)
            try:
                experiment = Experiment.model_validate_json(json.dumps(percentages_as_numbers(picked.data)))
            except ValidationError as error:
                for at, problem in explain(error, Experiment, picked.data):
                    if at not in found.mistakes:
                        problems.append(f"{mine.of(at)} {show_key(mine.key(at))}: {problem}")
            else:
                values = {".".join(path): value for path, value in picked.choice.items()}
                variants.append(Variant(values, experiment, (*notes, *_notes(picked, experiment)), mine))
    except TooLarge as error:
        problems.append(f"{places.of(error.longest)} {error}")
    if problems:
        raise ExperimentError(problems)
    return variants


def _notes(picked: Picked, experiment: Experiment) -> tuple[str, ...]:
    if not picked.changes:
        return ()
    resolved = dump(experiment)
    return tuple(in_words(change, value_at(resolved, change.path)) for change in picked.changes)


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
