"""A user's mistakes with data, partitions and networks, told by the command in one line that says what to do."""

import sys
from pathlib import Path

import numpy as np
import pytest

from tests.command import mistake, told
from tests.contract.data_builders import small_images, store
from tests.orchestrator.cli.harness import Pame
from tests.orchestrator.data.builders import write_idx
from tests.pame.vision.builders import data_set, table

EXPERIMENT = """
nodes: 4
topology: {{kind: ring}}
problem: {{kind: image-classification, batch: 4, {problem}}}
algorithm: {{kind: dpsgd, eta: 0.1}}
stop: {{iterations: 2}}
"""
STRIPES = "data: stripes"
SOFTMAX = "model: {kind: softmax}"

CASES = {
    "nothing prepared": ("data: fashion-mnist", "data set fashion-mnist is not prepared: run `pame data prepare fashi"),
    "own data not prepared": ("data: mine", "not prepared: run `pame data prepare table --from FILE --name mine`"),
    "more classes than there are": (
        f"{STRIPES}, partition: {{kind: classes, classes: 5}}",
        "problem.partition.classes: 5 classes per node, but the data has 4: use at most 4",
    ),
    "a least that cannot be": (
        f"{STRIPES}, partition: {{kind: dirichlet, least: 41}}",
        "problem.partition.least: 4 nodes cannot have 41 of 160 samples each: use at most 40",
    ),
    "a least that no draw reaches": (
        f"{STRIPES}, partition: {{kind: dirichlet, beta: 0.5, least: 39}}",
        "problem.partition.least: in 100 draws with beta 0.5 some node always had fewer than 39 samples",
    ),
    "more samples than there are": (
        f"{STRIPES}, train_samples: 161", "problem.train_samples: 161 of 160 samples: give at most 160",
    ),
    "fewer samples than nodes": (
        f"{STRIPES}, train_samples: 3", "nodes: 4 nodes cannot share 3 samples: use at most 3",
    ),
    "classes with few samples": (
        f"{STRIPES}, train_samples: 4, partition: {{kind: classes}}",
        "problem.partition.classes: node 2 would have no sample, because its classes have fewer samples than nodes",
    ),
    "a table and a cnn": ("data: rows", "cnn (small) needs images, and rows is a table: use softmax or module"),
    "pictures too small": ("data: shapes", "cnn (small) needs images of 8x8 at least, not 4x5"),
    "crops of a table": (
        f"data: rows, {SOFTMAX}, augmentation: crop-flip", "a table, which cannot be cropped: use none",
    ),
    "a module that is nowhere": (
        f"{STRIPES}, model: {{kind: module, module: none.py:Net}}",
        "problem.model.module: no file 'none.py' beside the experiment file, and no plugin, offers 'Net'",
    ),
}  # fmt: skip

MODULE = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self, {arguments}):
        super().__init__()
        {made}

    def forward(self, images):
        return {scores}

MODULES = [Net]
"""
LAST = "self.last = nn.Linear(64, classes)"
SCORES = "self.last(images.flatten(1))"
MODULES = {
    "no parameters": ("", "images.flatten(1)", "the module has no parameters"),
    "batch norm": (
        f"self.norm = nn.BatchNorm2d(1); {LAST}", "self.last(self.norm(images).flatten(1))",
        "buffers (norm.running_mean), such as BatchNorm's running statistics: they are no parameters, so no message",
    ),
    "complex": (
        "self.last = nn.Linear(64, classes, dtype=torch.complex64)", SCORES,
        "a module with complex or sparse parameters is no flat vector of numbers",
    ),
    "lazy": ("self.last = nn.LazyLinear(classes)", SCORES, "the module has lazy layers: give them their sizes"),
    "a wrong shape": (
        "self.last = nn.Linear(64, classes + 3)", SCORES,
        "of 2 samples the module makes (2, 7), not (2, 4): a score for each class",
    ),
    "no tensor": (LAST, f"[{SCORES}]", "of 2 samples the module makes list, not (2, 4)"),
    "scores without a gradient": (
        LAST, f"{SCORES}.detach()", "the module's scores are no real numbers that follow from its parameters",
    ),
    "an error when it is made": (
        "self.last = nn.Linear(64, missing)", SCORES, "fails: NameError: name 'missing' is not defined (",
    ),
    "an error when it is called": (
        "self.last = nn.Linear(63, classes)", SCORES,
        "fails: RuntimeError: mat1 and mat2 shapes cannot be multiplied (2x64 and 63x4) (",
    ),
    "other arguments": ("", SCORES, "fails: TypeError: "),
}  # fmt: skip


@pytest.fixture(autouse=True)
def prepared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = tmp_path / "data"
    monkeypatch.setenv("PAME_DATA", str(root))
    monkeypatch.setenv("PAME_PLUGINS", "")
    for data in (data_set(), table(), small_images()):
        store(root, data)
    return root


def complaint(pame: Pame, folder: Path, problem: str) -> str:
    """Of `pame validate`, and that nothing else was said or left."""
    (folder / "bad.yaml").write_text(EXPERIMENT.format(problem=problem))
    line = mistake(pame("validate", "bad.yaml"))
    assert not (folder / "runs").exists()
    return line


@pytest.mark.parametrize("case", CASES)
def test_a_mistake_is_one_line_with_what_to_do(case: str, pame: Pame, tmp_path: Path) -> None:
    problem, fix = CASES[case]
    assert fix in complaint(pame, tmp_path, problem)


@pytest.mark.parametrize("case", MODULES)
def test_a_module_that_cannot_be_trained_is_refused_before_the_run(case: str, pame: Pame, tmp_path: Path) -> None:
    made, scores, why = MODULES[case]
    arguments = "shape" if case == "other arguments" else "shape, classes"
    file = tmp_path / f"bad_{case.replace(' ', '_')}.py"
    file.write_text(MODULE.format(arguments=arguments, made=made, scores=scores))
    assert why in complaint(pame, tmp_path, f"{STRIPES}, model: {{kind: module, module: {file.name}:Net}}")


def test_a_class_that_is_no_module_is_refused(pame: Pame, tmp_path: Path) -> None:
    (tmp_path / "bad_no_module.py").write_text("class Net:\n    def __init__(self, *_): pass\nMODULES = [Net]\n")
    line = complaint(pame, tmp_path, f"{STRIPES}, model: {{kind: module, module: bad_no_module.py:Net}}")
    assert "bad_no_module.py:Net is no torch.nn.Module: derive your class from it" in line


def test_a_table_with_a_class_for_tests_alone_is_refused(pame: Pame, tmp_path: Path) -> None:
    file = tmp_path / "gap.npz"
    features = np.arange(80.0).reshape(40, 2)
    np.savez(file, features=features, labels=["a", "c"] * 20, test_features=features[:3], test_labels=["a", "b", "c"])
    line = mistake(pame("data", "prepare", "table", "--from", file))
    assert line.endswith("the class 'b' of test_labels has no training sample: add some")


def test_files_with_other_sums_are_refused_and_nothing_is_kept(pame: Pame, tmp_path: Path, prepared: Path) -> None:
    write_idx(tmp_path / "idx", zipped=True)
    done = pame("data", "prepare", "fashion-mnist", "--from", tmp_path / "idx")
    assert done.returncode != 0
    [line] = done.stderr.splitlines()
    assert "sum" in line
    assert not (prepared / "fashion-mnist").exists()


def test_without_torch_the_command_says_how_to_get_it(
    pame: Pame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    assert "needs torch, which is not installed here: pip install '.[vision]'" in complaint(pame, tmp_path, STRIPES)


def test_a_batch_larger_than_a_shard_is_allowed_and_said(pame: Pame, tmp_path: Path) -> None:
    (tmp_path / "large.yaml").write_text(EXPERIMENT.format(problem=f"{STRIPES}, train_samples: 14"))
    shown = told(pame("validate", "large.yaml"))
    assert "warning: node 2 has 3 samples, fewer than problem.batch 4: its gradients are of all of them" in shown
    assert "data: stripes, iid: 14 of 160 samples on 4 nodes, 3 to 4 on each, of 1 to" in shown
