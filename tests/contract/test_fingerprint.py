"""What two machines must have in common; of torch only where a run needs it."""

import subprocess
import sys

import pytest

from contract import fingerprint
from pame.network_specs import SoftmaxSpec
from pame.problems import ImageClassificationSpec, LinearSpec, ProblemInputs, build
from tests.pame.vision.builders import data_set


def test_a_run_without_networks_asks_for_nothing_of_torch() -> None:
    code = """
import sys
from contract.fingerprint import fingerprint, fingerprint_for
from pame.problems import LinearSpec, build
print(len(fingerprint()), repr(fingerprint_for(build(LinearSpec(), 2, 1))), 'torch' in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["32", "''", "False"]


def test_another_build_of_torch_has_another_fingerprint(monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    spec = ImageClassificationSpec(data="stripes", model=SoftmaxSpec())
    network = build(spec, 2, 1, ProblemInputs(data_set()))
    fingerprint._of_torch.cache_clear()
    ours = fingerprint.fingerprint_for(network)
    assert len(ours) == 32
    fingerprint._of_torch.cache_clear()
    assert fingerprint.fingerprint_for(network) == ours
    monkeypatch.setattr(torch, "__version__", "2.12.0")
    fingerprint._of_torch.cache_clear()
    assert fingerprint.fingerprint_for(network) != ours
    fingerprint._of_torch.cache_clear()
    assert fingerprint.fingerprint_for(build(LinearSpec(), 2, 1)) == ""
