"""The verbs: run, start, sweep, compare. Each hands its work to a process of its own, and returns what that left."""

from pathlib import Path
from typing import Any, Literal

from orchestrator.experiment import Variant, load, load_text
from pame.stopping import StopRules
from pame_testbed.asked import AskedExperiment, AskedWrongly, Given, as_overrides, asked
from pame_testbed.job import Job
from pame_testbed.results import ComparisonRuns, Run, SweepRuns
from pame_testbed.shown import view_of
from pame_testbed.under_way import RunUnderWay, Worker, worked


def run(
    experiment: Given = None,
    *,
    backend: str | None = None,
    on: str | None = None,
    out: str | Path = "runs",
    token: str = "",
    security_folder: str | Path | None = None,
    progress: bool | None = None,
    **settings: Any,
) -> Run:
    """Run an experiment to its end, as `pame run`.

    experiment: a path, the name of a ready experiment, YAML text, a dict; without it, the embedded default.
    backend: `local` (the default), `netns` or `simulate`. on: HOST:PORT of a `pame serve`, instead, with its token or
    its security folder. out: where the run folder goes. progress: show a bar; by default where somebody looks.
    settings: as `--set`, two underscores for a dot: algorithm__support=0.1, stop__iterations=100, seed=3.

    A run that diverges or is degraded comes back like any other: see `status` and `health`. One that fails is an
    exception, and so is any mistake: a `PameError` of one sentence.
    """
    going = start(
        experiment, backend=backend, on=on, out=out, token=token, security_folder=security_folder, progress=progress,
        **settings,
    )  # fmt: skip
    with going:
        return going.run


def start(
    experiment: Given = None,
    *,
    backend: str | None = None,
    on: str | None = None,
    out: str | Path = "runs",
    token: str = "",
    security_folder: str | Path | None = None,
    progress: bool | None = False,
    **settings: Any,
) -> RunUnderWay:
    """The same, but it comes back at once: iterate over it for the points as they come, and stop it when you like."""
    what, overrides = asked(experiment), as_overrides(settings)
    variants = _variants(what, overrides)
    if len(variants) > 1:
        raise AskedWrongly(f"this asks for {len(variants)} runs: use pame_testbed.sweep")
    first = variants[0].experiment
    shown = view_of(first.name, first.stop, progress, is_simulated=backend == "simulate")
    job = _job("run", what, overrides, backend, on, out, token, security_folder)
    return RunUnderWay(Worker(job, shown), shown)


def sweep(
    experiment: Given = None,
    *,
    backend: str | None = None,
    on: str | None = None,
    out: str | Path = "runs",
    token: str = "",
    security_folder: str | Path | None = None,
    progress: bool | None = None,
    **settings: Any,
) -> SweepRuns:
    """Every combination of the lists among the settings and in the file: sweep("quickstart", seed=[1, 2, 3]).

    Simulations run side by side, one per core. All arguments are those of `run`.
    """
    what, overrides = asked(experiment), as_overrides(settings)
    variants = _variants(what, overrides)
    if len(variants) < 2:
        raise AskedWrongly("this asks for a single run: use pame_testbed.run, or give a list, such as seed=[1, 2, 3]")
    shown = view_of(variants[0].experiment.name, StopRules(), progress)
    job = _job("sweep", what, overrides, backend, on, out, token, security_folder)
    return SweepRuns(worked(job, shown))


def compare(
    comparison: Given,
    *,
    backend: str | None = None,
    on: str | None = None,
    seeds: int | None = None,
    quick: bool = False,
    out: str | Path = "runs",
    token: str = "",
    security_folder: str | Path | None = None,
    progress: bool | None = None,
    **settings: Any,
) -> ComparisonRuns:
    """Compare algorithms, tuned alike, on fresh seeds, as `pame compare`; `settings` are those of its base.

    comparison: a path, a name, YAML text or a dict (docs/compare.md). seeds: how many. quick: one seed, two settings.
    """
    if comparison is None:
        raise AskedWrongly("give a comparison: a path, a name such as compare-logistic, YAML text or a dict")
    what, overrides = asked(comparison), as_overrides(settings)
    if what.text is not None:
        what = AskedExperiment(Path("comparison"), what.text)
    job = _job("compare", what, overrides, backend, on, out, token, security_folder, seeds, quick)
    return ComparisonRuns(worked(job, view_of(what.path.stem, StopRules(), progress)))


def _variants(what: AskedExperiment, overrides: list[str]) -> list[Variant]:
    return load(what.path, overrides) if what.text is None else load_text(what.text, what.path, overrides)


def _job(
    verb: Literal["run", "sweep", "compare"],
    what: AskedExperiment,
    overrides: list[str],
    backend: str | None,
    on: str | None,
    out: str | Path,
    token: str,
    security_folder: str | Path | None,
    seeds: int | None = None,
    quick: bool = False,
) -> Job:
    if on is not None and backend is not None:
        raise AskedWrongly("`on` runs it where that orchestrator is: leave backend out")
    folder = None if security_folder is None else str(security_folder)
    return Job(verb, str(what.path), what.text, overrides, backend, on, token, folder, str(out), seeds, quick)
