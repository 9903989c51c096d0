"""Faults that would do nothing to the links of an experiment are refused; one link to which they do is enough."""

from pathlib import Path

import pytest

from orchestrator.experiment.faults import FaultError
from orchestrator.experiment.resolve import make_setting
from pame.fault_effects import Plan
from pame.fault_plan_text import plan_lines
from tests.orchestrator.experiment.builders import experiment_from

RATE = "{kind: degrade, links: all, rate: 10%}"
FACTOR = "{kind: degrade, links: all, delay_factor: 10}"
LINK = "{kind: straggler, nodes: [1], cause: link}"
NO_RATE = "leaves a share of the rate of links that have no limit; give the links a rate, e.g. links: {rate: 10mbit}"
NO_DELAY = (
    "multiplies the delay of links that have none; give the links a delay (links: {delay: 20ms}), or add to it with "
    "delay instead"
)
NEITHER = (
    "multiplies the delay and divides the rate of links that have neither; give the links one of them, e.g. "
    "links: {delay: 20ms}, or add to the delay with delay instead"
)


def text(links: str, *faults: str) -> str:
    return (
        f"nodes: 6\ntopology: {{kind: ring}}\nproblem: {{n: 4, samples: 10, test_samples: 5}}\n"
        f"stop: {{iterations: 3}}\nlinks: {links}\nfaults: [{', '.join(faults)}]\n"
    )


def plan(links: str, *faults: str) -> Plan:
    return make_setting(experiment_from(text(links, *faults)), Path()).plan


@pytest.mark.parametrize(
    ("links", "fault", "why"),
    [
        ("{delay: 5ms}", RATE, NO_RATE),
        ("{delay: 5ms}", "{kind: degrade, links: [0-1], rate: 10%, delay: 5ms}", NO_RATE),
        ("{rate: 1mbit, nodes: {0..5: {rate: unlimited}}}", RATE, NO_RATE),
        ("{rate: 1mbit}", FACTOR, NO_DELAY),
        ("{pairs: {0-1: {delay: 5ms}}}", "{kind: degrade, links: [2-3], delay_factor: 2}", NO_DELAY),
        ("{}", FACTOR, NO_DELAY),
        ("{}", LINK, NEITHER),
        ("{}", "{kind: straggler, nodes: [1], cause: link, factor: 'uniform(2, 5)', delay: 20ms}", NEITHER),
        ("{}", "{kind: degrade, links: all, delay_factor: 2, rate: 50%}", NEITHER),
    ],
)
def test_what_would_do_nothing_is_refused_in_one_sentence(links: str, fault: str, why: str) -> None:
    with pytest.raises(FaultError) as refused:
        plan(links, "{kind: pause, nodes: [0], for: 1s}", fault)
    assert str(refused.value) == f"faults.1: {why}"


@pytest.mark.parametrize(
    ("links", "faults"),
    [
        ("{rate: 1mbit}", [RATE]),
        ("wan", [RATE, FACTOR, LINK]),
        ("{delay: 5ms}", [FACTOR, LINK]),
        ("{rate: 1mbit}", [LINK]),
        ("{pairs: {0-1: {delay: 5ms}}}", [FACTOR, LINK]),
        ("{pairs: {4>5: {rate: 1mbit}}}", [RATE]),
        ("{draw: {delay: 5ms..50ms}}", [FACTOR]),
        ("{regions: {eu: 0..2, us: 3..5}, between: {eu-us: 5ms}}", [FACTOR]),
        ("{}", ["{kind: straggler, nodes: [1], cause: link, delay: 20ms}"]),
        ("{}", ["{kind: degrade, links: all, delay: 20ms}", FACTOR]),
        ("{}", ["{kind: degrade, links: all, jitter: 2ms}", "{kind: straggler, nodes: [1]}"]),
        ("{}", ["{kind: degrade, links: random(0%), rate: 10%}"]),
    ],
)
def test_what_does_something_to_one_link_is_accepted(links: str, faults: list[str]) -> None:
    plan(links, *faults)


def test_the_plan_of_another_run_is_done_again_as_it_is(tmp_path: Path) -> None:
    recorded = plan("{rate: 1mbit}", RATE)
    (tmp_path / "plan.jsonl").write_text("\n".join(plan_lines(recorded)) + "\n")
    again = experiment_from(text("{delay: 5ms}").replace("faults: []", "plan: plan.jsonl"))
    assert make_setting(again, tmp_path).plan == recorded
