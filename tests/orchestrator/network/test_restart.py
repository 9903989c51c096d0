"""Where a node that came back goes on: where its live neighbours are, with the model that was asked for."""

import numpy as np
from test_collection import Observer, model, setting, tell

from orchestrator.network.collection import Collection
from orchestrator.network.restart import first_iteration, start_model


def collection() -> Collection:
    made = Collection(setting(), Observer())
    made.iterations[:] = [3, 10, 20, 40]
    for node in (0, 1, 3):
        tell(made, node, 5)
    return made


def test_it_goes_on_at_the_median_of_its_live_neighbours() -> None:
    assert first_iteration(collection(), 0, [1, 2, 3], {1, 2, 3}, 100) == 20
    assert first_iteration(collection(), 0, [1, 2, 3], {1, 3}, 100) == 25
    assert first_iteration(collection(), 0, [1, 3], {3}, 30) == 30  # never beyond the last
    assert first_iteration(collection(), 0, [1, 3], set(), 100) == 3


def test_it_begins_with_its_snapshot_the_mean_of_its_neighbours_or_zero() -> None:
    snapshot = start_model(collection(), "snapshot", 0, [1, 2, 3])
    assert snapshot is not None
    assert snapshot.tobytes() == model(0, 5).tobytes()
    mean = start_model(collection(), "neighbours", 0, [1, 2, 3])  # node 2 has left none
    assert mean is not None
    assert np.allclose(mean, (model(1, 5) + model(3, 5)) / 2, rtol=1e-15)
    assert start_model(collection(), "cold", 0, [1, 2, 3]) is None
    assert start_model(collection(), "snapshot", 2, [1, 3]) is None
    assert start_model(collection(), "neighbours", 2, [2]) is None
