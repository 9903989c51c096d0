"""The files that claims share with other commands: the comparison, and the base experiments of the studies."""

from dataclasses import replace
from pathlib import Path

import orchestrator
from orchestrator.campaigns.claims.claim import ClaimsMode
from orchestrator.campaigns.claims.errors import ClaimsError
from orchestrator.campaigns.compare import Comparison, load_comparison

_COMPARISON = "compare-logistic.yaml"
_NO_CLOCK = "simulate.driver=lock-step"
"""Rounds and bytes are asked for, not seconds."""
_SMALL = ("problem.n=200", "problem.samples=100", "problem.test_samples=200", "stop.iterations=300")
"""What quick mode changes in the comparison. Nodes and graph stay, for they decide how many neighbours are averaged;
and so do the samples to a dimension."""


def comparison(mode: ClaimsMode, seeds: tuple[int, ...]) -> Comparison:
    """The comparison that two claims rest on: the one of the paper's logistic regression."""
    settings = (_NO_CLOCK, *(_SMALL if mode is ClaimsMode.QUICK else ()))
    return replace(load_comparison(_file(_COMPARISON), settings), seeds=seeds)


def study_file(name: str) -> Path:
    """The base experiment of a study."""
    return _file(f"study-{name}.yaml")


def _file(name: str) -> Path:
    """In the folder where the user is, or where the testbed is."""
    here = Path("experiments") / name
    there = Path(orchestrator.__file__).parent.parent / here
    found = next((path for path in (here, there) if path.is_file()), None)
    if found is None:
        raise ClaimsError(f"there is no {here} here: run this in the folder of the testbed, or choose with --only")
    return found
