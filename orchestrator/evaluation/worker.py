"""`python -m orchestrator.evaluation.worker RUN_FOLDER`: judges kept models of one run, one thread, as it is asked.

A line in: {"rows": [3, 4], "is_mean": false}      A line out: {"values": […], "metrics": {name: […]}, "cpu_s": 1.2}
"""

import json
import os
import sys
import time
from functools import cache
from pathlib import Path
from typing import Any

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # before numpy

import numpy as np
from threadpoolctl import threadpool_limits

from contract.problem_inputs import build_problem
from contract.unexpected_errors import in_one_line
from orchestrator.evaluation.kept_models import KeptRun, read_kept
from orchestrator.experiment import load
from orchestrator.experiment.plugins import add_plugins
from orchestrator.experiment.resolve import load_own_module
from pame.evaluate import judge_models
from pame.problems import Problem


def main(folder: Path) -> None:
    """Answer until the other end is closed."""
    kept = read_kept(folder)
    for line in sys.stdin:
        try:
            answer = _answer(_problem(folder), kept, json.loads(line))
        except Exception as error:  # told where somebody can hear it
            answer = {"error": in_one_line(error)}
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


@cache
def _problem(folder: Path) -> Problem:
    add_plugins()
    [variant] = load(folder / "experiment.yaml")
    experiment = variant.experiment
    load_own_module(experiment, folder)
    return build_problem(experiment.problem, experiment.nodes, experiment.seed)


def _answer(problem: Problem, kept: KeptRun | None, asked: dict[str, Any]) -> dict[str, Any]:
    if kept is None:
        raise FileNotFoundError("no models are kept here")
    models = kept.models(asked["rows"])
    with np.errstate(over="ignore", invalid="ignore"):
        if asked["is_mean"]:
            values, metrics = [problem.objective(models[0])], {k: [v] for k, v in problem.metrics(models[0]).items()}
        else:
            judged = judge_models(problem, models)
            values, metrics = judged.values.tolist(), {k: v.tolist() for k, v in judged.metrics.items()}
    return {"values": values, "metrics": metrics, "cpu_s": time.process_time()}


if __name__ == "__main__":
    with threadpool_limits(1):
        main(Path(sys.argv[1]))
