"""Six small runs of different algorithms and drivers, and what they must come to whatever is rebuilt around them.

    python -m tests.golden.harness      records them anew, which needs a reason in the commit's message

Numbers are compared to rounding: the last bits depend on the processor's kernels. Tables are those of the report,
without what a clock or the machine has a say in. `folders/` has two run folders of November 2026, which must stay
readable.
"""

import json
import re
import subprocess
import sys
from html import unescape
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

HERE = Path(__file__).parent
PAME_COMMAND = Path(sys.executable).with_name("pame")
_COMMON = """
seed: 5
nodes: 6
topology: {kind: random-regular, degree: 3}
problem: {kind: logistic, n: 12, samples: 20, test_samples: 50}
evaluate: {every: 10}
verify: {when: never}
"""
_PAME = "algorithm: {kind: pame, participation: 0.5, support: 0.4, step: {kind: fixed, eta: 0.5}}\nperiod: 2..4\n"
_CUT = "faults: [{kind: link-down, links: random(30%), at: {iteration: 10}, for: {iterations: 10}}]\n"
EXPERIMENTS: dict[str, tuple[str, str]] = {
    "pame-lock-step": ("simulate", f"{_PAME}stop: {{iterations: 40}}\nsimulate: {{driver: lock-step}}\n{_CUT}"),
    "pame-vectorised": ("simulate", f"{_PAME}stop: {{iterations: 40}}\nsimulate: {{driver: vectorised}}\n"),
    "choco-virtual-time": (
        "simulate",
        "algorithm: {kind: choco, eta: 0.4, compressor: {kind: top-k, share: 0.3}}\nperiod: 1\nstop: {iterations: 40}\n"
        "compute: {step: 10ms, jitter: 20%, stragglers: 20%, slowdown: 4}\nlinks: {delay: 5ms, rate: 10mbit}\n",
    ),
    "beer-lock-step": (
        "simulate",
        "algorithm: {kind: beer, eta: 0.3, gam: 0.3, compressor: {kind: sign}}\nperiod: 1\nstop: {iterations: 40}\n"
        "simulate: {driver: lock-step}\nmessages: {loss: 10%}\n",
    ),
    "dpsgd-local": ("local", f"algorithm: {{kind: dpsgd, eta: 0.4}}\nperiod: 2\nstop: {{iterations: 40}}\n{_CUT}"),
    "pame-local": ("local", f"{_PAME}stop: {{iterations: 40}}\nexchange: {{patience: 30s}}\n"),
}
"""Backend, and what is special about the experiment."""


def run_golden(name: str, room: Path) -> tuple[NDArray[np.float64], str]:
    """What a run computed, and the text of its report's tables."""
    backend, special = EXPERIMENTS[name]
    path = room / f"{name}.yaml"
    path.write_text(f"name: {name}\n{_COMMON}{special}", encoding="utf-8")
    command = [str(PAME_COMMAND), "run", str(path), "--backend", backend, "--out", str(room / "runs"), "--quiet"]
    subprocess.run(command, check=True, timeout=100, stdout=subprocess.DEVNULL)
    [folder] = (room / "runs").glob(f"*-{name}")
    return _numbers(folder), tables((folder / "report.html").read_text(encoding="utf-8"))


def _numbers(folder: Path) -> NDArray[np.float64]:
    """The models where nodes sent them; else f and the consensus distance of every point, in which all models are."""
    if (folder / "models.npy").is_file():
        models: NDArray[np.float64] = np.load(folder / "models.npy")
        return models
    points = [json.loads(line) for line in (folder / "curve.jsonl").read_text(encoding="utf-8").splitlines()]
    return np.array([(point["iteration"], point["objective"], point["consensus"]) for point in points])


def tables(page: str) -> str:
    """The text of all tables of a report, a line per row; what differs from run to run is left out."""
    rows = [
        row for table in re.findall(r"<table.*?</table>", page, re.S) for row in re.findall(r"<tr.*?</tr>", table, re.S)
    ]
    lines = [" | ".join(map(_words, re.findall(r"<t[hd].*?</t[hd]>", row, re.S))) for row in rows]
    return "\n".join(line for line in lines if not _BY_CLOCK.search(line)) + "\n"


_BY_CLOCK = re.compile(
    r"\d ?(ms|µs|s|min)\b|CPU|resident|/s\b|[Ss]econds|/tmp|20\d\d-\d\d|wire|by ss|framing|TCP|gRPC|HTTP|Receipts|"
    r"receipts|by the model|connections|neighbours \||%$|^[0-9.]+ \||gradient norm"
)


def _words(cell: str) -> str:
    return unescape(" ".join(re.sub(r"<[^>]*>", " ", cell).split()))


def record() -> None:
    """Write down what the runs come to now."""
    from tempfile import TemporaryDirectory

    for name in EXPERIMENTS:
        with TemporaryDirectory() as room:
            numbers, text = run_golden(name, Path(room))
        np.save(HERE / f"{name}.npy", numbers)
        if EXPERIMENTS[name][0] == "simulate":
            (HERE / f"{name}.txt").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    record()
