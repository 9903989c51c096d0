"""Values at the ends of all types, at every key of every section: an experiment that also resolves, or a PameError."""

import re
from collections.abc import Iterator
from copy import deepcopy
from math import inf, nan
from pathlib import Path
from typing import Any

import pytest
import yaml

from orchestrator.experiment import Experiment, load_text
from orchestrator.experiment.describe import keys, kind_of, sections_of
from orchestrator.experiment.faults.kinds import FAULTS
from orchestrator.experiment.resolve import make_network_setting
from pame.errors import PameError
from pame.problems import ImageClassificationSpec
from pame.spec_json import LARGEST_WHOLE

VALUES: list[Any] = [
    0, 1, -1, 7, LARGEST_WHOLE, 2**31, 2**32, 2**63, 2**64, 10**20, 10**400, -(10**30),
    0.0, -0.0, 5e-324, 1e-101, 0.3, 1.0, 1e15, 1e16, 1e300, 1.7976931348623157e308, nan, inf, -inf,
    None, True, "", "\0", "x" * 3000, "9" * 400, "all", "0s", "1e-99s", "1e300s", "1e999s", "1e15s", "1us", "0%",
    "100%", "1e300%", "1bit", "1e300mbit", "0..0", "3..999999999999999999", "normal(1e300s, 1e300s)",
    "lognormal(1s, 3)", "uniform(0s, 1e15s)", "0.5 of all", "random(2)", "1e400", [], {}, [[]], [nan], [1, 2**70],
    [0], [10**20],
    {"kind": "x"}, {"iteration": 10**30}, {"iteration": 3}, {"iterations": 10**30}, {"iterations": 1},
    {"min": 2**80, "max": 1},
]  # fmt: skip
SMALL: dict[str, Any] = {
    "nodes": 4,
    "topology": {"kind": "ring"},
    "problem": {"kind": "linear", "n": 8, "samples": 6, "test_samples": 4},
    "stop": {"iterations": 20, "seconds": "100s"},
}
NEEDED = {"p": 0.9, "degree": 2, "rewire": 0.1, "attach": 1, "file": "missing", "per_minute": 6.0, "nodes": [1]}
NEEDED |= {"links": [[0, 1]], "shape": "isolate", "period": "1s", "cpu": 0.5, "loss": "10%", "factor": 2.0}
NEEDED |= {"share": 0.5, "at": "1s", "for": "2s", "min": 1, "max": 2, "module": "mine.py:Net"}
NAMED = {("links", "nodes"): "0..1", ("links", "pairs"): "0-1"}
"""Sections by name, with a good one."""
SHARED = {"kind", "at", "for", "until", "every", "eta", "gamma", "sigma0", "participation", "nodes", "links", "gam"}
SHARED |= {"bits", "share", "step", "compressor", "weights", "resync_every", "momentum", "omega", "shrink"}


def places(
    section: Any, path: tuple[Any, ...] = (), base: Any = None
) -> Iterator[tuple[tuple[Any, ...], dict[str, Any]]]:
    """Every key of every section within, with an experiment that has that section."""
    base = SMALL if base is None else base
    for key, hint in keys(section).items():
        yield (*path, key), base
        for found in sections_of(hint):
            below: dict[str, Any] = {"kind": kind_of(found)} if kind_of(found) else {}
            below |= {name: NEEDED[name] for name in keys(found) if name in NEEDED and (*path, key)[0] != "links"}
            within: list[Any] | dict[str, Any] = below
            inner: tuple[Any, ...] = (*path, key)
            if key == "faults":
                within, inner = [below], (*inner, 0)
            elif inner in NAMED:
                within, inner = {NAMED[inner]: below}, (*inner, NAMED[inner])
            yield from places(found, inner, changed(base, (*path, key), within))


def changed(data: Any, path: tuple[Any, ...], value: Any) -> Any:
    made = deepcopy(data)
    place = made
    for step in path[:-1]:
        place = place.setdefault(step, {}) if isinstance(place, dict) else place[step]
    place[path[-1]] = value
    return made


PLACES = list({(path, str(base)): (path, base) for path, base in places(Experiment)}.values())
SECTIONS = sorted({path[0] for path, _ in PLACES})


def tried(section: str) -> Iterator[tuple[tuple[Any, ...], dict[str, Any]]]:
    """The keys of a section; of those that many kinds of algorithms and faults share, one each."""
    shared = {}
    for path, base in PLACES:
        if path[0] == section:
            is_shared = section in ("algorithm", "faults") and path[-1] in SHARED
            shared[path[-1] if is_shared else (path, str(base))] = path, base
    yield from shared.values()


def outcome(data: Any) -> str:
    """What becomes of it: resolved, or refused."""
    text = yaml.safe_dump(data, allow_unicode=False)
    try:
        for variant in load_text(text, Path("a"))[:2]:
            experiment = variant.experiment
            problem: Any = experiment.problem
            if isinstance(problem, ImageClassificationSpec):
                continue  # its data set is a matter of the machine
            if experiment.nodes <= 16 and problem.n * problem.samples <= 10_000 and problem.test_samples <= 10_000:
                setting = make_network_setting(experiment, Path(__file__).parent)
                setting.node(0, setting.selection()).prepare(0)
        return "resolved"
    except PameError:
        return "refused"


@pytest.mark.parametrize("section", SECTIONS)
def test_extreme_values_give_an_experiment_or_an_error_of_ours(section: str) -> None:
    found = set()
    for path, base in tried(section):
        found |= {outcome(changed(base, path, value)) for value in VALUES}
    assert "refused" in found


def test_every_key_of_every_kind_is_tried() -> None:
    there = {path for path, _ in PLACES}
    assert {("period",), ("stop", "paper", "every"), ("algorithm", "step", "eta"), ("links", "draw", "delay")} <= there
    assert {("faults", 0, key) for kind in FAULTS.values() for key in keys(kind)} <= there
    assert len(PLACES) > 150


def test_the_bases_themselves_are_good() -> None:
    """But for times of faults, which must all be of one unit."""
    bad = []
    for path, base in {str(base): (path, base) for path, base in PLACES}.values():
        try:
            load_text(yaml.safe_dump(base), Path("a"))
        except PameError as error:
            bad.append((path, str(error)))
    assert not [(path, error) for path, error in bad if path[0] != "faults" or len(path) < 4]


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("period: 99999999999999999999", "period"),
        ("nodes: 100001", "nodes"),
        ("stop: {iterations: 10000000000}", "stop.iterations"),
        ("problem: {n: 99999999999}", "problem.n"),
        ("exchange: {max_lag: 4294967296}", "exchange.max_lag"),
        ("links: {delay: 1e300s}", "links.delay"),
        ("faults: [{kind: pause, nodes: [99999999999], at: 1s, for: 1s}]", "faults.0.nodes"),
    ],
)
def test_a_value_out_of_range_is_one_line_with_key_value_and_what_was_expected(text: str, key: str) -> None:
    with pytest.raises(PameError) as caught:
        load_text(text, Path("a.yaml"))
    (line,) = str(caught.value).split("\n")
    assert re.match(rf"a\.yaml:1: {re.escape(key)}: got ", line)
    assert "expected" in line
    assert "1000" in line or "1e+15" in line
