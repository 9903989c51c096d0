"""summary.json: every summary survives it, every key of before is there, and damage is a typed error or nothing."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields, is_dataclass
from math import isfinite, nan
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
from orchestrator.results.summary import RunSummary, read_summary, require_summary
from orchestrator.results.typed_json import from_json, to_json, to_text
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
    assert repr(as_read(asdict(read), True)) == repr(as_read(asdict(summary), True))


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_a_summary_of_before_is_written_again_as_it_was(folder: Path) -> None:
    since: dict[str, object] = {"notes": [], "evaluation": None}
    assert to_json(require_summary(folder)) == json.loads((folder / "summary.json").read_text()) | since


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
