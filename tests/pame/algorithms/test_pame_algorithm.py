"""The edge cases of PaME by hand."""

import numpy as np
import pytest

from pame.algorithms import FixedStep, PameSpec, PenaltyStep, Received, Step
from pame.algorithms.pame import Pame
from pame.errors import ParameterError
from pame.exchange import Vector, reveal
from tests.pame.algorithms.builders import Asked, Constant, context_of, graph


def node_of(step: Step, slope: Vector, start: Vector, share: float = 0.5, node: int = 0) -> Pame:
    """A node of the small graph on its own; node 0 has five neighbours, so t = 3 at one half."""
    spec = PameSpec(participation=share, support=2, step=step)
    return spec.node(context_of(start, Constant(slope), graph(), node=node, share=share))


def received(sender: int, model: list[float], coordinates: list[int]) -> Received:
    return Received(sender, 0, {"w": reveal(np.array(model), np.array(coordinates))}, 0)


def test_a_starved_node_keeps_its_model_and_divides_by_the_nominal_participation() -> None:
    node = node_of(PenaltyStep(sigma0=2.0, gamma=1.0), np.array([6.0, -12.0]), np.array([1.0, 2.0]))
    assert node.absorb(0, []) == 0.0
    assert node.model.tolist() == [1.0, 2.0]
    node.step(0)
    np.testing.assert_allclose(node.model, [1.0 - 6.0 / (2 * 3), 2.0 + 12.0 / (2 * 3)], rtol=1e-15)


def test_with_fewer_messages_than_wanted_the_step_still_divides_by_the_nominal_participation() -> None:
    node = node_of(PenaltyStep(sigma0=2.0, gamma=1.0), np.array([6.0, 6.0]), np.array([1.0, 2.0]))
    assert node.absorb(0, [received(3, [9.0, 9.0], [0])]) == 0.5  # one of two coordinates covered once
    node.step(0)
    np.testing.assert_allclose(node.model, [9.0 - 1.0, 2.0 - 1.0], rtol=1e-15)


def test_what_was_absorbed_is_used_for_one_step_only() -> None:
    node = node_of(FixedStep(eta=1.0, gamma=1.0), np.array([0.5, 0.5]), np.zeros(2))
    node.absorb(0, [received(3, [8.0, 8.0], [0, 1])])
    node.step(0)
    assert node.model.tolist() == [7.5, 7.5]
    node.step(1)
    assert node.model.tolist() == [7.0, 7.0]


def test_the_gradient_is_taken_at_the_average_and_on_the_batch_of_the_iteration() -> None:
    objective = Asked(2)
    node = PameSpec(support=1).node(context_of([1.0, 2.0], objective, graph(), share=0.5))
    node.absorb(4, [received(1, [5.0, 0.0], [0]), received(2, [7.0, 0.0], [0])])
    node.step(4)
    assert objective.asked == [([6.0, 2.0], 4)]


def test_the_order_in_which_messages_are_handed_over_does_not_matter() -> None:
    messages = [received(1, [1e16, 0.1], [0, 1]), received(2, [1.0, 0.2], [0, 1]), received(5, [-1e16, 0.3], [0, 1])]
    results = []
    for order in (messages, messages[::-1], [messages[1], messages[2], messages[0]]):
        node = node_of(FixedStep(), np.zeros(2), np.zeros(2))
        node.absorb(0, order)
        node.step(0)
        results.append(node.model.tobytes())
    assert len(set(results)) == 1


def test_the_coverage_reported_is_the_mean_over_the_coordinates() -> None:
    node = node_of(FixedStep(), np.zeros(4), np.zeros(4))
    messages = [received(1, [0.0] * 4, [0, 3]), received(2, [0.0] * 4, [2, 3]), received(3, [0.0] * 4, [2, 3])]
    assert node.absorb(0, messages) == 6 / 4


def test_at_the_start_every_revealed_value_is_a_star() -> None:
    message = node_of(FixedStep(), np.zeros(5), np.zeros(5)).message(0)["w"]
    assert str(message).count("★") == 2
    assert str(message).count("·") == 3


def test_a_step_does_not_change_a_message_that_is_under_way() -> None:
    node = node_of(FixedStep(eta=1.0), np.ones(3), np.full(3, 4.0))
    before = node.message(0)
    node.step(0)
    assert str(before["w"]).count("4") == 2


def test_a_whole_model_is_refused_where_a_partial_message_is_expected() -> None:
    node = node_of(FixedStep(), np.zeros(2), np.zeros(2))
    with pytest.raises(TypeError, match="partial message"):
        node.absorb(0, [Received(1, 0, {"w": np.zeros(2)}, 0)])


def test_a_support_larger_than_the_model_is_refused_with_the_fix() -> None:
    with pytest.raises(ParameterError, match="give at most 10"):
        PameSpec(support=11).support_size(10)
