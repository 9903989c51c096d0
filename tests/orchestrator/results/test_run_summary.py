"""Summaries and points of curves: there and back as JSON, and what a damaged file says."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, is_dataclass
from enum import Enum
from math import inf, isfinite, nan
from pathlib import Path
from types import UnionType
from typing import Any, get_args, get_origin, get_type_hints

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from orchestrator.results.files import ReportError
from orchestrator.results.folder import RunFolder
from orchestrator.results.health import Health, State
from orchestrator.results.network_summary import NetworkSummary
from orchestrator.results.points import read_curve, read_last_point
from orchestrator.results.summary import RunSummary, read_summary, require_summary
from orchestrator.results.typed_json import from_json, other_keys, to_json, to_text
from pame.observe import Evaluation, Own
from tests.golden.harness import HERE
from tests.json_strategies import JSON


def values_of(hint: Any) -> st.SearchStrategy[Any]:
    """Any value of a type, all fields of dataclasses included."""
    origin, parts = get_origin(hint), get_args(hint)
    if origin is UnionType:
        return st.one_of(*map(values_of, parts))
    if origin is Sequence:
        return st.lists(values_of(parts[0]), max_size=2).map(tuple)
    if origin is Mapping:
        return st.dictionaries(st.text(max_size=4), values_of(parts[1]), max_size=2)
    if not is_dataclass(hint):
        return st.from_type(hint)
    hints = get_type_hints(hint)
    values = {field.name: values_of(hints[field.name]) for field in fields(hint)}
    if hint is NetworkSummary:
        values["counters"] = st.dictionaries(st.sampled_from(["refused", "cpu_s"]), st.floats() | st.integers())
    return st.builds(hint, **values)


FOLDERS = sorted((HERE / "folders").iterdir())


def as_read(value: Any, is_optional: bool) -> Any:
    """By hand: sequences are tuples, and a number that is not finite is None, in the nodes' own models NaN."""
    if isinstance(value, float):
        return value if isfinite(value) else None if is_optional else nan
    if isinstance(value, dict):
        return {key: as_read(item, is_optional and key != "own") for key, item in value.items()}
    return tuple(as_read(item, is_optional) for item in value) if isinstance(value, list | tuple) else value


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None, max_examples=60)
@given(summary=values_of(RunSummary))
def test_a_summary_survives_its_file(summary: RunSummary) -> None:
    read = from_json(RunSummary, json.loads(to_text(summary)))
    assert read is not None
    assert repr(as_read(asdict(read), is_optional=True)) == repr(as_read(asdict(summary), is_optional=True))


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_a_summary_of_before_is_written_again_as_it_was(folder: Path) -> None:
    before = json.loads((folder / "summary.json").read_text()) | {"notes": [], "evaluation": None}
    if before["network"]:
        before["network"]["evaluation"]["seconds"] = None  # which nobody measured then
    assert to_json(require_summary(folder)) == before


def test_a_summary_that_says_nothing_has_defaults(tmp_path: Path) -> None:
    (tmp_path / "summary.json").write_text("{}")
    summary = require_summary(tmp_path)
    assert (summary.name, summary.status) == (tmp_path.name, "unknown")
    assert (summary.final.objective, summary.messages.evicted, summary.network, summary.health) == (None,) * 4


def test_metrics_without_a_headline_have_their_first_as_one(tmp_path: Path) -> None:
    (tmp_path / "summary.json").write_text('{"final": {"metrics": {"test_mse": 0.5, "other": 1}}}')
    assert require_summary(tmp_path).metric == "test_mse"


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        (None, "does not exist: give the folder that a run or a sweep has left"),
        ('{"name": "x", "sta', "is not valid JSON"),
        ("\x00\xff", "is not valid JSON"),
        ("[1]", "must hold a JSON object"),
    ],
)
def test_a_missing_cut_or_garbled_file_is_a_typed_error(tmp_path: Path, text: str | None, answer: str) -> None:
    if text is not None:
        (tmp_path / "summary.json").write_text(text)
    with pytest.raises(ReportError, match=answer):
        require_summary(tmp_path)
    assert read_summary(tmp_path) is None


@given(told=st.dictionaries(st.sampled_from([*asdict(RunSummary()), *asdict(NetworkSummary())]), JSON))
def test_nonsense_in_a_summary_is_never_an_error(told: dict[str, Any]) -> None:
    assert isinstance(from_json(RunSummary, told | {"network": told}), RunSummary)


def test_health_and_faults_are_typed_when_read_back(tmp_path: Path) -> None:
    health = Health(State.DEGRADED, "2 messages refused", {"refused": 2})
    with RunFolder(tmp_path) as run:
        run.write_summary(RunSummary("x", "finished", health=health))
    read = require_summary(tmp_path)
    assert read.health == health
    assert (read.health_word, read.health_reason) == ("degraded", "2 messages refused")


METRICS = st.dictionaries(st.text(max_size=5), st.floats(), max_size=3)
OWN = st.builds(Own, st.floats(), st.floats(), METRICS, METRICS, METRICS)
WHOLE = st.integers(0, 2**53)
CLOCK = st.none() | st.floats(0, 1e9)
POINTS = st.builds(
    Evaluation,
    st.sampled_from(["iteration", "time"]), WHOLE, CLOCK, WHOLE, st.floats(), st.floats(), CLOCK, METRICS,
    st.none() | OWN,
)  # fmt: skip


@given(point=POINTS)
def test_a_point_of_a_curve_survives_its_line(point: Evaluation) -> None:
    read = from_json(Evaluation, json.loads(to_text(point)))
    assert read is not None
    assert repr(asdict(read)) == repr(as_read(asdict(point), is_optional=False))


def test_a_point_that_was_not_finite_is_null_in_the_file_and_nan_when_read(tmp_path: Path) -> None:
    point = Evaluation("time", 4, 1.5, 800, inf, nan, None, {"test_mse": -inf})
    with RunFolder(tmp_path) as run:
        run.evaluated(point)
    line = json.loads((tmp_path / "curve.jsonl").read_text())
    assert (line["objective"], line["consensus"], line["metrics"]) == (None, None, {"test_mse": None})
    [read] = read_curve(tmp_path)
    assert not any(map(isfinite, (read.objective, read.consensus, read.metrics["test_mse"])))
    assert (read.iteration, read.seconds, read.bytes, read.coverage) == (4, 1.5, 800, None)


@pytest.mark.parametrize("line", ['{"by": "iteration", "iter', "5", "[]", "{}", '{"by": "moon", "iteration": 1}'])
def test_a_line_that_is_no_point_is_left_out(tmp_path: Path, line: str) -> None:
    good = to_text(Evaluation("iteration", 3, None, 10, 0.5, 0.1, None, {}))
    (tmp_path / "curve.jsonl").write_text(f"{line}\n{good}\n{line}")
    assert [point.iteration for point in read_curve(tmp_path)] == [3]
    last = read_last_point(tmp_path)
    assert last is None or last.iteration == 3


class Colour(Enum):
    RED = "red"


@dataclass(frozen=True)
class Leaf:
    number: int
    share: float | None = None


@dataclass(frozen=True)
class Tree:
    name: str = "nobody"
    colour: Colour | None = None
    leaf: Leaf | None = None
    leaves: Sequence[Leaf] = ()
    by_name: Mapping[str, Leaf] = field(default_factory=dict)
    asked: float | str | None = None
    counters: Mapping[str, float | None] = other_keys()


def test_a_tree_is_written_and_read_and_unknown_keys_are_kept_where_a_field_is_for_them() -> None:
    tree = Tree("oak", Colour.RED, Leaf(1, 0.5), (Leaf(2),), {"a": Leaf(3)}, "20ms", {"rings": 7})
    written = to_json(tree)
    assert written == {
        "name": "oak", "colour": "red", "leaf": {"number": 1, "share": 0.5},
        "leaves": [{"number": 2, "share": None}], "by_name": {"a": {"number": 3, "share": None}}, "asked": "20ms",
        "rings": 7,
    }  # fmt: skip
    assert from_json(Tree, written) == tree
    assert from_json(Leaf, {"number": 1, "weight": 3}) == Leaf(1)


@pytest.mark.parametrize(
    ("told", "read"),
    [
        ({}, Tree()),
        ({"name": None}, Tree()),
        ({"name": 5, "colour": "blue", "leaf": {"share": 0.5}}, Tree()),
        ({"leaf": {"number": 1.5}, "leaves": [{}, 4, {"number": 2.0}], "by_name": []}, Tree(leaves=(Leaf(2),))),
        ({"leaf": {"number": 1, "share": "x"}, "asked": [1]}, Tree(leaf=Leaf(1))),
    ],
)
def test_what_a_field_cannot_hold_reads_as_if_it_were_not_there(told: dict[str, Any], read: Tree) -> None:
    assert from_json(Tree, told) == read


@pytest.mark.parametrize("told", [None, 5, "x", [], True])
def test_what_is_no_object_reads_as_nothing(told: object) -> None:
    assert from_json(Tree, told) is None


@given(told=JSON | st.fixed_dictionaries({}, optional=dict.fromkeys(("name", "leaf", "leaves", "by_name", "x"), JSON)))
def test_no_json_is_an_error(told: Any) -> None:
    assert isinstance(from_json(Tree, told), Tree) == isinstance(told, dict)
