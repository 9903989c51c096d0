"""The exact words for every kind of mistake in the section `faults`."""

from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from orchestrator.experiment import Experiment, ExperimentError, json_schema, to_yaml
from orchestrator.experiment.text import parse
from tests.orchestrator.experiment.builders import experiment_from, variants_of

KINDS = (
    "churn, container-kill, container-restart, cpu-quota, degrade, flap, kill, link-down, lossy, message-loss, "
    "partition, pause, restart, straggler"
)
DURATION = "a duration such as 20ms, 1.5s or 2min"
SECONDS = "a time such as 30s (this kind counts seconds, not iterations)"
STOPPED = "a time such as 5s (a node that is stopped counts no iterations)"
NODES = "nodes such as [0, 3], random(20%), random(3), all or {degree: highest, count: 2}"
LINKS = 'links such as ["0-1", "2>3"], random(20%), random(3), of(3) or all'
FACTOR = (
    "a number of at least 1, or uniform(5, 20) (from, to) or lognormal(10, 0.5) "
    "(median of at least 1, sigma of at most 3), or null"
)
UNIT = "give both in the same unit"
KEYS = "known here: at, every, for, keep_connected, kind, links, until"
ENDLESS = "it never ends, so it cannot begin again; say with"
ONCE = "is when repeating ends, but nothing repeats; give every too, or only back_after"
STANDS = "a node that is stopped counts no iterations; say how long with for, e.g. 5s, instead"

MISTAKES: dict[str, dict[str, str]] = {
    "kind: link-down, links: all": {
        "form: 10s": f".form: unknown key; did you mean 'for'? ({KEYS})",
        "lasts: 10s": f".lasts: unknown key ({KEYS})",
        "at: 30": ".at: got 30 without a unit; give a unit, e.g. 20ms",
        "at: soon": f".at: got 'soon', expected a section (known keys: iteration), or {DURATION}, or null",
        "at: {iteration: -1}": ".at.iteration: got -1, expected a whole number of at least 0",
        "at: {iteration: 1, iterations: 1}": (
            ".at.iterations: unknown key; did you mean 'iteration'? (known here: iteration)"
        ),
        "for: {iterations: 0}": ".for.iterations: got 0, expected a whole number of at least 1",
        "for: 0s": f".for: got '0s', expected a section (known keys: iterations), or {DURATION}, or null",
        "at: 30s, for: {iterations: 3}": f".for: counts iterations, but at counts seconds; {UNIT}",
        "at: {iteration: 3}, until: 30s": f".until: counts seconds, but at counts iterations; {UNIT}",
        "at: 30s, until: 30s": ".until: 30s is not after the beginning; give a later one than at",
        "for: 3s, until: 30s": ".until: for says already when it ends; remove one of the two, or repeat it with every",
        "every: 3s": f".every: {ENDLESS} for how long each one lasts",
        "every: 3s, for: 1min": ".every: 3s is shorter than for: 60s; make it at least as long",
        "keep_connected: 1": ".keep_connected: got 1, expected true or false",
    },
    "kind: link-down": {
        "": f".links: is missing; expected {LINKS}",
        "links: 3": f".links: got 3, expected {LINKS}",
        "links: [0-0]": f".links: got the list ['0-0'], expected {LINKS}",
        "links: []": f".links: got the list [], expected {LINKS}",
        "links: random(120%)": f".links: got 'random(120%)', expected {LINKS}",
        "links: of(x)": f".links: got 'of(x)', expected {LINKS}",
        "links: {of: 3}": f".links: got a section, expected {LINKS}",
    },
    "kind: partition": {
        "shape: half": (
            ".shape: got 'half', expected one of bridge, halves, isolate, min-cut, regions; did you mean 'halves'?"
        ),
        "nodes: [1]": ".nodes: the shape halves finds its own nodes; remove it, or give shape: isolate",
    },
    "kind: flap, links: all": {
        "": f".period: is missing; expected a section (known keys: iterations), or {DURATION}",
        "period: 3s, duty: 100%": ".duty: got '100%', expected a share between 0% and 100%",
        "period: {iterations: 3}, at: 3s": f".period: counts iterations, but at counts seconds; {UNIT}",
        "period: {iterations: 1}": ".period: 1 iteration cannot be both down and up; give at least {iterations: 2}",
    },
    "kind: degrade, links: all": {
        "": ".kind: changes nothing; give delay, delay_factor, jitter, loss or rate",
        "delay: 3": ".delay: got 3 without a unit; give a unit, e.g. 20ms",
        "rate: 0%": ".rate: got '0%', expected a share above 0%, at most 100%",
        "loss: 2": ".loss: got 2, expected a share, 0% to 100%",
        "delay: 1s, at: {iteration: 3}": f".at: got a section, expected {SECONDS}, or null",
    },
    "kind: pause, nodes: all": {
        "at: {iteration: 3}, for: {iterations: 4}": f".for: got a section, expected {STOPPED}, or null",
        "at: {iteration: 3}, until: {iteration: 9}": f".until: {STANDS}",
        "at: {iteration: 3}, until: 9s": f".until: {STANDS}",
        "at: {iteration: 3}, for: 1s, every: 9s": f".every: counts seconds, but at counts iterations; {UNIT}",
        "for: 1s, every: {iterations: 9}, until: 9s": f".every: counts iterations, but until counts seconds; {UNIT}",
    },
    "kind: pause": {
        "nodes: 3": f".nodes: got 3, expected {NODES}",
        "nodes: [0, x]": f".nodes: got the list [0, 'x'], expected {NODES}",
        "nodes: [-1]": f".nodes: got the list [-1], expected {NODES}",
        "nodes: random(many)": f".nodes: got 'random(many)', expected {NODES}",
        "nodes: {degree: highst}": ".nodes.degree: got 'highst', expected highest or lowest; did you mean 'highest'?",
        "nodes: {degree: lowest, count: 0}": ".nodes.count: got 0, expected a whole number of at least 1",
    },
    "kind: kill, nodes: all": {
        "at: {iteration: 3}, back_after: {iterations: 4}": f".back_after: got a section, expected {STOPPED}, or null",
        "at: {iteration: 3}, until: {iteration: 9}": f".until: {ONCE}",
        "at: {iteration: 3}, every: {iterations: 9}": f".every: {ENDLESS} back_after how long each one lasts",
        "for: 3s": ".for: unknown key (known here: at, back_after, every, keep_connected, kind, nodes, until)",
        "until: 3s": f".until: {ONCE}",
        "every: 3s": f".every: {ENDLESS} back_after how long each one lasts",
    },
    "kind: straggler, nodes: all": {
        "factor: 0.5": f".factor: got 0.5, expected {FACTOR}",
        "factor: uniform(9 3)": f".factor: got 'uniform(9 3)', expected {FACTOR}",
        "factor: 'uniform(9, 3)'": f".factor: got 'uniform(9, 3)', expected {FACTOR}",
        "factor: 'lognormal(0.5, 3)'": f".factor: got 'lognormal(0.5, 3)', expected {FACTOR}",
        "cause: cpu": ".cause: got 'cpu', expected one of compute, link, pause; did you mean 'compute'?",
        "cause: pause, for: {iterations: 3}": ".for: cause: pause counts seconds, not iterations; give e.g. 30s",
        "pattern: rotating": ".turn: is missing; pattern: rotating needs the length of a turn, e.g. 10s",
        "pattern: random, for: 20s": ".turn: is missing; pattern: random needs the length of a turn, e.g. 10s",
        "turn: 3s": ".turn: says nothing: nothing is drawn anew; remove it, or give pattern: rotating or random",
        "pattern: rotating, turn: 1s, for: 2s, every: 9s": (
            ".every: says nothing: turns follow one another already; remove it, or pattern and turn"
        ),
        "delay: 3s": ".delay: is for slow links; remove it, or give cause: link",
    },
    "kind: churn, per_minute: 3": {
        "at: {iteration: 3}": f".at: got a section, expected {SECONDS}, or null",
        "until: {iteration: 3}": f".until: got a section, expected {SECONDS}, or null",
    },
    "kind: restart, nodes: all": {
        "at: {iteration: 3}, every: {iterations: 9}, until: {iteration: 2}": (
            ".until: iteration 2 is not after the beginning; give a later one than at"
        ),
        "back_after: 1": ".back_after: got 1 without a unit; give a unit, e.g. 20ms",
    },
    "kind: lossy": {
        "loss: 1%, for: {iterations: 3}": f".for: got a section, expected {SECONDS}, or null",
        "": ".loss: is missing; expected a share above 0%, at most 100%",
    },
    "": {
        "links: all": f".kind: is missing; expected one of {KINDS}",
        "kind: link-dwn": f".kind: unknown kind 'link-dwn'; did you mean 'link-down'? (known here: {KINDS})",
        "kind: message-loss, loss: 0%": ".loss: got '0%', expected a share above 0%, at most 100%",
        "kind: container-kill, nodes: all, at: {iteration: 3}": f".at: got a section, expected {SECONDS}, or null",
        "kind: cpu-quota, nodes: all": ".cpu: is missing; expected a share of a core, 1% to 100%",
        "kind: cpu-quota, nodes: all, cpu: 0.5%": ".cpu: got '0.5%', expected a share of a core, 1% to 100%",
        "kind: churn, per_minute: 0": ".per_minute: got 0, expected a number above 0 and at most 6000",
    },
}
"""By how a fault begins and what follows: what is said of it."""


@pytest.mark.parametrize(
    ("entry", "problem"),
    [
        ("7", f": got 7, expected a section with its kind (known kinds: {KINDS})"),
        *(
            (f"{{{', '.join(filter(None, (begin, rest)))}}}", problem)
            for begin, mistakes in MISTAKES.items()
            for rest, problem in mistakes.items()
        ),
    ],
)
def test_a_mistake_is_named_with_its_key_its_value_and_what_was_expected(entry: str, problem: str) -> None:
    text = f"faults:\n- {{kind: pause, nodes: all}}\n- {entry}\n"
    with pytest.raises(ExperimentError) as caught:
        variants_of(text)
    assert str(caught.value) == f"demo.yaml:3: faults.1{problem}"


def test_faults_that_are_no_list_are_refused() -> None:
    with pytest.raises(
        ExperimentError, match=r"^demo\.yaml:\d+: faults: got a section, expected a list, each item a section"
    ):
        variants_of("faults: {kind: pause, nodes: all}")


def test_faults_read_back_from_the_resolved_file() -> None:
    recorded = (Path(__file__).parent / "golden" / "faults.yaml").read_text()
    text = "faults:\n" + "".join(f"  {line}\n" for line in recorded.splitlines())
    experiment = experiment_from(text)
    assert experiment.faults
    assert experiment_from(to_yaml(experiment)) == experiment
    assert experiment_from(to_yaml(Experiment())).faults is None


@pytest.mark.parametrize(
    ("entry", "good"),
    [
        ("{kind: lossy, loss: 3%, links: [[0, 1], '2>3']}", True),
        ("{kind: link-down, links: all, for: {iterations: 3}}", True),
        ("{kind: straggler, nodes: {degree: lowest}, factor: 'uniform(2, 3)'}", True),
        ("{links: all}", False),
        ("{kind: link-down, links: all, lasts: 3s}", False),
        ("{kind: link-down, links: all, at: [1s, 2s]}", False),
        ("{kind: pause, nodes: some}", False),
        ("{kind: pause, nodes: all, at: {iteration: 3}, for: 3s}", True),
        ("{kind: kill, nodes: all, every: {iterations: 3}, back_after: 3s}", True),
        ("{kind: pause, nodes: all, for: {iterations: 3}}", False),
        ("{kind: container-kill, nodes: all, at: {iteration: 3}}", False),
    ],
)
def test_the_schema_knows_faults(entry: str, good: bool) -> None:
    validator = Draft202012Validator(json_schema())
    assert validator.is_valid({"faults": [parse(entry)]}) is good


def test_the_schema_accepts_the_recorded_faults_and_explains_every_key() -> None:
    schema = json_schema()
    recorded = parse((Path(__file__).parent / "golden" / "faults.yaml").read_text())
    assert Draft202012Validator(schema).is_valid({"faults": recorded})
    items = schema["properties"]["faults"]["anyOf"][0]["items"]["oneOf"]
    names = [item["$ref"].rpartition("/")[2] for item in items]
    assert len(names) == 14
    for name in names:
        for key, prop in schema["$defs"][name]["properties"].items():
            assert key == "kind" or prop.get("description"), f"{name}.{key}"
