"""class_counts.json: how many training samples of each class each node has."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, assert_never

import numpy as np
from numpy.typing import NDArray

from orchestrator.number_words import number
from orchestrator.results.files import read_object_if_whole
from orchestrator.results.typed_json import from_json
from pame.partitions import ClassesPartition, DirichletPartition, IidPartition, Partition
from pame.problems import Problem
from pame.problems.image_classification import ImageClassification, PartitionedData

FILE = "class_counts.json"
_MOST = 2**31
"""Samples of one class, and cells of a table."""


@dataclass(frozen=True)
class ClassCounts:
    """The names of the fields are the keys of the file."""

    data: str = ""
    sha256: str = ""
    """Of all samples of that data set."""
    partition: str = ""
    """In words."""
    samples: int = 0
    """Of the whole training set, shared out or not."""
    classes: Sequence[str] = ()
    counts: Sequence[Any] = ()
    """A row per node, a column per class."""

    @cached_property
    def table(self) -> NDArray[np.int64] | None:
        """None if the rows are no table of numbers of samples."""
        width = len(self.classes)
        if not (width and self.counts and width * len(self.counts) <= _MOST):
            return None
        if not all(isinstance(row, list) and len(row) == width for row in self.counts):
            return None
        if not all(type(count) is int and 0 <= count < _MOST for row in self.counts for count in row):
            return None
        return np.array(self.counts, dtype=np.int64)

    @property
    def words(self) -> str:
        """One line: what is shared out, how, and how much the nodes differ."""
        table = self.table
        if table is None:
            return ""
        sizes, held = table.sum(axis=1), (table > 0).sum(axis=1)
        return (
            f"{self.data}, {self.partition}: {number(int(sizes.sum()))} of {number(self.samples)} samples on "
            f"{number(len(table))} nodes, {span(sizes)} on each, of {span(held)} classes"
        )


def class_counts_of(problem: Problem) -> ClassCounts | None:
    """Of a problem whose data is all here and has classes."""
    if not (isinstance(problem, ImageClassification) and isinstance(problem.shards, PartitionedData)):
        return None
    facts, shards = problem.facts, problem.shards
    return ClassCounts(
        facts.name,
        facts.sha256,
        partition_words(problem.spec.partition),
        shards.samples,
        facts.classes,
        shards.counts().tolist(),
    )


def partition_words(partition: Partition) -> str:
    """`dirichlet, beta 0.3, by class, least 10`."""
    match partition:
        case IidPartition():
            return partition.kind
        case ClassesPartition(classes=classes):
            return f"{partition.kind}, {classes} per node"
        case DirichletPartition(beta=beta, by=by, least=least):
            return f"{partition.kind}, beta {beta:g}, by {by}, least {least}"
        case _:
            assert_never(partition)


def span(values: NDArray[np.int64]) -> str:
    """`2 700 to 7 500`."""
    low, high = number(int(values.min())), number(int(values.max()))
    return low if low == high else f"{low} to {high}"


def read_class_counts(folder: Path) -> ClassCounts | None:
    """None if the file is missing, or no table."""
    found = from_json(ClassCounts, read_object_if_whole(folder / FILE))
    return found if found is not None and found.table is not None else None
