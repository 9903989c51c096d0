"""What a run needs of its nodes, and whether those that are there can do it."""

from collections.abc import Collection, Set
from pathlib import Path

from orchestrator.control.members import Member
from orchestrator.errors import NotEnoughNodes
from orchestrator.experiment import Experiment
from pame.problems import ImageClassificationSpec
from pame.problems.network_specs import ModuleSpec


def needs(experiment: Experiment) -> set[str]:
    """What a node must be able to run, as it says itself when it joins."""
    found = {f"algorithm:{experiment.algorithm.kind}", f"problem:{experiment.problem.kind}"}
    model = getattr(experiment.problem, "model", None)
    if isinstance(model, ModuleSpec):
        file, _, name = model.module.rpartition(":")
        found.add(f"module:{Path(file).name}:{name}")
    return found


def require_abilities(there: Collection[Member], needed: Set[str], count: int) -> None:
    """NotEnoughNodes if enough nodes are there, and too few of them can do what is needed."""
    if len(there) < count:
        return
    for ability in sorted(needed):
        cannot = sum(ability not in member.capabilities for member in there)
        if len(there) - cannot < count:
            raise NotEnoughNodes(f"{cannot} of the {len(there)} nodes that are here {_lack(ability)}")


def _lack(ability: str) -> str:
    kind, _, name = ability.partition(":")
    if ability == f"problem:{ImageClassificationSpec.kind}":
        return (
            "have no torch: start nodes that have it (containers: PAME_NODE_TARGET=node-torch docker compose up; "
            "elsewhere: pip install '.[vision]')"
        )
    return f"do not have the {kind} {name}: give its file to every node (PAME_PLUGINS)"
