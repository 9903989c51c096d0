from dataclasses import replace
from math import inf
from pathlib import Path

import pytest

from orchestrator.errors import UnreadableFile
from orchestrator.experiment import Experiment
from orchestrator.experiment.faults import Fault
from orchestrator.experiment.faults.kinds.degrade import Degrade
from orchestrator.experiment.faults.kinds.loss import Lossy, MessageLoss
from orchestrator.experiment.links import LinkSettings, LinksSection
from orchestrator.experiment.model import Period, Simulate
from orchestrator.experiment.resolve import choose_driver, make_setting, make_topology, warnings
from pame.algorithms import DpsgdSpec, FixedStep, PameSpec, PenaltyStep
from pame.codec import SupportCoding
from pame.errors import ParameterError
from pame.exchange import ValueType
from pame.links import LinkSpec
from pame.problems import LinearSpec
from pame.rules import Compute, Exchange, Messages
from pame.simulator import check
from pame.stopping import NO_LIMIT, PaperRule, StopRules
from pame.topology.kinds import EdgeList, Ring, Star

HERE = Path()
TINY = LinearSpec(n=4, samples=10, test_samples=5)


def experiment(**changes: object) -> Experiment:
    settings: dict[str, object] = {"nodes": 6, "topology": Ring(), "problem": TINY, **changes}
    return Experiment(**settings)  # type: ignore[arg-type]


def test_every_setting_reaches_the_drivers() -> None:
    setting = make_setting(
        experiment(
            seed=9,
            period=Period(min=2, max=2),
            exchange=Exchange("free", "all", 2, "adaptive", 5),
            messages=Messages(support="gaps", values="float32", loss=0.25),
            compute=Compute(0.5, 0.1, 0.2, 3.0),
            links=LinksSection(delay=0.02, jitter=0.01, rate=1e6),
            stop=StopRules(7, 0.5, "sum", PaperRule(0.1, 3), 60.0),
        ),
        HERE,
    )
    assert setting.seed == 9
    assert setting.periods == (2,) * 6
    assert setting.exchange == Exchange("free", "all", 2, "adaptive", 5)
    assert setting.messages == Messages("gaps", "float32", 0.25)
    assert (setting.messages.coding, setting.messages.value_type) == (SupportCoding.GAPS, ValueType.FLOAT32)
    assert setting.compute == Compute(0.5, 0.1, 0.2, 3.0)
    assert setting.link == LinkSpec(0.02, 0.01, 1e6)
    assert setting.stop == StopRules(7, 0.5, "sum", PaperRule(0.1, 3), 60.0)


def test_what_is_left_out_is_unlimited() -> None:
    setting = make_setting(experiment(messages=Messages(support="auto"), links=LinksSection()), HERE)
    assert setting.messages.coding is None
    assert setting.link.rate_bps == inf
    assert setting.stop.limit_s == inf


@pytest.mark.parametrize(
    ("changes", "driver"),
    [
        ({}, "lock-step"),
        ({"nodes": 200}, "vectorised"),
        ({"nodes": 200, "algorithm": DpsgdSpec()}, "lock-step"),
        ({"compute": Compute()}, "virtual-time"),
        ({"links": LinksSection()}, "virtual-time"),
        ({"exchange": Exchange(spare=1)}, "virtual-time"),
        ({"exchange": Exchange(mode="free")}, "virtual-time"),
        ({"compute": Compute(), "simulate": Simulate(driver="lock-step")}, "lock-step"),
    ],
)
def test_auto_takes_a_clock_if_time_matters_and_else_the_fastest_driver(
    changes: dict[str, object], driver: str
) -> None:
    assert choose_driver(experiment(**changes)) == driver


def test_a_step_from_2_over_l_on_is_warned_of_at_the_node_with_the_largest_step() -> None:
    # On a star the leaves average one neighbour and the centre two: 1/(sigma0 t_i) is largest at the leaves.
    spec = PameSpec(participation=0.4, step=PenaltyStep(sigma0=1e-3, gamma=1.0))
    found = experiment(topology=Star(), algorithm=spec)
    [warning] = warnings(found, make_setting(found, HERE), "lock-step")
    assert warning.startswith("node 1 begins with step size 1e+03, above the bound 2/L = ")
    assert "it may diverge" in warning
    assert warnings(found, make_setting(found, HERE), "lock-step", is_tuned=True) == []


def test_seconds_without_a_clock_are_warned_of_but_a_network_has_one() -> None:
    found = experiment(stop=StopRules(300, seconds=30.0))
    setting = make_setting(found, HERE)
    [warning] = warnings(found, setting, "lock-step")
    assert warning.startswith("the lock-step driver has no clock: stop.seconds is ignored")
    assert warnings(found, setting, None) == []


def test_seconds_alone_need_a_clock_and_set_no_limit_of_iterations() -> None:
    found = experiment(stop=StopRules(None, seconds=30.0))
    setting = make_setting(found, HERE)
    assert (setting.stop.last_iteration, setting.stop.seconds) == (NO_LIMIT, 30.0)
    assert choose_driver(found) == "virtual-time"
    for driver in ("lock-step", "vectorised"):
        with pytest.raises(ParameterError, match=f"the {driver} driver has no clock, so that stop.seconds alone never"):
            check(driver, setting)


@pytest.mark.parametrize(
    ("links", "faults", "warned"),
    [
        (LinksSection(delay=0.01, loss=0.01), [], True),
        (LinksSection(delay=0.01, pairs={"0-1": LinkSettings(loss=0.01)}), [], True),
        (LinksSection(delay=0.01), [Lossy(loss=0.1)], True),
        (LinksSection(delay=0.01), [Degrade(links="all", loss=0.1)], True),
        (LinksSection(delay=0.01), [Degrade(links="all", delay=0.1)], False),
        (LinksSection(delay=0.01, loss=0.0), [MessageLoss(links="all", loss=0.1)], False),
    ],
)
def test_packet_loss_that_the_simulator_does_not_have_is_warned_of(
    links: LinksSection, faults: list[Fault], warned: bool
) -> None:
    found = experiment(links=links, faults=faults or None)
    setting = make_setting(found, HERE)
    told = [warning for warning in warnings(found, setting, "virtual-time") if "loses no packets" in warning]
    assert len(told) == warned
    assert warnings(found, setting, None) == []


def test_a_step_just_below_2_over_l_is_not_warned_of() -> None:
    setting = make_setting(experiment(), HERE)
    limit = min(2.0 / (setting.problem.local(node).smoothness() or inf) for node in range(6))
    for factor, expected in ((0.999, 0), (1.001, 1)):
        spec = PameSpec(step=FixedStep(eta=factor * limit, gamma=1.0))
        assert len(warnings(experiment(), replace(setting, algorithm=spec), "lock-step")) == expected


def test_an_edge_list_is_read_beside_the_experiment(tmp_path: Path) -> None:
    (tmp_path / "edges.txt").write_text("0 1\n1 2\n")
    graph = make_topology(experiment(nodes=3, topology=EdgeList(file="edges.txt")), tmp_path)
    assert graph.edges.tolist() == [[0, 1], [1, 2]]


def test_an_edge_list_that_is_not_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / "edges.txt").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(UnreadableFile, match="give the path of a text file"):
        make_topology(experiment(topology=EdgeList(file="edges.txt")), tmp_path)
