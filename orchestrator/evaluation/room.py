"""How much room the models take that a run keeps to be judged later, before it begins."""

import shutil
from dataclasses import dataclass
from pathlib import Path

from orchestrator.errors import TooLittleDisk, writing
from orchestrator.evaluation.kept_models import LEAST_FREE, number_type
from orchestrator.experiment import Experiment
from orchestrator.experiment.resolve import is_judged_after
from orchestrator.number_words import count, volume
from pame.evaluate import OWN_AT_MOST
from pame.problems import Problem


@dataclass(frozen=True)
class KeptRoom:
    """At most: a model that several points have is kept once."""

    points: int | None
    """Of all curves; None: only the seconds end the run, nobody knows how many."""
    point_bytes: int

    @property
    def bytes(self) -> int:
        return self.point_bytes * (2 if self.points is None else self.points)


def room_of(experiment: Experiment, problem: Problem, driver: str | None) -> KeptRoom | None:
    """None: nothing is kept. `driver`: of the simulator; None on a network."""
    if not is_judged_after(experiment):
        return None
    curves = 1 if driver in ("lock-step", "vectorised") else 2
    iterations = experiment.stop.iterations
    points = None if iterations is None else curves * (2 + (iterations - 1) // experiment.evaluate.every)
    models = 1 + (min(experiment.nodes, OWN_AT_MOST) if experiment.evaluate.own_models else 0)
    return KeptRoom(points, models * problem.n * number_type(problem).itemsize)


def said_of_room(experiment: Experiment, problem: Problem, driver: str | None) -> str:
    """One line; empty if nothing is kept."""
    room = room_of(experiment, problem, driver)
    if room is None:
        return ""
    if room.points is None:
        return f"models are evaluated after the run; until then each point keeps at most {volume(room.point_bytes)}"
    points = count(room.points, "point")
    return f"models are evaluated after the run; until then {points} keep at most {volume(room.bytes)} on the disk"


def require_room(
    experiment: Experiment, problem: Problem, driver: str | None, root: Path, free: int | None = None
) -> None:
    """Refuse what the disk cannot keep. `root`: where run folders go; `free`: bytes there, not as the system says."""
    room = room_of(experiment, problem, driver)
    if room is None:
        return
    if free is None:
        with writing(root):
            root.mkdir(parents=True, exist_ok=True)
            free = shutil.disk_usage(root).free
    if room.bytes + LEAST_FREE > free:
        points = "each point" if room.points is None else count(room.points, "point")
        raise TooLittleDisk(
            f"evaluate.when: {points} would keep {volume(room.bytes)} of models until the run is over, and {root} has "
            f"{volume(max(free - LEAST_FREE, 0))} to spare: give a larger evaluate.every, or evaluate.when=during"
        )
