"""Compute times, stragglers, and which driver refuses which setting."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pame.errors import ParameterError
from pame.rules import Compute, Exchange
from pame.simulator import DRIVERS, check
from tests.pame.simulator.harness import DPSGD, PAME, run, world


@pytest.mark.parametrize(
    ("share", "nodes", "count"), [(0.0, 10, 0), (0.01, 10, 1), (0.1, 10, 1), (0.25, 8, 2), (0.3, 16, 5), (1.0, 5, 5)]
)
def test_the_share_of_stragglers_is_rounded_but_never_to_none(share: float, nodes: int, count: int) -> None:
    for seed in range(20):
        slow = Compute(stragglers=share).slow_nodes(seed, nodes)
        assert len(slow) == count
        assert slow <= set(range(nodes))


def test_the_stragglers_are_a_function_of_the_seed() -> None:
    compute = Compute(stragglers=0.2)
    assert compute.slow_nodes(5, 50) == compute.slow_nodes(5, 50)
    assert len({compute.slow_nodes(seed, 50) for seed in range(20)}) == 20


def test_without_jitter_a_step_takes_its_nominal_time() -> None:
    compute = Compute(step_s=0.25, slowdown=4.0)
    assert compute.seconds(1, 2, 3, slow=False) == 0.25
    assert compute.seconds(1, 2, 3, slow=True) == 1.0


@settings(max_examples=50, deadline=None)
@given(seed=st.integers(0, 10**6), jitter=st.floats(0.01, 1.0))
def test_jitter_stays_within_its_share_of_the_nominal_time(seed: int, jitter: float) -> None:
    compute = Compute(step_s=0.5, jitter=jitter, slowdown=3.0)
    for k in range(5):
        fast = compute.seconds(seed, 1, k, slow=False)
        assert 0.5 * (1.0 - jitter) <= fast <= 0.5 * (1.0 + jitter)
        assert compute.seconds(seed, 1, k, slow=True) == pytest.approx(3.0 * fast)


def test_jitter_is_uniform_and_a_function_of_seed_node_and_iteration() -> None:
    """4,000 draws in [0.5, 1.5): the mean is within 5 deviations of 1 (false alarm below 1e-6), all quarters occur."""
    compute = Compute(step_s=1.0, jitter=0.5)
    times = [compute.seconds(3, node, k, slow=False) for node in range(40) for k in range(100)]
    assert times == [compute.seconds(3, node, k, slow=False) for node in range(40) for k in range(100)]
    assert len(set(times)) == 4000
    assert abs(sum(times) / 4000 - 1.0) < 5.0 * (1.0 / 12.0 / 4000) ** 0.5
    quarters = [sum(0.5 + q / 4 <= time < 0.75 + q / 4 for time in times) for q in range(4)]
    assert all(abs(count - 1000) < 5.0 * (4000 * 0.25 * 0.75) ** 0.5 for count in quarters)


def test_every_run_starts_at_zero() -> None:
    assert not world().start.any()
    assert world().start.shape == (24,)


@pytest.mark.parametrize("driver", ["lock-step", "vectorised"])
@pytest.mark.parametrize(
    "changes",
    [{"exchange": Exchange(spare=1)}, {"exchange": Exchange(spare="all")}, {"exchange": Exchange(mode="free")}],
)
def test_a_driver_without_time_refuses_what_depends_on_who_is_first(driver: str, changes: dict[str, object]) -> None:
    setting = replace(world(), **changes)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="virtual-time"):
        check(driver, setting)
    with pytest.raises(ParameterError, match="virtual-time"):
        run(driver, setting, spied=False)
    check("virtual-time", setting)


def test_the_vectorised_driver_refuses_other_algorithms_than_pame() -> None:
    setting = world(algorithm=DPSGD)
    with pytest.raises(ParameterError, match="lock-step"):
        run("vectorised", setting, spied=False)
    check("lock-step", setting)


def test_every_driver_runs_plain_pame() -> None:
    for driver in DRIVERS:
        check(driver, world(algorithm=PAME))
