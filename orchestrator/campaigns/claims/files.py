"""The files that claims share with other commands: the comparison, and the base experiments of the studies."""

from dataclasses import replace
from pathlib import Path

from orchestrator.campaigns.claims.claim import ClaimsMode
from orchestrator.campaigns.compare import Comparison, load_comparison
from orchestrator.campaigns.options import shipped_file

_COMPARISON = "compare-logistic.yaml"
_INSTEAD = "run this in the folder of the testbed, or choose with --only"
_NO_CLOCK = "simulate.driver=lock-step"
"""Rounds and bytes are asked for, not seconds."""
_SMALL = ("problem.n=200", "problem.samples=100", "problem.test_samples=200", "stop.iterations=300")
"""What quick mode changes in the comparison. Nodes and graph stay, for they decide how many neighbours are averaged;
and so do the samples to a dimension."""


def comparison(mode: ClaimsMode, seeds: tuple[int, ...]) -> Comparison:
    """The comparison that two claims rest on: the one of the paper's logistic regression."""
    settings = (_NO_CLOCK, *(_SMALL if mode is ClaimsMode.QUICK else ()))
    return replace(load_comparison(shipped_file(_COMPARISON, _INSTEAD), settings), seeds=seeds)


def study_file(name: str) -> Path:
    return shipped_file(f"study-{name}.yaml", _INSTEAD)
