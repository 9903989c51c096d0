"""Which values are absurd: far beyond what a problem can explain, and nothing that an honest node ever sends."""

from collections.abc import Mapping
from math import inf, nan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pame.algorithms import SPECS, Message
from pame.compressors import Levels, Quantized, Signs, Sparse, expand
from pame.exchange import PartialMessage, Vector
from pame.problems import LinearSpec, LogisticSpec
from pame.topology.kinds import Ring
from pame.value_bound import absurd_from, is_absurd
from tests.pame.algorithms.builders import Pull
from tests.pame.algorithms.harness import drive
from tests.pame.builders import small_run

NODES, ITERATIONS = 6, 40


def bowl(curvature: list[float], centre: list[float]) -> Pull:
    return Pull(np.array(centre), curvature=np.array(curvature))


@pytest.mark.parametrize(
    ("objective", "bound"),
    [
        (bowl([1.0, 1.0], [0.0, 0.0]), 1e6),  # already at the minimum
        (bowl([1.0, 1.0], [0.3, 0.4]), 1e6),  # everything is small
        (bowl([1.0, 1.0], [300.0, 400.0]), 500e6),  # the model has far to go: g / c = 500
        (bowl([0.01, 0.01], [30.0, 40.0]), 50e6),  # small gradients, g = 0.5, but a model at 50
        (bowl([100.0, 100.0], [3.0, 4.0]), 500e6),  # large gradients, a model at 5
        (bowl([0.0, 0.0], [3.0, 4.0]), 1e6),  # flat
        (bowl([1.0, nan], [3.0, 4.0]), inf),
        (bowl([1.0, 1e300], [3.0, 1e300]), inf),
    ],
)
def test_the_bound_follows_from_the_scale_of_gradients_and_models(objective: Pull, bound: float) -> None:
    assert absurd_from(objective, np.zeros(2)) == pytest.approx(bound)


@pytest.mark.parametrize("spec", [LinearSpec(n=40, samples=30, test_samples=5), LogisticSpec(n=40, test_samples=5)])
def test_it_is_not_below_the_bound_by_the_smoothness(spec: LinearSpec | LogisticSpec) -> None:
    local = spec.build(2, 3).local(1)
    g = float(np.linalg.norm(local.full_gradient(np.zeros(40))))
    assert absurd_from(local, np.zeros(40)) >= 1e6 * max(1.0, g, g / local.smoothness()) * (1 - 1e-9)


finite = st.floats(-1e12, 1e12)
vectors = st.lists(finite, max_size=8).map(np.array)
levels = st.lists(st.integers(-7, 7), max_size=8).map(lambda found: np.array(found, dtype=np.int64))
payloads = st.one_of(
    vectors,
    st.builds(lambda values: PartialMessage(99, np.arange(values.size), values), vectors),
    st.builds(lambda values: Sparse(99, np.arange(values.size), values), vectors),
    st.builds(lambda scale, found: Quantized(4, scale, found), st.floats(0, 1e12), levels),
    st.builds(lambda first, found: Levels(first, 3.0, found), st.floats(1e-3, 1e9), levels),
    st.builds(lambda scale, found: Signs(scale, found > 0), st.floats(0, 1e12), levels.filter(len)),
)


@given(st.dictionaries(st.sampled_from("abc"), payloads, max_size=3), st.floats(1.0, 1e12))
def test_a_message_is_absurd_when_any_value_that_a_receiver_makes_of_it_is_beyond(
    message: Mapping[str, Vector], bound: float
) -> None:
    largest = max((np.abs(expand(payload)).max(initial=0.0) for payload in message.values()), default=0.0)
    assert is_absurd(message, bound) == (largest > bound)


def test_a_single_huge_value_among_many_is_enough_and_many_large_ones_are_not() -> None:
    many = np.full(100_000, 9e5)
    assert not is_absurd({"w": many}, 1e6)
    many[777] = 1.7e308
    assert is_absurd({"w": many}, 1e6)


@pytest.mark.parametrize("problem", [LinearSpec(), LogisticSpec()], ids=lambda spec: spec.kind)
@pytest.mark.parametrize("kind", SPECS)
def test_no_honest_message_of_any_algorithm_on_the_default_problems_comes_near(
    kind: str, problem: LinearSpec | LogisticSpec
) -> None:
    setting = small_run(problem, SPECS[kind](), Ring(), NODES, 3, ITERATIONS, periods=(1, 2, 1, 2, 1, 2))
    near = 1e-2 * min(absurd_from(setting.problem.local(node), setting.start) for node in range(NODES))
    said: dict[tuple[int, int], Message] = {}
    drive(setting.nodes(), ITERATIONS, said=said)
    assert len(said) > NODES
    assert not any(is_absurd(message, near) for message in said.values())
