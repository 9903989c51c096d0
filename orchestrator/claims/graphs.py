"""The claim about graphs: random choices of neighbours make a new, directed, not doubly stochastic graph every round.

At its round a node averages t_i neighbours of its own choice: the matrix of the weights has rows that sum to 1 and
columns that do not, and it is another one at each round. What that costs is seen beside the same runs with all
neighbours (the graph then stands still), and beside D-PSGD, whose matrix is fixed and doubly stochastic.
"""

from collections.abc import Iterator
from math import isfinite

from orchestrator.claims.base import LINEAR, TARGET
from orchestrator.claims.charts import lines
from orchestrator.claims.claim import Claim, Experiments, Found, Mode, Run
from orchestrator.claims.course import at_end, to_target
from orchestrator.report.text import percent
from orchestrator.studies.verdict import Finding

_GRAPHS = {
    "scale-free": "topology={kind: scale-free, attach: 5}",
    "erdos-renyi": "topology={kind: erdos-renyi, p: 0.3}",
    "small-world": "topology={kind: small-world, degree: 10, rewire: 0.3}",
}
_QUICK = ("scale-free", "erdos-renyi")
_DATA = {"alike": "problem.truth_shift=0", "different": "problem.truth_shift=0.3"}
_RANDOM, _ALL, _DPSGD = "random", "all", "dpsgd"
_WHO = {
    _RANDOM: ("PaME, a fifth of the neighbours anew each round", ("algorithm.participation=0.2",)),
    _ALL: ("PaME, all neighbours", ("algorithm.participation=1",)),
    _DPSGD: (
        "D-PSGD, doubly stochastic",
        ("algorithm={kind: dpsgd, eta: 0.055, gamma: 1.005}", "simulate.driver=lock-step"),
    ),
}
_TIMES = 2.0


def _run(graph: str, data: str, who: str) -> Run:
    words, settings = _WHO[who]
    title = f"{graph}, data {data}, {words}"
    return Run(f"{graph}_{data}_{who}", title, (_GRAPHS[graph], _DATA[data], *settings))


def _runs(mode: Mode) -> tuple[Run, ...]:
    graphs = _QUICK if mode is Mode.QUICK else tuple(_GRAPHS)
    return tuple(_run(graph, data, who) for graph in graphs for data in _DATA for who in _WHO)


def judge_graphs(found: Found) -> list[Finding]:
    """On every graph, with data alike and different."""
    return [finding for graph in _GRAPHS for data in _DATA for finding in _on(found, graph, data)]


def _on(found: Found, graph: str, data: str) -> Iterator[Finding]:
    random, every, other = (found.of(_run(graph, data, who).key) for who in (_RANDOM, _ALL, _DPSGD))
    took = to_target(random, TARGET, lambda mark: mark.iteration)
    if took is None:
        return
    words = f"{graph}, data {data}"
    evidence = "missed" if took.is_missed else f"{took.median:g} iterations"
    yield Finding(f"{words}: reaches the target", isfinite(took.median), evidence)
    ends = at_end(random), at_end(every)
    if ends[1] is None:
        return
    fixed = at_end(other)
    left = ["diverged" if end is None else percent(end.median) for end in (*ends, fixed)]
    yield Finding(
        f"{words}: ends as near as with all neighbours",
        ends[0] is not None and ends[0].median <= _TIMES * ends[1].median,
        f"{left[0]} left; all neighbours {left[1]}; D-PSGD {left[2]}",
    )


GRAPHS = Claim(
    key="time-varying-graphs",
    title="Time-varying graphs that are not doubly stochastic",
    statement="PaME converges on graphs that change from round to round and whose weights are not doubly stochastic.",
    criterion=f"on irregular graphs, with data alike and with data that differ, choosing a fifth of the neighbours "
    f"anew at each round reaches the target ({percent(TARGET)} of the way left) within 300 iterations, and what is "
    f"left at the end is at most {_TIMES:g} times what all neighbours leave (medians over seeds)",
    source=Experiments(LINEAR, _runs),
    judge=judge_graphs,
    figure=lines(_runs(Mode.FULL)),
    remark="The abstract of the paper's first version assumes a doubly stochastic matrix; what PaME computes has rows "
    "that sum to 1 and columns that do not. A fifth of the neighbours is also a fifth of the volume: a larger rest "
    "need not be the graph's fault. D-PSGD with the same step and periods is shown, not judged.",
)
