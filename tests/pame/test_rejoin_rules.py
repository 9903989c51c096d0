"""Where a node that was away goes on, and with which model."""

import numpy as np

from pame.rejoin import first_iteration, start_model

OWN, OTHERS = np.array([1.0, 2.0]), [np.array([2.0, 4.0]), np.array([4.0, 8.0])]


def test_it_goes_on_where_its_live_neighbours_are() -> None:
    assert first_iteration(3, [10, 20, 40], 100) == 20
    assert first_iteration(3, [10, 40], 100) == 25
    assert first_iteration(3, [40], 30) == 30  # never beyond the last
    assert first_iteration(3, [], 100) == 3


def test_it_begins_with_what_was_asked_for_if_that_is_known() -> None:
    assert start_model("snapshot", OWN, OTHERS) is OWN
    assert start_model("snapshot", None, OTHERS) is None
    assert start_model("cold", OWN, OTHERS) is None
    mean = start_model("neighbours", OWN, OTHERS)
    assert mean is not None
    assert mean.tolist() == [3.0, 6.0]
    assert start_model("neighbours", OWN, []) is None
