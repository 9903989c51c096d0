"""The byte account: every number equals what encoding every message, and counting by hand, gives."""

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import get_args

import numpy as np
import pytest

from pame.algorithms import AlgorithmSpec, Received, Wanted
from pame.byte_account import ByteAccount, Fate
from pame.codec import Draw, Sizes, encode, encode_dense, sizes
from pame.exchange import PartialMessage
from pame.links import LinkSpec
from pame.resolved_run import ResolvedRun
from pame.rules import Compute, Exchange, Messages, Support, Values
from pame.sampling import candidates, message_lost, participation
from tests.pame.simulator.harness import DPSGD, PAME, Run, all_pairs, run, world


def receivers(setting: ResolvedRun, sender: int, k: int) -> list[int]:
    """Whom a sender's message of iteration k is for, from the public draws."""
    neighbours = setting.topology.neighbours
    enough = {i: participation(setting.algorithm.share, len(neighbours(i))) for i in range(setting.topology.nodes)}
    if not setting.exchange.waits:
        pushes = k % setting.periods[sender] == 0
        return list(candidates(setting.seed, sender, k, neighbours(sender), enough[sender])) if pushes else []
    found = []
    for i in neighbours(sender):
        spare = setting.exchange.spare
        asked = min(enough[i] + (10**6 if isinstance(spare, str) else spare), len(neighbours(i)))
        if k % setting.periods[i] == 0 and sender in candidates(setting.seed, i, k, neighbours(i), asked):
            found.append(i)
    return found


def encoded(setting: ResolvedRun, found: Run, sender: int, k: int) -> list[bytes]:
    result = []
    for vector in found.log.messages[sender, k].values():
        if isinstance(vector, PartialMessage):
            draw = Draw(setting.seed, sender, k)
            result.append(encode(vector, coding=setting.messages.coding, values=setting.messages.value_type, draw=draw))
        else:
            assert isinstance(vector, np.ndarray)
            result.append(encode_dense(vector, setting.messages.value_type))
    return result


def check_account(setting: ResolvedRun, found: Run) -> None:
    """Account, links, records and kinds against the encoded messages."""
    sent: Counter[tuple[int, int]] = Counter()
    lost: Counter[tuple[int, int]] = Counter()
    size: Counter[tuple[int, int]] = Counter()
    kinds = Sizes()
    steps = sorted(found.log.messages)
    assert {(r.node, r.iteration) for r in found.records if receivers(setting, r.node, r.iteration)} <= set(steps)
    for sender, k in steps:
        data = encoded(setting, found, sender, k)
        length = sum(map(len, data))
        for i in receivers(setting, sender, k):
            if message_lost(setting.seed, sender, i, k, setting.messages.loss):
                lost[sender, i] += 1
            else:
                sent[sender, i] += 1
                size[sender, i] += length
                for vector, piece in zip(found.log.messages[sender, k].values(), data, strict=True):
                    if isinstance(vector, PartialMessage):
                        kinds += sizes(piece, vector.n)
                    else:
                        kinds += Sizes(values=len(piece) - 1, framing=1)
    used = Counter((sender, i) for (i, _), heard in found.log.absorbed.items() for sender, _ in heard)
    account, links = found.account, found.account.links()
    ends = list(zip(links.sender.tolist(), links.receiver.tolist(), strict=True))
    assert dict(zip(ends, links.messages.tolist(), strict=True)) == {end: sent[end] for end in ends}
    assert dict(zip(ends, links.bytes.tolist(), strict=True)) == {end: size[end] for end in ends}
    assert dict(zip(ends, links.lost.tolist(), strict=True)) == {end: lost[end] for end in ends}
    assert dict(zip(ends, links.aggregated.tolist(), strict=True)) == {end: used[end] for end in ends}
    assert set(sent) | set(lost) | set(used) == set(ends)
    assert account.kinds == kinds
    assert account.kinds.total == account.bytes(Fate.SENT) == links.bytes.sum() == size.total()
    assert account.messages(Fate.SENT) == sent.total()
    assert account.messages(Fate.LOST) == lost.total()
    assert account.messages(Fate.AGGREGATED) == used.total()
    if setting.exchange.max_lag == 0:  # else a message may be used more than once
        unused = account.messages(Fate.SENT) - account.messages(Fate.AGGREGATED)
        assert 0 <= account.messages(Fate.LATE) + account.messages(Fate.EVICTED) <= unused
        assert (links.aggregated + links.late <= links.messages).all()
    assert sum(r.received for r in found.records) <= used.total()


CODINGS = [
    (0.25, "seed"),
    (0.25, "gaps"),
    (0.25, "bitmap"),
    (0.25, "auto"),
    (1.0, "all"),
    (1.0, "auto"),
]


@pytest.mark.parametrize(("support", "coding"), CODINGS)
@pytest.mark.parametrize("values", get_args(Values))
def test_pames_bytes_are_those_of_the_encoded_messages(support: float, coding: Support, values: Values) -> None:
    setting = replace(
        world(algorithm=replace(PAME, support=support), iterations=12), messages=Messages(support=coding, values=values)
    )
    found = run("lock-step", setting)
    check_account(setting, found)
    assert sum(record.bytes for record in found.records) == found.account.bytes(Fate.SENT)
    assert found.account.messages(Fate.AGGREGATED) == found.account.messages(Fate.SENT)


@pytest.mark.parametrize("values", get_args(Values))
def test_dpsgds_bytes_are_those_of_the_encoded_models(values: Values) -> None:
    setting = replace(world(algorithm=DPSGD, iterations=12), messages=Messages(values=values))
    found = run("lock-step", setting)
    check_account(setting, found)
    size = 1 + 24 * setting.messages.value_type.dtype.itemsize
    assert found.account.bytes(Fate.SENT) == size * found.account.messages(Fate.SENT)


@pytest.mark.parametrize("driver", ["lock-step", "virtual-time"])
def test_lost_messages_are_not_sent_ones(driver: str) -> None:
    setting = replace(world(iterations=12), messages=Messages(loss=0.4), exchange=Exchange(patience_s=0.1))
    found = run(driver, setting)
    assert found.account.messages(Fate.LOST) > 0
    check_account(setting, found)


@pytest.mark.parametrize(
    "changes",
    [
        {"exchange": Exchange(spare=1)},
        {"exchange": Exchange(spare="all")},
        {"exchange": Exchange(spare="all"), "compute": Compute(stragglers=0.2)},
        {"exchange": Exchange(spare=1, max_lag=1, patience_s=0.05), "messages": Messages(loss=0.2)},
        {"exchange": Exchange(mode="free")},
        {"exchange": Exchange(mode="free"), "messages": Messages(loss=0.3), "compute": Compute(stragglers=0.2)},
    ],
)
def test_the_account_adds_up_under_the_clock(changes: dict[str, object]) -> None:
    setting = replace(world(iterations=15), link=LinkSpec(0.01, 0.009, 1e5), **changes)  # type: ignore[arg-type]
    found = run("virtual-time", setting)
    check_account(setting, found)
    assert found.account.messages(Fate.LATE) > 0


def test_bytes_of_records_are_the_bytes_sent_when_every_node_finishes() -> None:
    """With the clock a record is made at the end of an iteration: all are there if nobody was cut off in the middle."""
    found = run("virtual-time", replace(world(), exchange=Exchange(spare=1), link=LinkSpec(0.01, 0.009)))
    assert sum(record.bytes for record in found.records) == found.account.bytes(Fate.SENT)
    assert sum(record.messages for record in found.records) == found.account.messages(Fate.SENT)
    assert sum(record.received for record in found.records) == found.account.messages(Fate.AGGREGATED)


def test_with_instant_links_and_a_spare_every_message_is_either_used_or_late() -> None:
    """Complete graph of 4, period 1, two of three needed: at each of 10 rounds each node hears 3 and uses 2."""
    found = run("virtual-time", replace(world(all_pairs(4), (1,) * 4, iterations=10), exchange=Exchange(spare="all")))
    assert found.account.messages(Fate.SENT) == 10 * 4 * 3
    assert found.account.messages(Fate.AGGREGATED) == 10 * 4 * 2
    assert found.account.messages(Fate.LATE) == 10 * 4
    assert sum(record.late for record in found.records) == 10 * 4


def test_points_of_the_curves_carry_the_bytes_sent_so_far() -> None:
    found = run("lock-step", world())
    assert found.evaluations[-1].bytes == found.account.bytes(Fate.SENT)
    for point in found.evaluations:
        assert point.bytes == sum(r.bytes for r in found.records if r.iteration < point.iteration)


@pytest.mark.parametrize("algorithm", [PAME, DPSGD], ids=lambda spec: spec.kind)
@pytest.mark.parametrize("loss", [0.0, 0.3])
def test_points_by_iteration_carry_the_bytes_of_the_iterations_before(algorithm: AlgorithmSpec, loss: float) -> None:
    """Some nodes are several iterations ahead when a set is complete; what they sent since is not in it."""
    setting = replace(world(algorithm=algorithm), evaluate_every=2, messages=Messages(loss=loss))
    expected = {k: point.bytes for k, point in run("lock-step", setting).curve("iteration").items()}
    found = run("virtual-time", replace(setting, link=LinkSpec(0.01, 0.009), compute=Compute(jitter=0.9)))
    curve = {k: point.bytes for k, point in found.curve("iteration").items()}
    assert curve == {k: expected[k] for k in curve}
    assert len(curve) >= 6
    by_time = found.curve("time")
    assert any(by_time[k].bytes != curve[k] for k in curve)


def test_points_by_iteration_carry_the_bytes_of_the_iterations_before_in_free_too() -> None:
    setting = replace(world(), exchange=Exchange(mode="free"), compute=Compute(jitter=0.9), link=LinkSpec(0.01))
    found = run("virtual-time", setting)
    assert set(found.curve("iteration")) == {0, 5, 10, 15, 20}
    for k, point in found.curve("iteration").items():
        assert point.bytes == sum(record.bytes for record in found.records if record.iteration < k)
    assert found.curve("iteration")[20].bytes < found.account.bytes(Fate.SENT)  # without overtime


def test_a_message_that_also_fills_in_for_an_earlier_one_counts_at_each_use() -> None:
    """Node 0 never listens and is twice as fast as node 1, which takes the next message that was not lost."""
    compute = Compute(stragglers=0.5, slowdown=2.0)
    seed = next(seed for seed in range(50) if compute.slow_nodes(seed, 2) == {1})
    setting = world([(0, 1)], (1000, 1), iterations=40, algorithm=DPSGD, seed=seed)
    setting = replace(setting, messages=Messages(loss=0.3), exchange=Exchange(max_lag=1), compute=compute)
    found = run("virtual-time", setting)
    kept = [tag for tag in range(40) if not message_lost(seed, 0, 1, tag, 0.3)]
    heard = {k: tags for (node, k), tags in found.log.absorbed.items() if node == 1}
    for k in range(5, 18):
        assert heard[k] == [(0, min(tag for tag in kept if tag >= k))]
    uses = Counter(item for tags in heard.values() for item in tags)
    assert max(uses.values()) > 1
    assert found.account.links().aggregated[found.account.links().receiver == 1].sum() == uses.total()
    check_account(setting, found)


def received(sender: int, size: int) -> Received:
    return Received(sender, 0, {}, size)


def test_an_account_merges_its_rows_without_losing_any() -> None:
    account = ByteAccount(3)
    for _ in range(5000):
        account.add(Fate.SENT, np.array([0, 2]), np.array([1, 1]), np.array([10, 7]))
    account.add(Fate.LOST, np.array([1]), np.array([2]), 99)
    account.aggregated(1, [received(0, 10), received(2, 7)], Wanted((0, 2), 2))
    account.received(Fate.LATE, 1, [received(0, 10)])
    account.received(Fate.EVICTED, 1, [received(0, 10), received(2, 7)])
    links = account.links()
    assert links.sender.tolist() == [0, 1, 2]
    assert links.receiver.tolist() == [1, 2, 1]
    assert links.messages.tolist() == [5000, 0, 5000]
    assert links.bytes.tolist() == [50000, 0, 35000]
    assert links.aggregated.tolist() == [1, 0, 1]
    assert links.late.tolist() == [1, 0, 0]
    assert links.lost.tolist() == [0, 1, 0]
    assert (account.messages(Fate.SENT), account.bytes(Fate.SENT), account.bytes(Fate.LOST)) == (10000, 85000, 99)
    assert (account.messages(Fate.EVICTED), account.bytes(Fate.EVICTED)) == (2, 17)


def test_an_account_is_clean_until_something_is_late_evicted_lost_or_starved() -> None:
    def spoilt(spoil: Callable[[ByteAccount], object]) -> bool:
        account = ByteAccount(3)
        account.add(Fate.SENT, np.array([0]), np.array([1]), 10)
        account.aggregated(1, [received(0, 10)], Wanted((0,), 1))
        account.aggregated(2, [], Wanted((), 0))
        assert account.clean
        spoil(account)
        return not account.clean

    assert spoilt(lambda account: account.received(Fate.LATE, 1, [received(0, 10)]))
    assert spoilt(lambda account: account.received(Fate.EVICTED, 1, [received(0, 10)]))
    assert spoilt(lambda account: account.add(Fate.LOST, np.array([0]), np.array([1]), 10))
    assert spoilt(lambda account: account.aggregated(1, [], Wanted((0,), 1)))
    assert not spoilt(lambda account: account.received(Fate.LATE, 1, []))


def test_a_round_that_needs_a_message_and_gets_none_is_starved() -> None:
    account = ByteAccount(2)
    assert account.aggregated(0, [], Wanted((1,), 1))
    assert not account.aggregated(0, [received(1, 5)], Wanted((1,), 1))
    assert not account.aggregated(0, [], Wanted((), 0))
    assert account.starved == 1
    assert account.links().sender.tolist() == [1]


def test_an_empty_account_has_no_links() -> None:
    assert ByteAccount(4).links().sender.size == 0
