"""The process that carries out a run, a sweep or a comparison for a caller: `python -m pame_testbed.worker`.

A process of its own, because a notebook has a loop already, a script may not be imported again by the processes of a
sweep, and Ctrl-C belongs to the caller: it asks this one to end in order.
"""

import json
import os
import signal
import sys
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from shutil import rmtree
from typing import Any

from contract.unexpected_errors import in_one_line
from orchestrator.backends import BACKENDS, DEFAULT_BACKEND
from orchestrator.campaigns.cell import Cell, Stage
from orchestrator.campaigns.cell import Run as CellRun
from orchestrator.campaigns.compare.campaign import CompareCampaign, make_comparison
from orchestrator.campaigns.conduct import Campaign, conduct
from orchestrator.campaigns.on_nodes import SERVED, Nodes, ProcessNodes, ServedNodes
from orchestrator.campaigns.options import command_of
from orchestrator.campaigns.sweep import SweepCampaign, SweepLook
from orchestrator.cli.remote import client_of
from orchestrator.control import NetworkState
from orchestrator.errors import MachineFault, UnknownBackend, writing
from orchestrator.evaluation import require_room
from orchestrator.experiment import Experiment, ExperimentError, Variant, load, load_text
from orchestrator.experiment.late_faults import late_faults
from orchestrator.experiment.plugins import add_plugins
from orchestrator.experiment.resolve import choose_driver, has_faults, is_judged_after, make_setting
from orchestrator.results import Status, create_folder
from orchestrator.results.campaign_record import CampaignRecord, digest
from orchestrator.results.typed_json import from_json, to_json
from pame.errors import PameError
from pame.observe import Evaluation, Record
from pame_testbed.job import DONE, ERROR, FOLDER, INTERRUPTED, POINT, PROGRESS, STATE, WARNING, Job, JobProgress

SIMULATE = "simulate"


def main() -> None:
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    caller = Caller(os.dup(1))
    os.dup2(2, 1)  # whatever else is printed is no message
    try:
        job = from_json(Job, json.loads(sys.stdin.buffer.readline()))
        threading.Thread(target=_end_with_input, daemon=True).start()
        add_plugins()
        caller.tell({INTERRUPTED if _carry_out(job, caller) else DONE: True})
    except KeyboardInterrupt:
        caller.tell({INTERRUPTED: True})
    except MemoryError:
        caller.tell({ERROR: "the experiment needs more memory than this machine has: make it smaller"})
    except PameError as error:
        caller.tell({ERROR: str(error), "is_machine": isinstance(error, MachineFault)})
    except Exception as error:  # of a plugin, or of ours
        caller.tell({ERROR: in_one_line(error), "is_machine": True})


@dataclass
class Caller:
    """Who asked; watches for it."""

    descriptor: int
    _last: tuple[object, ...] = ()
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def tell(self, message: Mapping[str, Any]) -> None:
        data = (json.dumps(to_json(message), allow_nan=False) + "\n").encode()
        with self._lock:
            try:
                while data:
                    data = data[os.write(self.descriptor, data) :]
            except BrokenPipeError:
                pass  # nobody is there any more; the end comes by the closed input

    def evaluated(self, evaluation: Evaluation) -> None:
        self.tell({POINT: evaluation})

    def recorded(self, records: Sequence[Record]) -> None:
        pass

    def state(self, state: NetworkState) -> None:
        """Only what a person would see change."""
        seen = (state.phase, state.alive, state.ready, state.judged, int(state.seconds))
        if seen != self._last:
            self._last = seen
            self.tell({STATE: state})


@dataclass
class CampaignCaller:
    """The same of a campaign."""

    caller: Caller
    _progress: JobProgress = field(default_factory=lambda: JobProgress("", 0, 0))

    def begins(self, stage: Stage, known: int) -> None:
        """A stage of the same name goes on."""
        former = self._progress if self._progress.stage == stage.name else JobProgress(stage.name, 0, 0)
        self._told(JobProgress(stage.name, former.cells + len(stage.cells), former.ended + known))

    def goes_on(self, cell: Cell, point: Evaluation) -> None:
        pass

    def state(self, cell: Cell, state: NetworkState) -> None:
        pass

    def ended(self, run: CellRun) -> None:
        now = self._progress
        self._told(JobProgress(now.stage, now.cells, now.ended + 1))

    def _told(self, progress: JobProgress) -> None:
        self._progress = progress
        self.caller.tell({PROGRESS: progress})


def _carry_out(job: Job | None, caller: Caller) -> bool:
    """Whether it was interrupted."""
    assert job is not None
    if job.verb == "compare":
        return _compare(job, caller)
    path = Path(job.path)
    variants = load(path, job.overrides) if job.text is None else load_text(job.text, path, job.overrides)
    backend = SERVED if job.on else job.backend or DEFAULT_BACKEND
    if backend not in (*BACKENDS, SERVED):
        raise UnknownBackend(f"there is no backend {backend!r}; use one of: {', '.join(BACKENDS)}")
    for variant in variants:
        _look_at(variant.experiment, path.parent, backend, Path(job.out), caller)
    return (_run if job.verb == "run" else _sweep)(job, variants, backend, caller)


def _look_at(experiment: Experiment, base: Path, backend: str, out: Path, caller: Caller) -> None:
    """Refuse what cannot run before anything is begun, and say what will probably not happen."""
    if backend in BACKENDS:
        BACKENDS[backend].check(experiment, base)
    driver = choose_driver(experiment) if backend == SIMULATE else None
    if is_judged_after(experiment):
        require_room(experiment, make_setting(experiment, base).problem, driver, out)
    if has_faults(experiment):
        for sentence in late_faults(experiment, make_setting(experiment, base), driver):
            caller.tell({WARNING: sentence})


def _run(job: Job, variants: Sequence[Variant], backend: str, caller: Caller) -> bool:
    [variant] = variants
    base, experiment = Path(job.path).parent, variant.experiment
    nodes = _served(job, experiment.nodes) if backend == SERVED else None
    folder = create_folder(Path(job.out), experiment.name)
    caller.tell({FOLDER: str(folder)})
    if nodes is None:
        ending = BACKENDS[backend].run(experiment, base, folder, caller, variant.notes)
        if ending.status is Status.FAILED:
            raise MachineFault(f"{ending.reason}; what there is, is in {folder}")
        return ending.status is Status.INTERRUPTED
    cell = Cell({}, experiment, SweepLook(""), base, notes=variant.notes)
    nodes.run(Stage("run", [cell], SERVED), {"": cell}, folder, lambda _: caller, lambda *_: None)
    return False


def _sweep(job: Job, variants: Sequence[Variant], backend: str, caller: Caller) -> bool:
    most = max(variant.experiment.nodes for variant in variants)
    nodes = _served(job, most) if backend == SERVED else None if backend == SIMULATE else ProcessNodes(backend)
    folder = create_folder(Path(job.out), variants[0].experiment.name)
    path = _kept(job, folder / "sweep.yaml")
    where = {"on": job.on} if job.on else {"backend": backend}
    command = command_of("run", path, **where, set=list(job.overrides))
    campaign = SweepCampaign(variants, path, backend, command)
    given = {"seed": None, "strict": False, "backend": None if job.on else backend}
    return _conduct(campaign, "run", {**_common(job, path), **given}, folder, nodes, caller)


def _compare(job: Job, caller: Caller) -> bool:
    folder: Path | None = None
    path = Path(job.path)
    if job.text is not None:
        folder = create_folder(Path(job.out), path.stem)
        path = _kept(job, folder / "compare.yaml")
    given = {"seeds": job.seeds, "quick": job.quick, "backend": job.backend or SIMULATE}
    arguments = {**_common(job, path), **given}
    try:
        campaign = make_comparison(arguments)
        campaign.check()
    except PameError as error:
        if folder is None:
            raise
        rmtree(folder)
        raise ExperimentError(str(error).replace(str(path), job.path).splitlines()) from None
    folder = folder or create_folder(Path(job.out), campaign.name)
    return _conduct(campaign, "compare", arguments, folder, _nodes_of(campaign, job), caller)


def _nodes_of(campaign: CompareCampaign, job: Job) -> Nodes | None:
    if job.on:
        return _served(job, campaign.nodes)
    return None if campaign.backend == SIMULATE else ProcessNodes(campaign.backend)


def _conduct(
    campaign: Campaign[Any], verb: str, arguments: Mapping[str, Any], folder: Path, nodes: Nodes | None, caller: Caller
) -> bool:
    caller.tell({FOLDER: str(folder)})
    record = CampaignRecord(verb, campaign.command, arguments, {str(path): digest(path) for path in campaign.files})
    outcome = conduct(campaign, record, folder, CampaignCaller(caller), nodes)
    return outcome.trouble is not None


def _common(job: Job, path: Path) -> dict[str, Any]:
    return {"file": str(path), "overrides": list(job.overrides), "on": job.on}


def _kept(job: Job, place: Path) -> Path:
    """The file; of a text, one with it in the campaign's folder, so that it can be resumed."""
    if job.text is None:
        return Path(job.path)
    with writing(place):
        place.write_text(job.text, encoding="utf-8")
    return place


def _served(job: Job, nodes: int) -> ServedNodes:
    assert job.on is not None
    served = ServedNodes(client_of(job.on, job.token, Path(job.security_folder) if job.security_folder else None))
    served.check(nodes)
    return served


def _end_with_input() -> None:
    """The caller closes it to stop, and so does the system when the caller is gone."""
    while os.read(0, 1):
        pass
    os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    main()
