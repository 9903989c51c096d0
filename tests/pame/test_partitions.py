"""Partitions: against a slow reimplementation, against theory, every sample at most once, and mistakes in words."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from pame.errors import ParameterError
from pame.partitions import (
    ClassesPartition,
    DirichletPartition,
    IidPartition,
    Partition,
    class_counts,
    held_classes,
    shares,
)
from pame.randomness import Key, Purpose, permutation
from tests.pame import partition_oracle as oracle

SEEDS = range(5)


def shuffled_labels(*sizes: int) -> NDArray[np.int64]:
    """So many samples of each class, in no order."""
    labels = np.repeat(np.arange(len(sizes)), sizes)
    return labels[permutation(Key(1, Purpose.LABELS), labels.size)].astype(np.int64)


LABELS = shuffled_labels(30, 41, 17, 25)


def plain(found: list[NDArray[np.int64]]) -> list[list[int]]:
    return [share.tolist() for share in found]


@pytest.mark.parametrize("seed", SEEDS)
def test_iid_agrees_with_a_slow_reimplementation(seed: int) -> None:
    assert plain(shares(IidPartition(), LABELS, 4, 6, seed)) == oracle.slow_iid(LABELS.size, 6, seed)


@pytest.mark.parametrize("per_node", [1, 2, 3, 4])
@pytest.mark.parametrize("seed", SEEDS)
def test_classes_agrees_with_a_slow_reimplementation(seed: int, per_node: int) -> None:
    found = shares(ClassesPartition(classes=per_node), LABELS, 4, 6, seed)
    assert plain(found) == oracle.slow_classes(LABELS.tolist(), 4, 6, seed, per_node)


@pytest.mark.parametrize("beta", [0.1, 0.5, 3.0])
@pytest.mark.parametrize("seed", SEEDS)
def test_dirichlet_by_class_agrees_with_a_slow_reimplementation(seed: int, beta: float) -> None:
    found = shares(DirichletPartition(beta=beta, least=4), LABELS, 4, 5, seed)
    assert plain(found) == oracle.slow_by_class(LABELS.tolist(), 4, 5, seed, beta, 4)


@pytest.mark.parametrize("beta", [0.002, 0.1, 0.5, 3.0])
@pytest.mark.parametrize("seed", SEEDS)
def test_dirichlet_by_node_agrees_with_a_slow_reimplementation(seed: int, beta: float) -> None:
    found = shares(DirichletPartition(beta=beta, by="node", least=1), LABELS, 4, 6, seed)
    assert plain(found) == oracle.slow_by_node(LABELS.tolist(), 4, 6, seed, beta)


def shares_or_mistake(
    spec: Partition, labels: NDArray[np.int64], classes: int, nodes: int, seed: int
) -> list[NDArray[np.int64]] | str:
    try:
        return shares(spec, labels, classes, nodes, seed)
    except ParameterError as error:
        return str(error)


SPECS = st.one_of(
    st.just(IidPartition()),
    st.builds(ClassesPartition, classes=st.integers(1, 5)),
    st.builds(
        DirichletPartition, beta=st.floats(0.001, 100.0), by=st.sampled_from(["class", "node"]), least=st.integers(1, 4)
    ),
)


@given(
    spec=SPECS, sizes=st.lists(st.integers(0, 30), min_size=1, max_size=6), nodes=st.integers(1, 9),
    seed=st.integers(0, 2**63),
)  # fmt: skip
def test_every_sample_is_used_at_most_once_and_counts_add_up_or_the_mistake_is_named(
    spec: Partition, sizes: list[int], nodes: int, seed: int
) -> None:
    labels = shuffled_labels(*sizes)
    found = shares_or_mistake(spec, labels, len(sizes), nodes, seed)
    if isinstance(found, str):
        assert found.startswith(("partition.", "nodes:"))
        return
    used = np.concatenate(found)
    assert len(found) == nodes
    assert np.unique(used).size == used.size
    assert np.all((used >= 0) & (used < labels.size))
    assert all(np.all(np.diff(share) > 0) for share in found)
    assert min(share.size for share in found) >= (spec.least if isinstance(spec, DirichletPartition) else 1)
    counts = class_counts(found, labels, len(sizes))
    assert counts.shape == (nodes, len(sizes))
    assert counts.sum(axis=1).tolist() == [share.size for share in found]
    assert np.all(counts.sum(axis=0) <= sizes)
    if isinstance(spec, IidPartition) or (isinstance(spec, DirichletPartition) and spec.by == "class"):
        assert counts.sum(axis=0).tolist() == sizes


def test_with_sixteen_nodes_and_two_classes_each_sizes_are_as_the_rule_says() -> None:
    """Of 6000 samples a class and h holders, each has 6000 / h."""
    labels = np.repeat(np.arange(10), 6000)
    found = shares(ClassesPartition(classes=2), labels, 10, 16, seed=1)
    held = held_classes(ClassesPartition(classes=2), 10, 16, seed=1)
    counts = class_counts(found, labels, 10)
    for node in range(16):
        assert np.flatnonzero(counts[node]).tolist() == held[node].tolist()
        assert node % 10 in held[node]
        for number in held[node]:
            assert counts[node, number] == 6000 // sum(number in other for other in held)


def test_the_other_classes_of_a_node_are_uniform() -> None:
    """Each of 9 others in 4000 draws of 3: mean 4000/3 with deviation 30; five of them off: 5e-6 for nine."""
    drawn = [held_classes(ClassesPartition(classes=4), 10, 1, seed)[0] for seed in range(4000)]
    counts = np.bincount(np.concatenate(drawn), minlength=10)
    assert counts[0] == 4000
    assert np.all(np.abs(counts[1:] - 4000 / 3) < 5 * np.sqrt(4000 * (1 / 3) * (2 / 3)))


def test_iid_shares_have_the_mix_of_the_whole() -> None:
    """Counts are hypergeometric; 5 deviations in 160 of them: a false alarm in 10,000 seeds; it is fixed."""
    labels = np.repeat(np.arange(10), 6000)
    counts = class_counts(shares(IidPartition(), labels, 10, 16, seed=4), labels, 10)
    assert np.all(np.abs(counts - 375) < 5 * np.sqrt(3750 * 0.1 * 0.9))


@pytest.mark.parametrize("beta", [0.3, 2.0])
def test_by_class_the_share_of_a_node_has_the_moments_of_a_dirichlet_component(beta: float) -> None:
    """p_i ~ Beta(beta, (m - 1) beta): mean 1/m, variance (m - 1) / (m^2 (m beta + 1)).

    300 seeds x 10 classes of node 0, no redraw: five standard errors each, a false alarm in a million.
    """
    nodes, size = 8, 2000
    labels = np.repeat(np.arange(10), size)
    spec = DirichletPartition(beta=beta, least=1)
    drawn = np.concatenate(
        [class_counts(shares(spec, labels, 10, nodes, seed), labels, 10)[0] / size for seed in range(300)]
    )
    variance = (nodes - 1) / (nodes**2 * (nodes * beta + 1))
    assert drawn.mean() == pytest.approx(1 / nodes, abs=5 * np.sqrt(variance / drawn.size) + 1 / size)
    error = np.sqrt(np.var((drawn - 1 / nodes) ** 2) / drawn.size)
    assert np.mean((drawn - 1 / nodes) ** 2) == pytest.approx(variance, abs=5 * error + 1e-4)


@pytest.mark.parametrize("beta", [0.3, 2.0])
def test_by_node_the_mix_of_a_node_has_the_moments_of_a_dirichlet_component(beta: float) -> None:
    """The counts of a node with s samples are Dirichlet-multinomial, as long as no class runs out:

    mean s/K, variance s (1/K)(1 - 1/K) (s + K beta) / (1 + K beta). Of many nodes the mixes average out: classes
    run out for the last few turns only: 2 % of the variance is allowed for that. 2000 nodes x 5 classes, five standard
    errors: a false alarm in a million.
    """
    classes, taken, nodes = 5, 10, 2000
    labels = np.repeat(np.arange(classes), nodes * taken // classes)
    counts = class_counts(
        shares(DirichletPartition(beta=beta, by="node"), labels, classes, nodes, seed=5), labels, classes
    )
    variance = taken * (1 / classes) * (1 - 1 / classes) * (taken + classes * beta) / (1 + classes * beta)
    squares = (counts - taken / classes) ** 2
    assert counts.mean() == taken / classes
    allowed = 5 * squares.std() / np.sqrt(squares.size) + 0.02 * variance
    assert squares.mean() == pytest.approx(variance, abs=allowed)


def test_by_node_all_have_the_same_number_of_samples_and_some_samples_stay() -> None:
    found = shares(DirichletPartition(beta=0.3, by="node", least=1), LABELS, 4, 6, seed=0)
    assert [share.size for share in found] == [18] * 6  # of 113


def test_another_seed_gives_another_partition() -> None:
    for spec in (IidPartition(), ClassesPartition(), DirichletPartition(), DirichletPartition(by="node")):
        assert plain(shares(spec, LABELS, 4, 4, 0)) != plain(shares(spec, LABELS, 4, 4, 1))
        assert plain(shares(spec, LABELS, 4, 4, 0)) == plain(shares(spec, LABELS, 4, 4, 0))


@pytest.mark.parametrize(
    ("spec", "sizes", "nodes", "message"),
    [
        (ClassesPartition(classes=5), (9, 9), 2, "partition.classes: 5 classes per node, but the data has 2: use at "),
        (IidPartition(), (1, 2), 4, "nodes: 4 nodes cannot share 3 samples: use at most 3"),
        (ClassesPartition(classes=1), (9, 0, 9), 2, "partition.kind: classes: class 1 has no training sample: use par"),
        (DirichletPartition(), (90, 0), 2, "partition.kind: dirichlet: class 1 has no training sample: use partition."),
        (DirichletPartition(least=31), (30, 31), 2, "partition.least: 2 nodes cannot have 31 of 61 samples each: use "),
        (ClassesPartition(classes=1), (2, 9), 6, "partition.classes: node 4 would have no sample, because its classes"),
    ],
)  # fmt: skip
def test_a_mistake_is_one_line_with_the_key_and_a_value_that_works(
    spec: Partition, sizes: tuple[int, ...], nodes: int, message: str
) -> None:
    with pytest.raises(ParameterError) as caught:
        shares(spec, shuffled_labels(*sizes), len(sizes), nodes, seed=0)
    assert str(caught.value).startswith(message)
    assert "\n" not in str(caught.value)


def test_what_is_refused_for_too_few_samples_names_values_that_work() -> None:
    labels = shuffled_labels(*[60] * 10)
    spec = DirichletPartition(beta=0.05, least=20)
    with pytest.raises(ParameterError) as caught:
        shares(spec, labels, 10, 16, seed=0)
    words = str(caught.value)
    assert words.startswith("partition.least: in 100 draws with beta 0.05 some node always had fewer than 20 samples")
    beta = float(words.partition("partition.beta: ")[2].split()[0])
    least = int(words.partition("use partition.least: ")[2].split()[0])
    for works in (
        DirichletPartition(beta=beta, least=20),
        DirichletPartition(beta=0.05, least=least),
        DirichletPartition(beta=0.05, by="node", least=20),
    ):
        assert min(share.size for share in shares(works, labels, 10, 16, seed=0)) >= works.least


def test_labels_beyond_the_classes_are_refused() -> None:
    with pytest.raises(ParameterError, match="labels are from 0 to 3: with 3 classes, use 0 to 2"):
        shares(IidPartition(), LABELS, 3, 2, 0)
