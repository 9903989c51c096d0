"""class_counts.json: the samples of each node by class, as they were shared out; a damaged file reads as none."""

from pathlib import Path

import pytest

from orchestrator.results import RunFolder
from orchestrator.results.class_counts import FILE, class_counts_of, partition_words, read_class_counts
from pame import problems
from pame.partitions import ClassesPartition, DirichletPartition, IidPartition, Partition
from pame.problems import LinearSpec
from tests.orchestrator.report.builders import change_file
from tests.pame.partition_oracle import slow_by_node, slow_classes
from tests.pame.vision.builders import data_set, problem


def written(folder: Path, **settings: object) -> Path:
    with RunFolder(folder) as run:
        run.write_class_counts(problem(nodes=3, seed=5, **settings))  # type: ignore[arg-type]
    return folder


def test_the_file_holds_the_counts_of_the_partition(tmp_path: Path) -> None:
    labels = data_set().train.labels.tolist()
    expected = [
        [sum(labels[index] == number for index in share) for number in range(4)]
        for share in slow_classes(labels, 4, 3, 5, 2)
    ]
    found = read_class_counts(written(tmp_path, partition=ClassesPartition(classes=2)))
    assert found is not None
    assert found.table is not None
    assert found.table.tolist() == expected
    assert (found.data, found.classes, found.samples) == ("stripes", tuple("abcd"), 160)


def test_samples_that_nobody_has_are_told() -> None:
    labels = data_set().train.labels.tolist()
    sizes = [len(share) for share in slow_by_node(labels, 4, 3, 5, 0.5)]
    counted = class_counts_of(problem(nodes=3, seed=5, partition=DirichletPartition(by="node")))
    assert counted is not None
    assert sizes == [53] * 3
    assert counted.words.startswith(
        "stripes, dirichlet, beta 0.5, by node, least 10: 159 of 160 samples on 3 nodes, 53 on each, of "
    )


def test_of_few_training_samples_only_these_are_shared_out() -> None:
    counted = class_counts_of(problem(nodes=3, seed=5, train_samples=50))
    assert counted is not None
    assert counted.words == "stripes, iid: 50 of 160 samples on 3 nodes, 16 to 17 on each, of 4 classes"


def test_a_problem_without_classes_leaves_no_file(tmp_path: Path) -> None:
    with RunFolder(tmp_path) as run:
        run.write_class_counts(problems.build(LinearSpec(n=3, samples=4), 2, 1))
    assert not (tmp_path / FILE).exists()
    assert read_class_counts(tmp_path) is None


@pytest.mark.parametrize(
    "counts", [None, [], [[1, 2, 3]], [[1, 2, 3, -4]], [[1, 2, 3, "4"]], [[1, 2, 3, 4.5]], [1, 2], [[1, 2, 3, 2**40]]]
)
def test_a_table_that_is_none_reads_as_nothing(tmp_path: Path, counts: object) -> None:
    change_file(written(tmp_path) / FILE, counts=counts)
    assert read_class_counts(tmp_path) is None


def test_a_file_that_was_cut_short_reads_as_nothing(tmp_path: Path) -> None:
    path = written(tmp_path) / FILE
    path.write_text(path.read_text()[:-20])
    assert read_class_counts(tmp_path) is None


@pytest.mark.parametrize(
    ("partition", "words"),
    [
        (IidPartition(), "iid"),
        (ClassesPartition(classes=3), "classes, 3 per node"),
        (DirichletPartition(beta=0.3, least=5), "dirichlet, beta 0.3, by class, least 5"),
    ],
)
def test_a_partition_has_words(partition: Partition, words: str) -> None:
    assert partition_words(partition) == words
