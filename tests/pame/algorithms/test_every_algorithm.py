"""What holds for every registered algorithm, with the parameters it has by default."""

from typing import Any

import numpy as np
import pytest

from pame.algorithms import SPECS, Form
from pame.exchange import PartialMessage
from pame.resolved_run import ResolvedRun
from pame.spec_json import plain, revive
from tests.pame.algorithms.builders import NODES, logistic, setting_of
from tests.pame.algorithms.harness import drive, simulated

PERIODS = (1, 2, 2, 1, 3, 1)
EVERY = pytest.mark.parametrize("kind", SPECS)


def setting(kind: str, **changes: Any) -> ResolvedRun:
    return setting_of(SPECS[kind](), logistic(7), **{"periods": PERIODS, **changes})


@EVERY
def test_its_name_is_its_kind_and_it_travels_as_plain_values(kind: str) -> None:
    spec = SPECS[kind]()
    assert spec.kind == kind
    assert revive(SPECS, plain(spec)) == spec


@EVERY
def test_nothing_is_desynchronised_where_nothing_is_lost(kind: str) -> None:
    assert simulated(setting(kind))[1].desynchronised == 0


@EVERY
def test_its_messages_hold_what_it_declares(kind: str) -> None:
    nodes = setting(kind).nodes()
    for k in range(6):
        for node in nodes:
            node.prepare(k)
            if node.receivers(k):
                message = node.message(k)
                assert frozenset(message) in node.bundles
                for name, vector in message.items():
                    assert (node.vectors[name] is Form.DENSE) == isinstance(vector, np.ndarray)
                    assert (node.vectors[name] is Form.PARTIAL) == (type(vector) is PartialMessage)


@EVERY
def test_its_model_changes_with_its_step_and_not_before(kind: str) -> None:
    nodes = setting(kind, periods=(5,) * NODES).nodes()
    drive(nodes, 5)
    for node in nodes:
        before = node.model
        kept = before.copy()
        node.prepare(5)
        assert node.model is before
        if node.wanted(5) is not None:
            node.absorb(5, [])
            assert node.model is before
        node.step(5)
        assert node.model is not before
        assert before.tobytes() == kept.tobytes()
