"""Models judged after the run, so that judging does not disturb what is measured.

    kept_models.py   the models of all points on the disk, and back     room.py      how much they take
    judge.py         processes that judge them, the curve in order      worker.py    one such process
    after_run.py     around it: the summary, what is left undone, and finishing it later

May import: `orchestrator.results`, `orchestrator.experiment`, `contract`, `pame`.
"""

from orchestrator.evaluation.after_run import evaluate_after_run, finish_evaluation
from orchestrator.evaluation.kept_models import KeptModels, model_store
from orchestrator.evaluation.room import require_room, said_of_room

__all__ = [
    "KeptModels",
    "evaluate_after_run",
    "finish_evaluation",
    "model_store",
    "require_room",
    "said_of_room",
]
