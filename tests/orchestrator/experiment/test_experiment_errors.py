"""The exact words for every kind of mistake in an experiment file."""

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from orchestrator.experiment import ExperimentError, load
from pame.algorithms import SPECS
from pame.errors import PameError

Complain = Callable[..., list[str]]


@pytest.fixture
def complaints(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Complain:
    monkeypatch.chdir(tmp_path)

    def of(content: str | bytes, overrides: Sequence[str] = ()) -> list[str]:
        Path("demo.yaml").write_bytes(content.encode() if isinstance(content, str) else content)
        with pytest.raises(ExperimentError) as caught:
            load(Path("demo.yaml"), overrides)
        return str(caught.value).split("\n")

    return of


ALGORITHMS = ", ".join(sorted(SPECS))
TOPOLOGIES = (
    "complete, edge-list, erdos-renyi, exponential, grid, random-regular, ring, scale-free, small-world, star, "
    "torus, two-clusters"
)
NODES = "expected a whole number of at least 2 and at most 100000"
SEED = "expected a whole number of at least 0 and below 9223372036854775808"
UNIT = "without a unit; give a unit, e.g."
SUPPORT = "expected a number above 0 and at most 1, or a whole number of at least 1"
PERIOD = "expected a whole number of 1 to 1000000000, or a range such as 3..7 or {min: 3, max: 7}"
LENGTH = "expected a whole number of at least 1 and at most 1000000000"
DURATION = "expected a duration such as 20ms, 1.5s or 2min"
RATE = "expected a rate above 0 such as 500kbit, 10mbit or 1gbit, or unlimited, or null"
SECTION = "expected a section with its kind"
KEYS = (
    "algorithm, compute, evaluate, exchange, faults, links, messages, name, nodes, period, plan, problem, restart, "
    "security, seed, simulate, stop, topology, verify"
)


MISTAKES = {
    "algorithm: {particpation: 0.5}": (
        "algorithm.particpation: unknown key; did you mean 'participation'? "
        "(known here: draw, kind, participation, step, support)"
    ),
    "evaluate: {zzz: 1}": "evaluate.zzz: unknown key (known here: every, own_models, when)",
    "algorithm: {kind: pam}": f"algorithm.kind: unknown kind 'pam'; did you mean 'pame'? (known here: {ALGORITHMS})",
    "algorithm: {kind: 3}": f"algorithm.kind: unknown kind 3 (known here: {ALGORITHMS})",
    "algorithm: {kind: }": f"algorithm.kind: unknown kind nothing (known here: {ALGORITHMS})",
    "topology: {kind: rng}": f"topology.kind: unknown kind 'rng'; did you mean 'ring'? (known here: {TOPOLOGIES})",
    "topology: ring": f"topology: got 'ring', {SECTION} (known kinds: {TOPOLOGIES})",
    "topology: {kind: erdos-renyi}": "topology.p: is missing; expected a number above 0 and at most 1",
    "topology: {kind: small-world, degree: 3, rewire: 0.1}": (
        "topology.degree: got 3, expected a whole number of at least 2 and a multiple of 2"
    ),
    "nodes: 1": f"nodes: got 1, {NODES}",
    "nodes: 4.0": f"nodes: got 4.0, {NODES}",
    "nodes: '4'": f"nodes: got '4', {NODES}",
    "nodes: true": f"nodes: got true, {NODES}",
    "nodes: {a: 1}": f"nodes: got a section, {NODES}",
    "nodes:": f"nodes: got nothing, {NODES}",
    "seed: -1": f"seed: got -1, {SEED}",
    "seed: 9223372036854775808": f"seed: got 9223372036854775808, {SEED}",
    "name: a/b": (
        "name: got 'a/b', expected a name of at most 100 letters, digits, - _ . (in quotes if it looks like a number)"
    ),
    "links: {delay: 20}": f"links.delay: got 20 {UNIT} 20ms",
    "links: {delay: 0}": f"links.delay: got 0 {UNIT} 20ms",
    "links: {rate: 10}": f"links.rate: got 10 {UNIT} 10mbit",
    "links: {rate: 0mbit}": f"links.rate: got '0mbit', {RATE}",
    "links: {delay: 5 parsecs}": f"links.delay: got '5 parsecs', {DURATION}, or null",
    "links: {rate: unlimitd}": f"links.rate: got 'unlimitd', {RATE}; did you mean 'unlimited'?",
    "exchange: {patience: soon}": f"exchange.patience: got 'soon', {DURATION}, or adaptive",
    "exchange: {mode: round}": "exchange.mode: got 'round', expected rounds or free; did you mean 'rounds'?",
    "exchange: {spare: most}": "exchange.spare: got 'most', expected a whole number of at least 0, or all",
    "exchange:": (
        "exchange: got nothing, expected a section (known keys: exclude_after, max_lag, mode, patience, spare)"
    ),
    "messages: {support: x}": "messages.support: got 'x', expected one of all, auto, bitmap, gaps, seed",
    "messages: {loss: 120%}": "messages.loss: got '120%', expected a share, 0% to 100%",
    "messages: {loss: 20}": "messages.loss: got 20, expected a share, 0% to 100%",
    "compute: {slowdown: 0.5}": "compute.slowdown: got 0.5, expected a number of at least 1",
    "compute: 10ms": (
        "compute: got '10ms', expected a section (known keys: jitter, slowdown, step, stragglers), or null"
    ),
    "stop: {paper: true}": "stop.paper: got true, expected a section (known keys: every, tolerance), or null",
    "stop: {target: .nan}": "stop.target: got nan, which is not finite, expected a number, or null",
    "problem: {kind: logistic, soft: yes}": "problem.soft: got 'yes', expected true or false",
    "algorithm: {support: 1.5}": f"algorithm.support: got 1.5, {SUPPORT}",
    "algorithm: {support: 0}": f"algorithm.support: got 0, {SUPPORT}",
    "algorithm: {step: 7}": f"algorithm.step: got 7, {SECTION} (known kinds: fixed, penalty)",
    "algorithm: {step: {kind: fixd}}": (
        "algorithm.step.kind: unknown kind 'fixd'; did you mean 'fixed'? (known here: fixed, penalty)"
    ),
    "algorithm: {step: {kind: fixed, eta: -1}}": "algorithm.step.eta: got -1, expected a number above 0",
    "algorithm: {step: {eta: -1}}": "algorithm.step.eta: got -1, expected a number above 0",
    "algorithm: {step: {kind: fixed, sigma0: 1}}": "algorithm.step.sigma0: unknown key (known here: eta, gamma, kind)",
    "period: 0": f"period: got 0, {PERIOD}",
    "period: 3..x": f"period: got '3..x', {PERIOD}",
    "period: {min: 0, max: 3}": f"period.min: got 0, {LENGTH}",
    "period: {min: 3}": f"period.max: is missing; {LENGTH}",
    "period: 7..3": "period: min 7 is above max 3; swap them",
    "algorithm: {support: 700}": (
        "algorithm.support: 700 coordinates of a model with n = 600; give at most 600, or a share such as 0.2"
    ),
    "problem: {samples: 40, batch: 50}": (
        "problem.batch: 50 of 40 samples; give at most 40, or leave it out to use all of them"
    ),
    "seed: []": "seed: the list is empty; give at least one value",
    "nodes: [{a: 1}]": f"nodes: got a list that is no sweep (one lists values, or sections), {NODES}",
    "seed: [1, 2]\nnodes: [1, 4]": f"nodes: got 1, {NODES}",
    "? 'a\nb'\n: 1": f"a b: unknown key (known here: {KEYS})",
}


LINES = {"seed: [1, 2]\nnodes: [1, 4]": 2}
"""Of a mistake that is not in the first line."""


@pytest.mark.parametrize(("text", "problem"), MISTAKES.items())
def test_a_mistake_is_named_with_its_key_its_value_and_what_was_expected(
    complaints: Complain, text: str, problem: str
) -> None:
    assert complaints(text) == [f"demo.yaml:{LINES.get(text, 1)}: {problem}"]


UNREADABLE = {
    "": "is empty; start with e.g. 'nodes: 16'",
    "# only a comment\n": "is empty; start with e.g. 'nodes: 16'",
    "- 1": "is not a mapping of settings; write lines such as 'nodes: 16'",
    "nodes": "is not a mapping of settings; write lines such as 'nodes: 16'",
    "nodes: [": "1: is not YAML: expected the node content, but found '<stream end>' (column 9)",
    "nodes: 3\n\tseed: 1": "2: is not YAML: found character '\\t' that cannot start any token (column 1)",
    b"nodes: \xff": "is not UTF-8 text (byte 7 is not); save it as UTF-8",
    "nodes: 3\x00": "is not YAML: it holds characters that are not allowed",
    'name: "\\U00110000"': "is not YAML: it holds an escape that names no character",
    'name: "\\uD800"': "1: cannot be used: half a character (a surrogate) is no text",
    "nodes: 3\nnodes: 4": "2: cannot be used: the key 'nodes' is given twice; remove one of them",
    "seed: &a [1, 1]\nb: &b [*a, *a]\nc: [*b, *b]": (
        "1: cannot be used: anchors (&) and aliases (*) are not supported; write the value out"
    ),
    "nodes: !!python/name:os.system": "1: cannot be used: tags (!) are not supported; write the plain value",
    "? [a]\n: 1": "1: cannot be used: a key must be a plain word",
    "nodes: 3\n---\nnodes: 4": "2: holds more than one YAML document; keep one and remove the '---' between them",
    "[" * 100_000: "1: cannot be used: nested more than 20 deep; an experiment is not",
    "a: [" + "1, " * 20_000 + "1]": "1: cannot be used: far more values than an experiment has",
    "#" * (1 << 20) + "\n": "is larger than 1 MiB; an experiment file is a page of settings",
}


@pytest.mark.parametrize(("content", "problem"), UNREADABLE.items(), ids=lambda value: repr(value[:20]))
def test_a_file_that_cannot_be_read_says_why_in_one_line(
    complaints: Complain, content: str | bytes, problem: str
) -> None:
    assert complaints(content) == [f"demo.yaml:{problem if problem[0].isdigit() else f' {problem}'}"]


def test_a_missing_file_and_a_directory_are_told_apart(tmp_path: Path) -> None:
    with pytest.raises(ExperimentError, match=r"none\.yaml: there is no such file$"):
        load(tmp_path / "none.yaml")
    with pytest.raises(ExperimentError, match=r": is a directory; give the experiment file in it$"):
        load(tmp_path)


def test_a_path_no_system_can_open_is_one_line_too() -> None:
    with pytest.raises(ExperimentError, match=r"cannot be read \(.+\)$"):
        load(Path("a\0b.yaml"))


def test_an_endless_file_is_refused_after_its_first_mebibyte() -> None:
    with pytest.raises(ExperimentError, match=r"^/dev/zero: is larger than 1 MiB"):
        load(Path("/dev/zero"))


def test_all_problems_of_a_file_are_reported_at_once_one_line_each(complaints: Complain) -> None:
    lines = complaints("nodes: 1\nsede: 3\nlinks: {delay: 5, rte: 10mbit}\nalgorithm: {support: 2.5, step: {kind: x}}")
    assert sorted(line.split(": ")[1] for line in lines) == [
        "algorithm.step.kind",
        "algorithm.support",
        "links.delay",
        "links.rte",
        "nodes",
        "sede",
    ]


def test_a_mistake_that_concerns_every_run_of_a_sweep_is_reported_once(complaints: Complain) -> None:
    assert len(complaints("seed: [1, 2, 3]\nnodes: [2, 4]\nsede: 3")) == 1


def test_after_twenty_problems_the_rest_is_counted(complaints: Complain) -> None:
    lines = complaints(f"algorithm: {{support: {list(range(701, 731))}}}")
    assert len(lines) == 21
    assert lines[-1] == "... and 10 more like these"


OVERRIDES = {
    "nodes": "--set nodes: not of the form key=value; write e.g. --set nodes=32",
    "=3": "--set =3: not of the form key=value; write e.g. --set nodes=32",
    "a..b=3": "--set a..b=3: not of the form key=value; write e.g. --set nodes=32",
    "nodes=1": "--set nodes: got 1, expected a whole number of at least 2 and at most 100000",
    "sede=1": f"--set sede: unknown key; did you mean 'seed'? (known here: {KEYS})",
    "nodes={": ("--set nodes={: the value is not YAML: expected the node content, but found '<stream end>' (column 2)"),
    "period.min=3": "--set period.min: period is a single value in the file, not a section; set period as a whole",
}


@pytest.mark.parametrize(("override", "problem"), OVERRIDES.items())
def test_a_wrong_override_is_told_apart_from_a_wrong_file(complaints: Complain, override: str, problem: str) -> None:
    assert complaints("period: 4", [override]) == [problem]


def test_a_sweep_beyond_a_thousand_runs_is_refused_with_its_arithmetic(complaints: Complain) -> None:
    text = f"seed: {list(range(100))}\nnodes: {list(range(2, 13))}"
    assert complaints(text) == [
        "demo.yaml:1: the sweep has 1100 runs (seed: 100 x nodes: 11); at most 1000 fit in one file: shorten a list"
    ]


def test_an_astronomical_sweep_is_refused_before_it_is_expanded(complaints: Complain) -> None:
    keys = ["seed", "nodes", "period", "name"]
    text = "\n".join(f"{key}: {list(range(1, 1000))}" for key in keys)
    assert complaints(text)[0].startswith("demo.yaml:4: the sweep has 996005996001 runs (")


def test_experiment_errors_are_mistakes_of_the_user() -> None:
    assert issubclass(ExperimentError, PameError)
    assert ExperimentError(["a", "b", "a"]).problems == ("a", "b")


def test_a_comparison_is_told_from_an_experiment(tmp_path: Path) -> None:
    path = tmp_path / "compare.yaml"
    path.write_text("name: c\nbase: {nodes: [4, 5]}\nalgorithms: {pame: {algorithm: {kind: pame}, period: [1, 2]}}\n")
    with pytest.raises(ExperimentError, match=r"is a comparison; run it with `pame compare .*compare\.yaml`"):
        load(path)


PLACED = """\
nodes: 16
topology:
  kind: rng
algorithm:
  support:
    - 0.1
    - 5.5
  particpation: 0.5
problem:
  - {kind: linear, n: 20}
  - kind: logistic
    n: -1
links: {delay: 5ms,
        rate: 10}
period: {min: 3}
seed: []
"""


def test_every_mistake_is_told_with_its_line(complaints: Complain) -> None:
    assert {line.partition(": ")[0]: line.split(": ")[1] for line in complaints(PLACED)} == {
        "demo.yaml:3": "topology.kind",
        "demo.yaml:7": "algorithm.support",
        "demo.yaml:8": "algorithm.particpation",
        "demo.yaml:12": "problem.1.n",
        "demo.yaml:14": "links.rate",
        "demo.yaml:15": "period.max",
        "demo.yaml:16": "seed",
    }


def test_two_settings_that_contradict_each_other_are_told_with_the_line_of_the_one_to_change(
    complaints: Complain,
) -> None:
    [line] = complaints("problem:\n  n: 10\nalgorithm:\n  kind: pame\n  support: 11\n")
    assert line.startswith("demo.yaml:5: algorithm.support: 11 coordinates")


def test_a_mistake_that_an_override_made_has_no_line(complaints: Complain) -> None:
    assert complaints("seed: 1\nnodes: 4", ["nodes=1"]) == [f"--set nodes: got 1, {NODES}"]
