"""Algorithms that keep replicas get every message, in order, from both drivers; shown with a toy that needs that."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, get_args

import numpy as np
import pytest

from pame.algorithms import Algorithm, Context, Delivery, Form, Message, NodeBase, Received, Wanted, Who
from pame.byte_account import Fate
from pame.links import LinkSpec
from pame.rules import Compute, Exchange, Messages, Mode
from pame.sampling import message_lost
from tests.pame.simulator.harness import PERIODS, Run, run, same_bits, world


@dataclass(frozen=True)
class EchoSpec:
    """Every node tells all neighbours its model at every iteration, and at its rounds takes in all it was told."""

    kind: str = "echo"
    share: float = 1.0
    who: Who = Who.CHOSEN
    fan_out: int = 0

    def first_step(self, enough: int) -> float:
        return 1.0 / enough

    def node(self, context: Context) -> Algorithm:
        return Echo(context)


class Echo(NodeBase):
    delivery = Delivery.IN_ORDER
    vectors: ClassVar = {"x": Form.DENSE}
    bundles: ClassVar = [frozenset({"x"})]

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._node = context.node
        self._neighbours = context.topology.neighbours(context.node)
        self._period = context.selection.periods[context.node]

    def receivers(self, k: int) -> Sequence[int]:
        return self._neighbours

    def message(self, k: int) -> Message:
        return {"x": self.model}

    def wanted(self, k: int) -> Wanted | None:
        return Wanted(self._neighbours, len(self._neighbours)) if k % self._period == 0 else None

    def absorb(self, k: int, received: Sequence[Received]) -> float:
        for message in sorted(received, key=lambda message: (message.iteration, message.sender)):
            vector = message.message["x"]
            assert isinstance(vector, np.ndarray)
            self._model = 0.9 * self.model + 0.1 * vector
        return float(len(received))

    def step(self, k: int) -> None:
        self._model = self.model + np.sin(np.arange(24) + self._node + k)


def heard(found: Run, node: int, sender: int) -> list[tuple[int, int]]:
    """(round, tag) of all that a node absorbed from a sender."""
    rounds = sorted((k, senders) for (i, k), senders in found.log.absorbed.items() if i == node)
    return [(k, tag) for k, senders in rounds for who, tag in senders if who == sender]


SETTING = world(algorithm=EchoSpec(), iterations=18)
LINK = LinkSpec(0.01, 0.009, 1e5)


@pytest.mark.parametrize("driver", ["lock-step", "virtual-time"])
def test_every_message_is_handed_over_once_and_in_order_at_the_first_round_not_before_it(driver: str) -> None:
    found = run(driver, replace(SETTING, link=LINK))
    for node, period in enumerate(PERIODS):
        last = 17 // period * period
        for sender in SETTING.topology.neighbours(node):
            assert heard(found, node, sender) == [(-(-tag // period) * period, tag) for tag in range(last + 1)]
    assert found.account.messages(Fate.LATE) == 0
    assert found.outcome.exact


def test_both_drivers_compute_the_same_bits() -> None:
    reference = run("lock-step", SETTING)
    found = run("virtual-time", replace(SETTING, link=LINK, compute=Compute(jitter=0.8)))
    assert found.log.models.keys() == reference.log.models.keys()
    assert all(same_bits(model, reference.log.models[key]) for key, model in found.log.models.items())
    assert found.account.messages(Fate.SENT) == reference.account.messages(Fate.SENT)
    assert found.account.bytes(Fate.SENT) == reference.account.bytes(Fate.SENT)


@pytest.mark.parametrize("mode", get_args(Mode))
def test_what_is_lost_is_missing_and_the_rest_still_comes_in_order(mode: Mode) -> None:
    """A message too late for its round comes with the next; in `free`, with whatever round is next."""
    setting = replace(SETTING, exchange=Exchange(mode=mode, patience_s=0.05), messages=Messages(loss=0.2), link=LINK)
    found = run("virtual-time", setting)
    assert found.account.messages(Fate.LOST) > 0
    for node in range(8):
        for sender in setting.topology.neighbours(node):
            tags = [tag for _, tag in heard(found, node, sender)]
            arrived = [k for k in range(60) if not message_lost(setting.seed, sender, node, k, 0.2)]
            assert tags == arrived[: len(tags)]
            assert len(tags) > 3
    assert found.account.messages(Fate.LATE) == 0


def test_both_drivers_compute_the_same_bits_when_messages_are_lost_and_every_iteration_is_a_round() -> None:
    for seed in (3, 4, 5):
        setting = replace(
            world(algorithm=EchoSpec(), iterations=12, seed=seed, periods=(1,) * 8), messages=Messages(loss=0.1)
        )
        found = run("virtual-time", replace(setting, link=LinkSpec(0.05, 0.04)))
        reference = run("lock-step", setting)
        assert all(same_bits(model, reference.log.models[key]) for key, model in found.log.models.items())
        assert found.account.messages(Fate.LOST) > 0
