"""Several runs of one experiment file, each in its own process with one BLAS thread; simulations in parallel.

A sweep's folder holds a run folder per run, `sweep.json` (which keys vary, and what became of each run) and a report
that compares them. Progress is read from the run folders themselves: a run writes its curve as it goes.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any

from orchestrator.backends import BACKENDS
from orchestrator.campaigns.process_pool import cores, end_processes, process_pool, starting_processes, told_to_end
from orchestrator.control import NetworkState
from orchestrator.errors import RunFailed, RunKilled, writing
from orchestrator.experiment import Variant, swept_keys
from orchestrator.report import write_sweep_report
from orchestrator.results import Ending, Status, begin_provenance, end_provenance
from orchestrator.results.files import last_json_line
from orchestrator.results.health import State
from pame.observe import Evaluation, Record

Progress = Callable[[int, Mapping[str, Any], bool], None]
"""(number of the run, from 0; its newest line of curve.jsonl; whether it is done)."""

_POLL_S = 0.25
_GRACE_S = 300.0  # for a run that is interrupted: an iteration, and a report of however many


def run_sweep(variants: Sequence[Variant], base: Path, folder: Path, backend: str, progress: Progress) -> list[Ending]:
    """Run all variants and compare them; interrupted, the runs under way end and the rest never begins."""
    folders = [folder / _folder_name(number, variant) for number, variant in enumerate(variants, 1)]
    is_simulated = backend == "simulate"
    at_once = cores() if is_simulated else 1  # real nodes would disturb each other's clocks
    provenance = begin_provenance(folder)
    jobs: dict[int, Future[Ending]] = {}
    killed, failed = False, ""
    with process_pool(min(at_once, len(variants)), in_order=True) as pool:
        try:
            for number, variant in enumerate(variants):
                _follow(jobs, folders, progress, at_once, is_simulated)
                with starting_processes():
                    jobs[number] = pool.submit(_run_one, variant, base, folders[number], backend)
            _follow(jobs, folders, progress, 1, is_simulated)
        except RunFailed as why:
            failed = str(why)
            end_processes(pool, _GRACE_S)
        except (KeyboardInterrupt, BrokenProcessPool) as why:
            killed = isinstance(why, BrokenProcessPool)
            end_processes(pool, _GRACE_S)
        except BaseException:
            end_processes(pool, _GRACE_S)
            raise
    endings = [_ending(jobs.get(number)) for number in range(len(variants))]
    _write_index(folder, variants, folders, endings)
    end_provenance(folder, provenance)
    write_sweep_report(folder)
    if killed:
        raise RunKilled(
            f"the process of a run was killed, perhaps for want of memory; what there is, is in {folder}: run fewer or "
            "smaller experiments at a time"
        )
    if failed:
        raise RunFailed(f"{failed}; the sweep ends with it, and what there is, is in {folder}")
    return endings


def _follow(
    jobs: Mapping[int, Future[Ending]],
    folders: Sequence[Path],
    progress: Progress,
    until_fewer_than: int,
    ends_with_failure: bool,
) -> None:
    """Report every run's newest point until fewer than so many are under way; a mistake in one of them is raised.

    `ends_with_failure`: in the simulator a run fails by a mistake, or is broken as it may be on real nodes: such a one
    is judged by its health, and the others go on.
    """
    while len(running := {job for job in jobs.values() if not job.done()}) >= until_fewer_than:
        wait(running, timeout=_POLL_S, return_when=FIRST_COMPLETED)
        for number, job in jobs.items():
            if job.done() and _is_mistake(job.result()) and ends_with_failure:
                raise RunFailed(job.result().reason)
            newest = last_json_line(folders[number] / "curve.jsonl")
            if newest is not None:
                progress(number, newest, job.done())


def _is_mistake(ending: Ending) -> bool:
    is_broken = ending.health is not None and ending.health.state is State.BROKEN
    return ending.status is Status.FAILED and not is_broken


def _run_one(variant: Variant, base: Path, folder: Path, backend: str) -> Ending:
    """In a process of the pool: told to end, the run ends as Ctrl-C ends a single one, and no other begins."""
    _stop_if_told()
    return BACKENDS[backend].run(variant.experiment, base, folder, _Stopping(), variant.notes)


def _stop_if_told() -> None:
    if told_to_end():
        raise KeyboardInterrupt


def _ending(job: Future[Ending] | None) -> Ending:
    try:
        if job is not None:
            return job.result()
    except (BrokenProcessPool, KeyboardInterrupt):
        pass
    return Ending(Status.INTERRUPTED, "never began, or was killed", 0, None, 0.0, exact=False)


def _folder_name(number: int, variant: Variant) -> str:
    values = ",".join(f"{key.rsplit('.', 1)[-1]}={value}" for key, value in variant.values.items())
    return f"{number:02d}-{re.sub(r'[^A-Za-z0-9.,=%_-]', '-', values)[:80]}"


def _write_index(folder: Path, variants: Sequence[Variant], folders: Sequence[Path], endings: Sequence[Ending]) -> None:
    index = {
        "name": variants[0].experiment.name,
        "keys": swept_keys(variants),
        "runs": [
            {
                "folder": path.name,
                "values": variant.values,
                "status": ending.status.value,
                "health": ending.health.state.value if ending.health else None,
            }
            for variant, path, ending in zip(variants, folders, endings, strict=True)
        ],
    }
    with writing(folder):
        (folder / "sweep.json").write_text(json.dumps(index, indent=1) + "\n", encoding="utf-8")


class _Stopping:
    """Watches for the end only: the parent reads the run folder. Records come at least once per iteration."""

    def evaluated(self, evaluation: Evaluation) -> None:
        pass

    def recorded(self, records: Sequence[Record]) -> None:
        _stop_if_told()

    def state(self, state: NetworkState) -> None:
        _stop_if_told()
