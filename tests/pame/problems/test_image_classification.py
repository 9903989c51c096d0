"""Classification by a network: data, objective, batches, and that nodes differ in nothing but their samples."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from pame.algorithms import SPECS
from pame.byte_account import ByteAccount
from pame.errors import ParameterError
from pame.network_specs import ModuleSpec, SoftmaxSpec
from pame.partitions import ClassesPartition, IidPartition
from pame.problems import ImageClassificationSpec, ProblemInputs
from pame.problems.image_classification import DeliveredShard
from pame.resolved_run import ResolvedRun
from pame.simulator import run_lock_step
from pame.stopping import StopRules
from pame.topology import Topology
from tests.harness import Watcher
from tests.pame.vision.builders import Normed, data_set, problem, table

RING = Topology(4, np.array([[0, 1], [0, 3], [1, 2], [2, 3]]))


def resolved(kind: str = "pame", iterations: int = 4, **settings: object) -> ResolvedRun:
    made = problem(**settings)  # type: ignore[arg-type]
    return ResolvedRun(1, RING, made, SPECS[kind](), (2,) * 4, StopRules(iterations=iterations), evaluate_every=2)


def test_the_samples_are_shared_out_and_normalised() -> None:
    made = problem()
    shards = [made.shards.of(node) for node in range(4)]
    assert [shard.labels.size for shard in shards] == [40] * 4
    images = made.images(data_set().train.features)
    assert images.shape == (160, 1, 8, 8)
    expected = (data_set().train.features.transpose(0, 3, 1, 2) / 255.0 - 0.3) / 0.2
    np.testing.assert_allclose(images, expected, atol=1e-5)


def test_a_gradient_is_of_the_batch_of_the_iteration() -> None:
    local = problem().local(2)
    again = problem().local(2)
    assert np.array_equal(local.gradient(problem().start, 5), again.gradient(problem().start, 5))
    assert not np.array_equal(local.gradient(problem().start, 5), local.gradient(problem().start, 6))
    whole = problem(batch=40).local(2)
    np.testing.assert_allclose(whole.gradient(problem().start, 5), whole.full_gradient(problem().start), atol=1e-6)


def test_f_is_the_mean_over_the_nodes_of_their_own_where_the_sample_is_everything() -> None:
    made = problem(objective_samples=10_000, weight_decay=0.1, partition=ClassesPartition(classes=1))
    values = [made.local(node).value(made.start) for node in range(4)]
    assert made.objective(made.start) == pytest.approx(np.mean(values), rel=1e-6)
    plain = problem(objective_samples=10_000, partition=ClassesPartition(classes=1))
    assert made.objective(made.start) - plain.objective(made.start) == pytest.approx(0.05 * made.start @ made.start)
    np.testing.assert_allclose(
        made.local(1).full_gradient(made.start) - plain.local(1).full_gradient(made.start), 0.1 * made.start, atol=1e-6
    )


def test_the_mean_model_is_judged_on_all_test_samples_and_the_nodes_on_a_fixed_part() -> None:
    made = problem(own_test_samples=20)
    models = np.stack([made.start, made.start * 1.5])
    part = made.metrics_of(models)
    assert {len(each) for each in part.values()} == {2}
    assert part["test_accuracy"][0] * 20 == pytest.approx(round(part["test_accuracy"][0] * 20))
    whole = problem(own_test_samples=10_000)
    assert whole.metrics_of(models)["test_loss"][1] == pytest.approx(made.metrics(models[1])["test_loss"])
    assert made.optimum() is None
    assert made.local(0).smoothness() is None


def test_the_mean_model_can_be_judged_on_a_fixed_part_too() -> None:
    made = problem(own_test_samples=20, test_samples=20)
    models = np.stack([made.start])
    assert made.metrics(made.start)["test_loss"] == made.metrics_of(models)["test_loss"][0], "the same part"


def test_a_model_with_running_statistics_is_judged_with_those_of_the_objectives_samples() -> None:
    spec = ImageClassificationSpec(model=ModuleSpec("mine.py:Normed", buffers="local"), objective_samples=10_000)
    made = spec.build_from(ProblemInputs(data_set(), Normed), 4, 1)
    made.local(0).gradient(made.start, 0)
    model = made.start + 0.1 * np.cos(np.arange(made.n))
    factor, shift, weights = model[0], model[1], model[2:-4].reshape(4, 64)
    images = (data_set().train.features.reshape(160, 64) / 255.0 - 0.3) / 0.2
    mean, deviation = images.mean(), np.sqrt(images.var(ddof=1) + 1e-5)

    def losses(features: NDArray[Any], labels: NDArray[np.int64]) -> Any:
        inputs = (features.reshape(-1, 64) / 255.0 - 0.3) / 0.2
        scores = ((inputs - mean) / deviation * factor + shift) @ weights.T + model[-4:]
        return np.log(np.exp(scores).sum(axis=1)) - scores[np.arange(len(labels)), labels]

    train, test = data_set().train, data_set().test
    assert made.objective(model) == pytest.approx(losses(train.features, train.labels).mean(), rel=1e-4)
    assert made.metrics(model)["test_loss"] == pytest.approx(losses(test.features, test.labels).mean(), rel=1e-4)


def test_a_delivered_shard_gives_the_bits_of_the_whole_data_set() -> None:
    made = problem()
    alone = made.spec.build_from(ProblemInputs(DeliveredShard(made.facts, 3, made.shards.of(3))), 4, 1)
    assert np.array_equal(alone.start, made.start)
    assert np.array_equal(alone.local(3).gradient(alone.start, 1), made.local(3).gradient(made.start, 1))
    with pytest.raises(ParameterError, match="no samples of node 2"):
        alone.local(2).gradient(alone.start, 1)


def test_augmented_images_are_shifted_and_mirrored_ones() -> None:
    made = problem(augmentation="crop-flip")
    assert not np.array_equal(made.local(0).gradient(made.start, 1), problem().local(0).gradient(made.start, 1))
    with pytest.raises(ParameterError, match="cannot be cropped"):
        problem(SoftmaxSpec(), data=table(), augmentation="crop-flip")


@pytest.mark.parametrize("kind", sorted(SPECS))
def test_every_algorithm_runs_on_a_network(kind: str) -> None:
    setting, watcher = resolved(kind), Watcher()
    outcome = run_lock_step(setting, watcher, ByteAccount(4))
    assert np.isfinite(outcome.models).all()
    assert not np.array_equal(outcome.models[0], setting.start)


def test_training_learns() -> None:
    setting = replace(resolved(iterations=60), algorithm=SPECS["dpsgd"](eta=0.1))  # type: ignore[call-arg]
    outcome = run_lock_step(setting, Watcher(), ByteAccount(4))
    mean = outcome.models.mean(axis=0)
    assert setting.problem.metrics(mean)["test_accuracy"] > 0.9
    assert setting.problem.metrics(setting.start)["test_accuracy"] < 0.6


def test_a_table_is_learned_by_softmax() -> None:
    setting = resolved("dpsgd", 80, model=SoftmaxSpec(), data=table())
    outcome = run_lock_step(setting, Watcher(), ByteAccount(4))
    assert setting.problem.metrics(outcome.models.mean(axis=0))["test_accuracy"] == 1.0


def test_too_many_samples_and_missing_data_are_one_line() -> None:
    with pytest.raises(ParameterError, match=r"train_samples: 161 of 160.*at most 160"):
        problem(train_samples=161)
    assert sum(problem(train_samples=50).shards.of(node).labels.size for node in range(4)) == 50
    with pytest.raises(ParameterError, match="have to be given"):
        ImageClassificationSpec(partition=IidPartition()).build(2, 1)
