"""Judging when the run is over: the curve grows, then the summary is completed and what was kept is removed.

Whatever ends it before, a killed process included, leaves what has been judged and keeps the rest: `pame report`
finishes it.
"""

import shutil
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from orchestrator.errors import EvaluationFailed, writing
from orchestrator.evaluation.judge import EvaluationStopped, evaluations
from orchestrator.evaluation.kept_models import FOLDER, KeptRun, locked, read_kept
from orchestrator.results import Ending, Status
from orchestrator.results.points import read_curve
from orchestrator.results.summary import FILE, FinalFigures, LateEvaluation, RunSummary, read_summary
from orchestrator.results.typed_json import to_text, write_json
from pame.errors import Diverged
from pame.evaluate import Growth
from pame.observe import Evaluation

Progress = Callable[[int, int], None]
"""Points that are judged, of how many."""
Tell = Callable[[Evaluation], object]
_BY_USER = "stopped by the user while models were evaluated"


@dataclass
class _Progressed:
    """How far it came, and why not further."""

    last: Evaluation | None = None
    evaluated: int = 0
    diverged: str = ""
    stopped: str = ""


def evaluate_after_run(
    folder: Path,
    ending: Ending,
    tell: Tell,
    progress: Progress,
    is_stopped: Callable[[], bool] = lambda: False,
) -> Ending:
    """Of a run whose summary is written; `tell` puts each point where curves are kept. How the run ends with it."""
    kept = read_kept(folder)
    if kept is None or ending.status is Status.INTERRUPTED:
        return ending
    work = _finish(folder, kept, (), tell, progress, is_stopped)
    if work.diverged:
        return replace(ending, status=Status.DIVERGED, reason=work.diverged, exact=False)
    if work.stopped:
        left = f"{work.evaluated} of {len(kept.points)} points are evaluated: `pame report {folder}` does the rest"
        status = Status.INTERRUPTED if work.stopped == _BY_USER else Status.FAILED
        return replace(ending, status=status, reason=f"{work.stopped}; {left}")
    return ending


def finish_evaluation(folder: Path, progress: Progress) -> bool:
    """Of a run that was killed, or stopped while it was judged; False if somebody else is at it."""
    if read_kept(folder) is None:
        return True
    lock = locked(folder / FOLDER)
    if lock is None:
        return False
    path = folder / "curve.jsonl"
    with lock, writing(path):
        kept = read_kept(folder)
        if kept is None:  # whoever had the lock before has done it
            return True
        before = read_curve(folder)
        path.write_text("".join(to_text(point) + "\n" for point in before), encoding="utf-8")  # without a cut line
        with path.open("a", encoding="utf-8", buffering=1) as curve:
            work = _finish(folder, kept, before, lambda point: curve.write(to_text(point) + "\n"), progress)
    if work.stopped == _BY_USER:
        raise KeyboardInterrupt
    if work.stopped:
        raise EvaluationFailed(f"{work.stopped}; {work.evaluated} of {len(kept.points)} points are evaluated")
    return True


def _finish(
    folder: Path,
    kept: KeptRun,
    before: Sequence[Evaluation],
    tell: Tell,
    progress: Progress,
    is_stopped: Callable[[], bool] = lambda: False,
) -> _Progressed:
    work, growth = _Progressed(before[-1] if before else None, len(before)), Growth()
    started, cpu_s = time.perf_counter(), dict[int, float]()
    try:
        progress(work.evaluated, len(kept.points))
        if before:
            growth.check(before[0].objective, before[0].iteration)
        for point in evaluations(folder, kept, len(before), is_stopped, cpu_s):
            tell(point)
            work.last, work.evaluated = point, work.evaluated + 1
            progress(work.evaluated, len(kept.points))
            growth.check(point.objective, point.iteration)
    except Diverged as error:
        work.diverged = str(error)
    except (EvaluationStopped, KeyboardInterrupt):
        work.stopped = _BY_USER
    except EvaluationFailed as error:
        work.stopped = str(error)
    if (summary := read_summary(folder)) is not None:
        took_s = time.perf_counter() - started
        write_json(folder / FILE, _completed(summary, kept, work, took_s, sum(cpu_s.values())))
    if not work.stopped:
        shutil.rmtree(kept.path, ignore_errors=True)
    return work


def _completed(summary: RunSummary, kept: KeptRun, work: _Progressed, took_s: float, cpu_s: float) -> RunSummary:
    former = summary.evaluation or LateEvaluation()
    late = replace(
        former,
        points=work.evaluated if work.diverged else len(kept.points),
        evaluated=work.evaluated,
        seconds=(former.seconds or 0.0) + took_s,
        cpu_s=(former.cpu_s or 0.0) + cpu_s,
        bytes=kept.bytes,
    )
    summary = replace(summary, evaluation=late)
    if work.diverged:
        summary = replace(summary, status=Status.DIVERGED.value, reason=work.diverged, exact=False)
    last = work.last
    if work.stopped or last is None:
        return summary
    return replace(summary, final=FinalFigures(last.objective, last.consensus, last.metrics, last.own))
