"""What must be equal for two machines to compute the same bits: draws, a gradient, library builds."""

import hashlib
import platform

import numpy as np

from pame.problems import LinearSpec, LogisticSpec, build
from pame.randomness import Key, Purpose, normals, permutation, subset


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
