"""The claim about graphs: random choices of neighbours make a new, directed, not doubly stochastic graph every round.

At its round a node averages t_i neighbours of its own choice: the matrix of the weights has rows that sum to 1 and
columns that do not, and it is another one at each round. What that costs is seen beside the same runs with all
neighbours (the graph then stands still), and beside D-PSGD, whose matrix is fixed and doubly stochastic.
"""

from collections.abc import Iterator
from itertools import product

from orchestrator.campaigns.claims.base_experiment import (
    EVERY,
    FITTED,
    INDEPENDENT,
    LAST,
    LINEAR,
    NODES,
    READINGS,
    REGULAR,
    TARGET,
)
from orchestrator.campaigns.claims.charts import lines
from orchestrator.campaigns.claims.claim import Claim, ClaimExperiments, ClaimRun, ClaimsMode, Found
from orchestrator.campaigns.claims.parts import at_end, diverged, ratio_test, reach, to_target
from orchestrator.campaigns.verdicts import Question, Verdict, at_most
from orchestrator.number_words import percent
from orchestrator.results.spread import spread

AS_NEAR, AS_FAST = "ends as near as with all neighbours", "as fast as with all neighbours"
_GRAPHS = {
    "scale-free": "topology={kind: scale-free, attach: 5}",
    "Erdős–Rényi": "topology={kind: erdos-renyi, p: 0.3}",
    "small-world": "topology={kind: small-world, degree: 10, rewire: 0.3}",
    REGULAR: "topology={kind: random-regular, degree: 10}",
}
_SLUG = {"Erdős–Rényi": "erdos-renyi"}
_IN = {ClaimsMode.QUICK: ("scale-free", "Erdős–Rényi"), ClaimsMode.FULL: tuple(_GRAPHS)}
_DATA = {"alike": "problem.truth_shift=0", "different": "problem.truth_shift=0.3"}
_RANDOM, _ALL = "random", "all"
_WHO = {
    _RANDOM: ("PaME, a fifth of the neighbours anew each round", "algorithm.participation=0.2"),
    _ALL: ("PaME, all neighbours", "algorithm.participation=1"),
}
_DPSGD = ("algorithm={kind: dpsgd, eta: 0.055, gamma: 1.005}", "simulate.driver=lock-step")
_TIMES = 2.0
Place = tuple[str, str, int]
"""Graph, data, number of nodes."""


def run_of(place: Place, reading: str, who: str) -> ClaimRun:
    """PaME at a place, with a reading of the step."""
    graph, data, nodes = place
    words, setting = _WHO[who]
    key = f"{_SLUG.get(graph, graph)}_{data}_m-{nodes}_{reading.replace(' ', '-')}_{who}"
    settings = (f"nodes={nodes}", _GRAPHS[graph], _DATA[data], READINGS[reading], setting)
    return ClaimRun(key, words, settings, f"{reading}, {_words(place)}")


def dpsgd_of(place: Place) -> ClaimRun:
    """D-PSGD beside it, with the step that does not depend on t."""
    graph, data, nodes = place
    settings = (f"nodes={nodes}", _GRAPHS[graph], _DATA[data], *_DPSGD)
    group = f"{INDEPENDENT}, {_words(place)}"
    return ClaimRun(f"{_SLUG.get(graph, graph)}_{data}_m-{nodes}_dpsgd", "D-PSGD, doubly stochastic", settings, group)


def _words(place: Place) -> str:
    graph, data, nodes = place
    return f"{graph}, data {data}, m = {nodes}"


def _places(mode: ClaimsMode) -> Iterator[Place]:
    return ((graph, data, nodes) for nodes, graph, data in product(NODES[mode], _IN[mode], _DATA))


def _runs(mode: ClaimsMode) -> tuple[ClaimRun, ...]:
    places = list(_places(mode))
    ours = [run_of(place, reading, who) for place in places for reading in READINGS for who in _WHO]
    return (*ours, *(dpsgd_of(place) for place in places if place[2] in NODES[ClaimsMode.QUICK]))


def _ask(found: Found) -> list[Question]:
    cases = product(READINGS, _places(ClaimsMode.FULL))
    return [question for reading, place in cases for question in _on(found, place, reading)]


def _on(found: Found, place: Place, reading: str) -> Iterator[Question]:
    random, every = (found.of(run_of(place, reading, who).key) for who in (_RANDOM, _ALL))
    if not random:
        return
    words = _words(place)
    yield reach({"a fifth": random, "all": every} if every else {"a fifth": random}, words, reading)
    if not every:
        return
    if diverged(random) or diverged(every):
        said = (
            f"diverges: a fifth in {diverged(random)} of {len(random)}, all in {diverged(every)} of {len(every)} seeds"
        )
        verdict = Verdict.FAILS if diverged(random) else Verdict.OPEN  # else there is nothing to compare with
        for part in (AS_NEAR, AS_FAST):
            yield Question(part, words, reading, said, verdict, len(random), diverges=True)
        return
    ends = at_end(random, every)
    said = f"{ends.words(0, 100)} % left; all neighbours {ends.words(1, 100)} %{_beside(found, place, reading)}"
    yield Question(AS_NEAR, words, reading, said, ratio_test(ends, at_most(_TIMES)), ends.seeds)
    took = to_target(random, every)
    said = f"{took.words(0)} iterations; all neighbours {took.words(1)}"
    yield Question(AS_FAST, words, reading, said, ratio_test(took, at_most(_TIMES), EVERY), took.seeds)


def _beside(found: Found, place: Place, reading: str) -> str:
    """D-PSGD, which has the step that does not depend on t."""
    courses = found.of(dpsgd_of(place).key) if reading == INDEPENDENT else []
    end = spread([course.end for course in courses])
    return "" if end is None else f"; D-PSGD {percent(end.median)}"


GRAPHS = Claim(
    key="time-varying-graphs",
    title="Time-varying graphs that are not doubly stochastic",
    statement="PaME converges on graphs that change from round to round and whose weights are not doubly stochastic.",
    criterion=f"decides: choosing a fifth of the neighbours anew at each round leaves at most {_TIMES:g} times what "
    f"all neighbours leave after {LAST} iterations, and takes at most {_TIMES:g} times their iterations to the target "
    f"({percent(TARGET)} of the way left). Can only spoil: every run reaches the target",
    source=ClaimExperiments(LINEAR, _runs),
    ask=_ask,
    figure=lines(_runs(ClaimsMode.FULL)),
    known="Known of it: the abstract of the first version assumes a doubly stochastic matrix; what PaME computes has "
    "rows that sum to 1 and columns that do not.",
    instead="That it converges at all is easily met, so it is compared with all neighbours, where the graph stands "
    "still. A fifth of the neighbours is also a fifth of the volume: a larger rest need not be the graph's fault. "
    f"D-PSGD with the same periods is shown, not judged. {FITTED}",
)
