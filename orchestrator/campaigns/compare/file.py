"""The comparison file: one base experiment, the algorithms with what may be tuned of each, budget, seeds, targets.

name: compare-logistic
base: {nodes: 32, ...}                          any settings of an experiment but those that a comparison decides
algorithms:
  dpsgd: {algorithm: {kind: dpsgd}, period: 1, tune: {algorithm.eta: [0.1, 0.3]}}
standardized: {period: 3..7, participation: 0.2, draw: shared, weights: active, periods: one}      or: all
tuning: {seed: 100, runs: 8, more: 6}
seeds: [1, 2, 3]
targets: {of: nodes, suboptimality: [0.2, 0.1, 0.05], accuracy_points: 1.5}    or accuracy: [0.7, 0.8], objective: [0.5]
check_every: 5
conditions: {clean: {}, loss: {messages: {loss: 20%}}}      what else is done (`conditions`); tuned_in: clean
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from annotated_types import Ge, Gt, Le, Lt, MinLen
from pydantic import Field, ValidationError

from orchestrator.campaigns.compare.conditions import CompareCondition, conditions_of, mistakes_in
from orchestrator.experiment import ExperimentError, load_data, override_data
from orchestrator.experiment.errors import shorten
from orchestrator.experiment.explain import explain, show_key
from orchestrator.experiment.model import Period
from orchestrator.experiment.overrides import Override, parse_override
from orchestrator.experiment.section import Name, Section
from orchestrator.experiment.text import Data, UnreadableText, parse, read_text
from orchestrator.experiment.units import Expected, percentages_as_numbers
from pame.algorithms import SPECS
from pame.algorithms.step_sizes import AS_PRINTED
from pame.units import Count

_DECIDED = {
    ("algorithm",): "each algorithm has its own, below algorithms",
    ("period",): "each algorithm has its own, below algorithms; the one for all is standardized.period",
    ("name",): "give the comparison's name at the top of the file",
    ("seed",): "give seeds and tuning.seed instead",
    ("evaluate",): "models are judged every check_every iterations: set that instead",
    ("stop", "target"): "runs go on to stop.iterations, the same for all: give targets instead",
    ("stop", "accuracy"): "runs go on to stop.iterations, the same for all: give targets.accuracy instead",
    ("stop", "paper"): "the paper's rule is looked at every check_every iterations, and stops nobody: leave it out",
}
"""What a comparison decides itself, and so the base experiment may not."""
_QUICK_TRIALS = 2
_STANDARD = ("algorithm.participation", "algorithm.draw", "algorithm.mixing")
_AS_PRINTED = "-as-printed"
_ALGORITHM = r"[A-Za-z0-9._-]{1,40}"
_PERIOD = "a whole number of at least 1, or a range such as 3..7"

_SUBOPTIMALITY = (0.2, 0.1, 0.05)

TargetKind = Literal["suboptimality", "accuracy", "objective"]
Seed = Annotated[int, Ge(0), Lt(2**63)]
Mapped = Annotated[dict[str, Any], Expected("a section")]
SomePeriod = Annotated[Period, Expected(_PERIOD)]


class Standardized(Section):
    """What all algorithms have in common in the standardized view."""

    period: SomePeriod = Period(min=3, max=7)
    """Every how many iterations a node averages; with `periods: one` the middle of it."""
    participation: Annotated[float, Gt(0), Le(1)] = 0.2
    """The share of its neighbours that take part in a round."""
    draw: Literal["shared", "mutual", "directed"] = "shared"
    """Who draws an edge: both ends together, each end for itself, or (where the algorithm can) the receiver alone."""
    weights: Literal["active", "graph"] = "active"
    """Of the edges that take part in a round, or of the whole graph (what is not used stays with the node)."""
    periods: Literal["one", "each"] = "one"
    """One period for all, or one per node."""
    readings: Literal["this", "all", "none"] = "this"
    """All of them, the one that is said here, or no standardized view at all."""


class Tuning(Section):
    """How settings are chosen: at most the same number of runs for each algorithm and view."""

    seed: Seed = 100
    """Of the tuning runs; none of the seeds on which the algorithms are compared."""
    runs: Count = 8
    """At most so many settings are tried; a grid with more is sampled, one with fewer is tried whole."""
    more: Annotated[int, Ge(0), Le(100), Expected("a whole number from 0 to 100")] = 6
    """At most so many further settings, beyond an edge of the grid on which the best value lies."""
    iterations: Count | None = None
    """A tuning run ends after so many at the latest; nothing: as the base experiment says."""

    def quick(self) -> "Tuning":
        """Two settings, and none beyond the edges."""
        return self.model_copy(update={"runs": min(_QUICK_TRIALS, self.runs), "more": 0})


class Targets(Section):
    """What is to be reached."""

    suboptimality: Annotated[
        list[Annotated[float, Gt(0), Lt(1)]] | None, MinLen(1), Expected("a list of shares such as [0.2, 0.1, 0.05]")
    ] = None
    """Of (f - f*) / (f(0) - f*), where f* is known; 0.2, 0.1 and 0.05 if no other target is given."""
    accuracy: Annotated[
        list[Annotated[float, Gt(0), Le(1)]] | None, MinLen(1), Expected("a list of shares such as [0.7, 0.8]")
    ] = None
    """Of the test samples that are classified rightly."""
    objective: Annotated[list[float] | None, MinLen(1), Expected("a list of numbers such as [0.8, 0.5]")] = None
    """Of f itself."""
    of: Literal["nodes", "mean"] = "nodes"
    """Of which f and accuracy: the mean over the nodes at their own models, or that of the mean of all models."""
    accuracy_points: Annotated[float, Gt(0)] = 1.5
    """How many percentage points below the best test accuracy of all algorithms is good enough."""


class Entry(Section):
    """One algorithm as published, and what of it may be tuned."""

    algorithm: Mapped
    """The section `algorithm` of an experiment file."""
    period: SomePeriod
    """Every how many iterations it communicates, as published."""
    tune: Mapped = Field(default_factory=dict)
    """By dotted key: the values to try."""


class _File(Section):
    """A comparison of algorithms."""

    name: Name
    base: Mapped
    algorithms: Annotated[
        dict[str, Any],
        MinLen(1),
        Expected("a section with an entry per algorithm, e.g. dpsgd: {algorithm: {kind: dpsgd}, period: 1}"),
    ]
    standardized: Standardized = Standardized()
    tuning: Tuning = Tuning()
    seeds: Annotated[list[Seed], MinLen(1), Expected("a list of whole numbers such as [1, 2, 3]")] = Field(
        default_factory=lambda: [1, 2, 3]
    )
    targets: Targets = Targets()
    check_every: Count = 5
    conditions: Annotated[
        dict[str, Any] | None, Expected("a section with an entry per condition, e.g. loss: {messages: {loss: 20%}}")
    ] = None
    tuned_in: Annotated[str | None, Expected("the name of a condition")] = None


@dataclass(frozen=True)
class Target:
    """A suboptimality or an f to come down to, or an accuracy to come up to."""

    kind: TargetKind
    value: float

    @property
    def key(self) -> str:
        return f"{self.value:g}"

    @property
    def words(self) -> str:
        return f"{self.kind} {self.key}"

    @property
    def level(self) -> float:
        """Turned so that less is nearer."""
        return -self.value if self.kind == "accuracy" else self.value


@dataclass(frozen=True)
class Comparison:
    """A comparison file, read; `targets` are of one kind, the easiest first."""

    name: str
    path: Path
    """The files that it names are beside it."""
    base: Mapping[str, Any]
    entries: Mapping[str, Entry]
    standardized: Standardized
    tuning: Tuning
    seeds: tuple[int, ...]
    targets: tuple[Target, ...]
    accuracy_points: float
    check_every: int
    of: Literal["nodes", "mean"] = "nodes"
    """Whose f and accuracy the targets are about."""
    printed: frozenset[str] = frozenset()
    """Entries that are PaME with the step as the paper prints it: only as published."""
    notes: tuple[str, ...] = ()
    """What became of settings of the base when an override gave their section another kind."""
    conditions: tuple[CompareCondition, ...] = ()
    """What the algorithms are compared under; the others are held against the first."""
    tuned_in: str = ""
    """The name of one of them; empty: there are none."""

    @property
    def reference(self) -> str:
        """The name of the condition that the others are held against."""
        return self.conditions[0].name if self.conditions else ""

    def condition(self, name: str) -> CompareCondition | None:
        """None: the base experiment as it is."""
        return next((one for one in self.conditions if one.name == name), None)

    @property
    def needs_optimum(self) -> bool:
        """Whether its targets are relative to the best there is."""
        return self.targets[0].kind == "suboptimality"


def load_comparison(path: Path, overrides: Sequence[str] = ()) -> Comparison:
    """The comparison of a file; `overrides` are settings of its base, as after `--set`. ExperimentError names every
    mistake in it."""
    data = _data(path)
    if (readings := data.get("standardized")) in ("all", "none"):
        data["standardized"] = {"readings": readings}
    head = _validated(_File, data, str(path), ())
    base, notes = _overridden(head.base, overrides)
    entries = {}
    found = (*_mistakes(head, base), *mistakes_in(head.conditions, head.tuned_in))
    problems = [f"{path}: {sentence}" for sentence in found]
    for name, content in head.algorithms.items():
        if not re.fullmatch(_ALGORITHM, name):
            problems.append(f"{path}: algorithms.{shorten(name)}: name it with at most 40 letters, digits, - _ .")
        try:
            entry = _validated(Entry, content, str(path), ("algorithms", name))
        except ExperimentError as error:
            problems += error.problems
            continue
        entries[name] = entry
        problems += [f"{path}: algorithms.{name}.tune.{sentence}" for sentence in _bad_grid(entry.tune)]
    if problems:
        raise ExperimentError(problems)
    entries = _alike(entries)
    printed = _as_printed(entries)
    # the file itself may say what the paper prints, as those of networks do
    given = {name for name, entry in entries.items() if name.endswith(_AS_PRINTED) and _has_printed_step(entry)}
    conditions = conditions_of(head.conditions or {})
    return Comparison(
        name=head.name,
        path=path,
        base=base,
        entries=entries | printed,
        standardized=head.standardized,
        tuning=head.tuning,
        seeds=tuple(dict.fromkeys(head.seeds)),
        targets=_targets(head.targets),
        accuracy_points=head.targets.accuracy_points,
        check_every=head.check_every,
        of=head.targets.of,
        printed=frozenset(printed) | given,
        notes=notes,
        conditions=conditions,
        tuned_in=head.tuned_in or next((one.name for one in conditions), ""),
    )


def _targets(given: Targets) -> tuple[Target, ...]:
    if given.accuracy:
        return tuple(Target("accuracy", value) for value in sorted(set(given.accuracy)))
    if given.objective:
        return tuple(Target("objective", value) for value in sorted(set(given.objective), reverse=True))
    shares = given.suboptimality or _SUBOPTIMALITY
    return tuple(Target("suboptimality", value) for value in sorted(set(shares), reverse=True))


def _alike(entries: Mapping[str, Entry]) -> dict[str, Entry]:
    """What is tuned for one is tuned for all: the decay of the step, with the same values, where there is one and
    the file tunes anything."""
    values = {
        value for entry in entries.values() for key, some in entry.tune.items() if _is_decay(key) for value in some
    }
    found = {}
    for name, entry in entries.items():
        key = _decay(entry.algorithm)
        if values and entry.tune and key is not None and not any(map(_is_decay, entry.tune)):
            entry = entry.model_copy(update={"tune": {**entry.tune, key: sorted(values)}})
        found[name] = entry
    return found


def _is_decay(key: str) -> bool:
    return key.rpartition(".")[2] == "gamma"


def _decay(algorithm: Mapping[str, Any]) -> str | None:
    """The key of an algorithm's decay; None: it has none, or the file fixes it."""
    step, kind = algorithm.get("step"), SPECS.get(str(algorithm.get("kind")))
    if isinstance(step, dict):
        return None if "gamma" in step else "algorithm.step.gamma"
    names = {one.name for one in fields(kind)} if kind is not None else set()  # type: ignore[arg-type]
    return "algorithm.gamma" if "gamma" in names and "gamma" not in algorithm else None


def _as_printed(entries: Mapping[str, Entry]) -> dict[str, Entry]:
    """PaME once more, with the step as the paper prints it, and nothing tuned."""
    found = {}
    for name, entry in entries.items():
        is_there = f"{name}{_AS_PRINTED}" in entries
        if entry.algorithm.get("kind") == "pame" and not _has_printed_step(entry) and not is_there:
            algorithm = {**entry.algorithm, "step": asdict(AS_PRINTED)}
            found[f"{name}{_AS_PRINTED}"] = entry.model_copy(update={"algorithm": algorithm, "tune": {}})
    return found


def _has_printed_step(entry: Entry) -> bool:
    step = entry.algorithm.get("step")
    return isinstance(step, dict) and step.get("kind") == "penalty"


def _data(path: Path) -> dict[str, Data]:
    try:
        data = parse(read_text(path))
    except UnreadableText as error:
        raise ExperimentError([f"{path}: {error}"]) from None
    if not isinstance(data, dict):
        raise ExperimentError([f"{path}: is not a comparison; it begins with e.g. 'name: compare-mine'"])
    if "algorithms" not in data and "base" not in data:
        raise ExperimentError(
            [f"{path}: is no comparison file: it has neither base nor algorithms (see docs/compare.md)"]
        )
    return data


_Model = TypeVar("_Model", bound=Section)


def _validated(model: type[_Model], data: Data, file: str, above: tuple[str, ...]) -> _Model:
    try:
        return model.model_validate_json(json.dumps(percentages_as_numbers(data)))
    except ValidationError as error:
        found = explain(error, model, data)
        raise ExperimentError([f"{file}: {show_key((*above, *at))}: {problem}" for at, problem in found]) from None


def _overridden(base: dict[str, Any], overrides: Sequence[str]) -> tuple[dict[str, Any], tuple[str, ...]]:
    try:
        parsed = [parse_override(text) for text in overrides]
        for override in parsed:
            for path, why in _DECIDED.items():
                if override.path[: len(path)] == path:
                    raise ValueError(f"--set {'.'.join(override.path)}: {why}")
        return override_data(base, parsed), _notes(base, parsed)
    except ValueError as error:
        raise ExperimentError([str(error)]) from None


def _notes(base: dict[str, Any], overrides: Sequence[Override]) -> tuple[str, ...]:
    """What became of settings whose section has another kind now; a mistake is reported where it matters."""
    try:
        return tuple(dict.fromkeys(note for run in load_data(base, Path("base"), overrides) for note in run.notes))
    except ExperimentError:
        return ()


def _mistakes(head: _File, base: Mapping[str, Any]) -> Iterator[str]:
    for path, why in _DECIDED.items():
        inner: Any = base
        for part in path:
            inner = inner.get(part) if isinstance(inner, dict) else None
        if inner is not None:
            yield f"base.{'.'.join(path)}: {why}"
    stop = base.get("stop")
    if isinstance(stop, dict) and stop.get("seconds") is not None and stop.get("iterations") is None:
        yield "base.stop.iterations: algorithms are compared by iterations too; give it beside seconds"
    targets = head.targets
    if sum(values is not None for values in (targets.suboptimality, targets.accuracy, targets.objective)) > 1:
        yield "targets: give one of suboptimality, accuracy and objective"
    if head.tuning.seed in head.seeds:
        yield f"tuning.seed: {head.tuning.seed} is one of the seeds; tune on a seed that is not compared"


def _bad_grid(tune: Mapping[str, Any]) -> Iterator[str]:
    for key, values in tune.items():
        if not key.startswith("algorithm."):
            yield f"{key}: only settings of the algorithm can be tuned; write e.g. algorithm.eta: [0.1, 0.3]"
        elif key in _STANDARD:
            yield f"{key}: the views decide it; give it in the algorithm, and for all in standardized"
        elif not isinstance(values, list) or not values or any(isinstance(value, list | dict) for value in values):
            yield f"{key}: give a list of values to try, such as [0.1, 0.3]"
