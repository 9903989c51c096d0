"""Reports and snapshots become curves: running sums equal the models themselves, and the right curve ends a run."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from contract.counter_reports import record_message
from contract.rpc import control_pb2 as pb
from orchestrator.control.node_reports import NodeReports
from pame import problems, topology
from pame.algorithms import PameSpec
from pame.errors import Diverged
from pame.evaluate import judge_own
from pame.observe import Record
from pame.problems import LinearSpec
from pame.randomness import Key, Purpose, normals
from pame.resolved_run import ResolvedRun
from pame.rules import Compute
from pame.stopping import StopRules
from pame.topology.kinds import Ring
from tests.harness import Watcher

NODES, N = 4, 30
EVERYBODY = range(NODES)


def setting(**changes: object) -> ResolvedRun:
    made = ResolvedRun(
        seed=3,
        topology=topology.build(Ring(), NODES, 3, None),
        problem=problems.build(LinearSpec(n=N, samples=10, test_samples=5), NODES, 3),
        algorithm=PameSpec(),
        periods=(1,) * NODES,
        stop=StopRules(iterations=20),
        evaluate_every=5,
        compute=Compute(step_s=0.0),
    )
    return replace(made, **changes)  # type: ignore[arg-type]


def collecting(**changes: object) -> tuple[NodeReports, Watcher]:
    observer = Watcher()
    return NodeReports(setting(**changes), observer), observer


def model(node: int, k: int) -> np.ndarray:
    return normals(Key(9, Purpose.TRUTH, node, k), N) * 1e3


Decision = tuple[str, int]
"""Why a run ends, and whose iteration is the result."""


def take(
    collection: NodeReports, node: int, chunk: pb.SnapshotChunk, seconds: float = 0.0, alive: Any = EVERYBODY
) -> Decision | None:
    """A piece comes, and whatever points it completes are measured and judged; the first decision."""
    points = collection.snapshot(node, chunk, seconds, alive)
    reasons = [(collection.judge(point, collection.measure(point)), point.iteration) for point in points]
    return next(((reason, k) for reason, k in reasons if reason is not None), None)


def tell(collection: NodeReports, node: int, k: int, seconds: float = 0.0, alive: Any = EVERYBODY) -> Decision | None:
    """A snapshot in three pieces."""
    values = model(node, k)
    decision = None
    for begin, end in ((0, 11), (11, 12), (12, N)):
        chunk = pb.SnapshotChunk(iteration=k, offset=begin, values=values[begin:end].tobytes())
        decision = take(collection, node, chunk, seconds, alive)
    return decision


def tell_all(collection: NodeReports, k: int, nodes: Sequence[int] = EVERYBODY) -> list[Decision | None]:
    """The snapshots of these nodes, one after the other."""
    return [tell(collection, node, k) for node in nodes]


def test_a_point_by_iteration_needs_every_node_and_equals_what_the_models_say() -> None:
    made, observer = setting(), Watcher()
    collection = NodeReports(made, observer)
    for node in (2, 0, 3):
        assert tell(collection, node, 5, 1.0) is None
    assert observer.by("iteration") == []
    tell(collection, 1, 5, 1.5)
    [point] = observer.by("iteration")
    models = np.stack([model(node, 5) for node in EVERYBODY])
    mean = models.mean(axis=0)
    assert (point.iteration, point.seconds) == (5, 1.5)
    assert point.objective == made.problem.objective(mean)
    assert point.own == judge_own(made.problem, models)  # the very bits that a simulator tells
    assert point.consensus == pytest.approx(np.sqrt(np.square(models - mean).sum() / NODES), rel=1e-12)


def test_a_node_that_says_it_is_far_ahead_does_not_push_out_the_sets_of_the_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("orchestrator.control.node_reports._SETS_BYTES", 0)
    collection, observer = collecting(stop=StopRules(iterations=1000))
    tell_all(collection, 5, (0, 1, 2))
    for k in range(10, 1000, 5):
        tell(collection, 3, k)
    tell(collection, 3, 5)
    assert [point.iteration for point in observer.by("iteration")] == [5]


def test_equal_models_have_no_consensus_distance_left_by_rounding() -> None:
    collection, observer = collecting()
    values = (model(0, 0) + 1e6).tobytes()
    for node in EVERYBODY:
        take(collection, node, pb.SnapshotChunk(iteration=5, values=values))
    assert observer.by("iteration")[0].consensus < 1e-9


def test_the_curve_by_time_takes_the_latest_snapshot_of_each_live_node() -> None:
    made, observer = setting(), Watcher()
    collection = NodeReports(made, observer)
    tell_all(collection, 0)
    assert [point.iteration for point in observer.by("time")] == [0]
    tell(collection, 0, 5)
    tell(collection, 0, 10)
    tell(collection, 1, 5)
    assert [point.iteration for point in observer.by("time")] == [0]  # mean 15/4
    tell(collection, 1, 10, 2.0)  # 20/4
    point = observer.by("time")[-1]
    models = np.stack([model(0, 10), model(1, 10), model(2, 0), model(3, 0)])
    assert (point.iteration, point.seconds) == (5, 2.0)
    assert point.objective == pytest.approx(made.problem.objective(models.mean(axis=0)), rel=1e-12)
    tell(collection, 0, 15, 3.0, alive=[0, 1])  # nodes 2 and 3 died: mean of 15 and 10
    point = observer.by("time")[-1]
    assert point.iteration == 10
    assert point.objective == pytest.approx(
        made.problem.objective(np.stack([model(0, 15), model(1, 10)]).mean(axis=0)), rel=1e-12
    )


def test_complete_sets_end_a_run_at_the_last_iteration() -> None:
    collection, _ = collecting()
    assert tell_all(collection, 20) == [None, None, None, ("20 iterations done", 20)]


def test_the_curve_by_time_ends_where_the_run_does() -> None:
    collection, observer = collecting()
    tell_all(collection, 0)
    tell_all(collection, 20, (0, 1, 2))
    points = collection.snapshot(3, pb.SnapshotChunk(iteration=20, values=model(3, 20).tobytes()), 9.0, EVERYBODY)
    assert [point.by for point in points] == ["iteration", "time"]
    assert collection.judge(points[0], collection.measure(points[0])) is not None  # the run ends here
    assert [(point.by, point.iteration) for point in observer.points[-2:]] == [("iteration", 20), ("time", 20)]
    told = len(observer.points)
    collection.judge(points[1], collection.measure(points[1]))
    assert len(observer.points) == told  # once is enough


def test_a_target_ends_a_run_at_its_snapshot() -> None:
    collection, _ = collecting(stop=StopRules(iterations=20, target=1e12))
    decision = tell_all(collection, 5)[-1]
    assert decision is not None
    reason, iteration = decision
    assert iteration == 5
    assert "target" in reason


def test_with_stragglers_or_after_a_death_the_curve_by_time_decides() -> None:
    stop = StopRules(iterations=20, target=1e12)
    slow, _ = collecting(stop=stop, compute=Compute(step_s=0.01, stragglers=0.25))
    bereaved, _ = collecting(stop=stop)
    bereaved.has_faults()
    for collection in (slow, bereaved):
        assert tell_all(collection, 0)[-1] == ("f(mean model) reached the target 1e+12", 0)
        assert collection.by_time


def test_records_are_counted_and_bytes_before_an_iteration_are_told_apart() -> None:
    collection, observer = collecting()
    for node in EVERYBODY:
        rows = [pb.Record(iteration=k, bytes=100, late=1, starved=k == 3, coverage=2.0) for k in range(7)]
        collection.report(node, rows)
    tell_all(collection, 5)
    assert collection.bytes == 7 * 4 * 100
    assert (collection.late, collection.starved, collection.records) == (28, 4, 28)
    assert collection.iterations == [7] * NODES
    [point] = observer.by("iteration")
    assert point.bytes == 5 * 4 * 100
    assert point.coverage == 2.0
    assert {record.node for record in observer.records} == set(EVERYBODY)


def test_a_record_comes_out_as_it_was_told_and_what_was_not_told_is_none() -> None:
    told = Record(2, 3, 1.5, 0.25, 4, 3, 1.75, 0, 1, 5, 60, 2, 0.5)
    starved = Record(2, 4, 2.0, 0.5, 4, 0, 0.0, 1, 0, 0, 0, 0, None)
    collection, observer = collecting()
    collection.report(2, [record_message(told), record_message(starved)])
    assert observer.records == [told, starved]


def test_results_are_kept_apart_from_snapshots() -> None:
    collection, observer = collecting()
    chunk = pb.SnapshotChunk(iteration=20, values=model(1, 20).tobytes(), result=True)
    assert take(collection, 1, chunk) is None
    k, result = collection.results[1]
    assert (k, result.tobytes()) == (20, model(1, 20).tobytes())
    assert observer.points == []


def test_a_diverging_run_says_so() -> None:
    collection, _ = collecting()
    tell_all(collection, 0)
    huge = pb.SnapshotChunk(iteration=5, values=np.full(N, 1e200).tobytes())
    for node in (0, 1, 2):
        take(collection, node, huge)
    with pytest.raises(Diverged, match="diverged"):
        take(collection, 3, huge)


@pytest.mark.parametrize("chunk", [{"offset": N - 1, "values": bytes(16)}, {"offset": 2**31, "values": bytes(8)}])
def test_a_piece_that_does_not_fit_is_ignored(chunk: dict[str, object]) -> None:
    collection, _ = collecting()
    assert take(collection, 0, pb.SnapshotChunk(iteration=5, **chunk)) is None  # type: ignore[arg-type]
    assert collection.latest_iteration[0] == -1


def test_a_snapshot_that_lost_a_piece_is_thrown_away_whole() -> None:
    collection, _ = collecting()
    values = model(0, 5)
    for begin, end in ((0, 11), (12, N)):
        piece = pb.SnapshotChunk(iteration=5, offset=begin, values=values[begin:end].tobytes())
        take(collection, 0, piece, alive=[0])
    assert collection.latest_iteration[0] == -1
    take(collection, 0, pb.SnapshotChunk(iteration=5, offset=0, values=values[:11].tobytes()), alive=[0])
    tell(collection, 0, 10)  # the connection broke, and the next snapshot begins from its beginning
    assert collection.latest_iteration[0] == 10
    assert collection.latest[0].tobytes() == model(0, 10).tobytes()


def test_sets_that_can_never_complete_do_not_pile_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("orchestrator.control.node_reports._SETS_BYTES", 0)
    collection, observer = collecting(evaluate_every=1, stop=StopRules(iterations=1000))
    for k in range(100):
        tell_all(collection, k, (0, 1, 2))
    assert len(collection._sets) == 4
    tell(collection, 3, 99)
    assert [point.iteration for point in observer.by("iteration")] == [99]  # the newest can still complete


def test_records_of_a_node_that_came_back_behind_the_others_are_in_the_next_points_of_both_curves() -> None:
    collection, observer = collecting()
    for k in (5, 10):
        if k == 10:  # a new process does again what the old one had done
            collection.report(2, [pb.Record(iteration=3, bytes=7)])
        for node in EVERYBODY:
            collection.report(node, [pb.Record(iteration=i, bytes=100) for i in range(k - 5, k)])
            tell(collection, node, k)
    assert [point.bytes for point in observer.by("iteration")] == [5 * 4 * 100, 10 * 4 * 100 + 7]
    assert collection.bytes == 10 * 4 * 100 + 7
