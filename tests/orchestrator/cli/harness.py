"""What the tests of the command share."""

import subprocess
from collections.abc import Callable

Pame = Callable[..., subprocess.CompletedProcess[str]]
"""Calls `pame` with these arguments in an empty folder."""

SMALL = """
nodes: 6
topology: {kind: ring}
problem: {kind: linear, n: 12, samples: 20, test_samples: 50}
algorithm: {kind: pame, participation: 1.0, support: 0.5, step: {kind: fixed, eta: 0.05, gamma: 1.0}}
period: 2
evaluate: {every: 5}
stop: {iterations: 20}
"""
