"""The testbed as a library: run experiments from Python, and look at what they left as pandas frames.

    import pame_testbed as pt

    run = pt.run("partition", backend="simulate", nodes=8)      # the same as `pame run partition ... --set nodes=8`
    run.curve                                                   # f, f*, gap, consensus, metrics: a frame
    pt.sweep("quickstart", algorithm__support=[0.1, 0.3], seed=[1, 2]).summary
    pt.compare("compare-logistic", quick=True).curve            # one tidy frame
    for point in (going := pt.start("quickstart")): ...         # points as they come; going.run afterwards
    pt.load("last").figure(x="seconds", y="gap").save("gap.pdf")

A run is carried out by a process of its own, as by the command, and leaves the same folder. docs/scripting.md has all.

May import: everything in `orchestrator`, `contract`, `pame`. Nothing imports it.
"""

from orchestrator.experiment.plugins import add_plugins
from pame.errors import PameError
from pame_testbed.calls import compare, run, start, sweep
from pame_testbed.drawing import Figure, figure
from pame_testbed.results import ComparisonRuns, Run, SweepRuns, load
from pame_testbed.under_way import RunUnderWay

__all__ = [
    "ComparisonRuns", "Figure", "PameError", "Run", "RunUnderWay", "SweepRuns", "add_plugins", "compare", "figure",
    "load", "run", "start", "sweep",
]  # fmt: skip
