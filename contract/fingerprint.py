"""What must be equal for two machines to compute the same bits: draws, a gradient, library builds."""

import hashlib
import platform
from functools import cache

import numpy as np

from pame.data_set import DataSet, Samples, facts_of
from pame.problems import ImageClassificationSpec, LinearSpec, LogisticSpec, Problem, ProblemInputs, build
from pame.problems.image_classification import ImageClassification
from pame.randomness import Key, Purpose, integers, normals, permutation, subset


def fingerprint() -> str:
    """Hexadecimal; equal ones give equal runs."""
    digest = hashlib.sha256()
    key = Key(1, Purpose.SUPPORT, node=2, iteration=3)
    for drawn in (subset(key, 1000, 200), subset(key, 40_000, 8_000), permutation(key, 100), normals(key, 1000)):
        digest.update(drawn.astype(drawn.dtype.newbyteorder("<")).tobytes())
    for spec in (LinearSpec(n=301, samples=57, test_samples=1), LogisticSpec(n=301, samples=57, test_samples=1)):
        model = normals(Key(1, Purpose.TRUTH), 301)
        digest.update(build(spec, 2, 1).local(1).gradient(model, 0).astype("<f8").tobytes())
    digest.update(f"{np.__version__} {platform.machine()}".encode())
    return digest.hexdigest()[:32]


def fingerprint_for(problem: Problem) -> str:
    """What must be equal beside `fingerprint` where this problem is computed; empty: nothing."""
    return _of_torch() if isinstance(problem, ImageClassification) else ""


@cache
def _of_torch() -> str:
    """A start and a gradient of a small network; torch's build, and the instructions that it uses here."""
    import torch

    pixels = integers(Key(1, Purpose.FEATURES), 24 * 12 * 12 * 3, 256).astype(np.uint8).reshape(24, 12, 12, 3)
    samples = Samples(pixels, np.arange(24, dtype=np.int64) % 4)
    data = DataSet(facts_of("reference", ("a", "b", "c", "d"), samples, samples), samples, samples)
    problem = build(ImageClassificationSpec(), 1, 1, ProblemInputs(data))
    digest = hashlib.sha256(problem.start.astype("<f8").tobytes())
    digest.update(problem.local(0).full_gradient(problem.start).astype("<f8").tobytes())
    digest.update(f"{torch.__version__} {torch.backends.cpu.get_cpu_capability()}".encode())
    return digest.hexdigest()[:32]
