"""Whether a run may begin, by what is known of its links."""

from pathlib import Path

import pytest

from contract.rpc import control_pb2 as pb
from orchestrator.control.link_check import LinkCheck
from orchestrator.control.verification.findings import Asked, LinkVerdict, said, summed_up
from orchestrator.experiment import Verify
from orchestrator.experiment.resolve import make_network_setting
from orchestrator.results import Status
from orchestrator.results.network_summary import VerifiedLinks
from pame.links import LinkSpec
from tests.orchestrator.experiment.builders import experiment_from

TEXT = "nodes: 2\ntopology: {kind: complete}\nproblem: {n: 5, samples: 5, test_samples: 5}\nlinks: {delay: 5ms}\n"
ASKED = Asked((0, 1), "delay", 0.005, "in-process", LinkSpec(delay_s=0.005))
READY = pb.Ready(
    run=1,
    boot="here",
    links=[pb.RealisedLink(sender=0, receiver=1, property="delay", asked=0.005, mechanism="in-process")],
)


def check(rules: Verify, ready: bool = True) -> LinkCheck:
    made = LinkCheck(1, make_network_setting(experiment_from(TEXT), Path()), rules, lambda *_: None)
    if ready:
        made.ready(0, READY)
    return made


def begun(made: LinkCheck) -> bool:
    """Whether measuring begins; it is not waited for."""
    task = made.begin()
    if task is not None:
        task.cancel()
    return task is not None


def found(verdict: LinkVerdict) -> VerifiedLinks:
    return summed_up([ASKED.found(verdict, measured=0.009)], {"delay": 1}, 0.1)


@pytest.mark.parametrize(("when", "ready", "begins"), [
    ("before", True, True), ("only", True, True), ("never", True, False), ("before", False, False),
])  # fmt: skip
async def test_links_are_measured_where_somebody_asks_and_somebody_wants_to_know(
    when: str, ready: bool, begins: bool
) -> None:
    assert begun(check(Verify.model_validate({"when": when}), ready)) is begins


@pytest.mark.parametrize(("rules", "goes_on"), [({}, True), ({"strict": True}, False), ({"when": "only"}, False)])
async def test_links_that_nobody_could_measure_in_time_stop_a_strict_run(
    rules: dict[str, object], goes_on: bool
) -> None:
    made = check(Verify.model_validate(rules))
    assert begun(made)
    end = made.end()
    assert (end is None) is goes_on
    if end is not None:
        assert end[0] is Status.FAILED
        assert "not measured within 120 s" in end[1]


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("verdict", LinkVerdict)
async def test_only_a_miss_is_fatal_and_only_if_strict(verdict: LinkVerdict, strict: bool) -> None:
    made = check(Verify(strict=strict))
    assert begun(made)
    made.verified = found(verdict)
    end = made.end()
    if strict and verdict is LinkVerdict.MISS:
        assert end is not None
        assert end[0] is Status.FAILED
        assert "the delay of link 0→1 is 0.009 instead of 0.005" in end[1]
    else:
        assert end is None


async def test_a_measurement_alone_ends_with_what_it_found() -> None:
    made = check(Verify(when="only"))
    assert begun(made)
    made.verified = found(LinkVerdict.OK)
    assert made.end() == (Status.FINISHED, said(made.verified))
    assert check(Verify(when="only"), ready=False).end() == (Status.FINISHED, "no link to measure")
