"""Who survives what: every algorithm in every condition beside itself in the first one, seed by seed.

It survives if it is at the tightest target for good (from then on to the end of its run) in at most twice the time that
it takes in the first condition; with no clock, in at most twice the iterations. What it lost is how much further from
the optimum it ends, in points of the way from f(0) to where it can come (accuracy: percentage points).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import inf
from statistics import fmean

from orchestrator.campaigns.compare.file import Target
from orchestrator.campaigns.compare.grid import CompareView, contestants, views
from orchestrator.campaigns.compare.measure import CompareMark, CompareRow, level
from orchestrator.campaigns.compare.tune import has_diverged
from orchestrator.campaigns.compare.verdict import ITERATIONS, SECONDS, CompareOutcome, Measure
from orchestrator.campaigns.verdicts import SLOWDOWN, Finding, Question, Test, Verdict, answered, at_most, positive
from orchestrator.number_words import NOT_MEASURED, count, listed
from orchestrator.results.paired import LEVEL, CensoredPairs, Interval, Taken, censored, censored_ratio, paired_interval
from orchestrator.results.spread import Spread, spread, spread_of_hits

POINTS = "points"
LOSS_MARGIN = 1.0
"""A loss of surely fewer points counts as none."""
_ANYWAY = "misses it anyway"
WORDS = {
    Verdict.HOLDS: "survives",
    Verdict.FAILS: "does not survive",
    Verdict.OPEN: "cannot be told",
    Verdict.LOOK: "a look",
    Verdict.UNKNOWN: _ANYWAY,
}
LOST_WORDS = {
    Verdict.HOLDS: "loses",
    Verdict.FAILS: "loses nothing",
    Verdict.OPEN: "cannot be told",
    Verdict.LOOK: "a look",
}
Pair = tuple[CompareRow, CompareRow]
"""The same seed in a condition, and in the first."""


@dataclass(frozen=True)
class Survival:
    """One algorithm in one condition."""

    view: CompareView
    algorithm: str
    condition: str
    rows: tuple[CompareRow, ...]
    """By seed."""
    measure: Measure
    """What it is counted in."""
    took: Spread | None
    """Until it is at the tightest target for good."""
    end: Spread | None
    """What targets are about, at the end of runs that did not diverge."""
    consensus: Spread | None
    """The distance of the nodes' models from their mean there."""
    survives: Finding | None = None
    """None: it is the first condition, or nothing was measured."""
    lost: Finding | None = None

    @property
    def diverged(self) -> int:
        return sum(map(has_diverged, self.rows))

    @property
    def word(self) -> str:
        return NOT_MEASURED if self.survives is None else WORDS[self.survives.verdict]

    @property
    def lost_word(self) -> str:
        return NOT_MEASURED if self.lost is None else LOST_WORDS[self.lost.verdict]


def survivals(outcome: CompareOutcome) -> list[Survival]:
    """Those that ran: view by view, algorithm by algorithm, in the order of the conditions."""
    measure, target = clock_of(outcome.in_conditions), outcome.comparison.targets[-1]
    groups: dict[tuple[CompareView, str, str], list[CompareRow]] = {}
    for row in sorted(outcome.in_conditions, key=lambda row: row.cell.seed):
        groups.setdefault((row.cell.view, row.cell.algorithm, row.cell.condition), []).append(row)
    found = []
    for view in views(outcome.comparison):
        for algorithm in contestants(outcome.comparison, view):
            first = groups.get((view, algorithm, outcome.comparison.reference), [])
            for condition in outcome.comparison.conditions:
                rows = groups.get((view, algorithm, condition.name), [])
                if not rows:
                    continue
                held = condition.name != outcome.comparison.reference
                pairs = pairs_of_seeds(rows, first) if held else []
                lasts = [row.marks[-1] for row in rows if row.marks and not has_diverged(row)]
                found.append(
                    Survival(
                        view,
                        algorithm,
                        condition.name,
                        tuple(rows),
                        measure,
                        _took(rows, target, measure),
                        spread([what_targets_are_about(mark, target) for mark in lasts]),
                        spread([mark.metrics.get("consensus") for mark in lasts]),
                        _answered(survival_question(pairs, target, measure, condition.name)),
                        _answered(loss_question(pairs, target, condition.name)),
                    )
                )
    return found


def what_targets_are_about(mark: CompareMark, target: Target) -> float | None:
    """A suboptimality, an accuracy, or f."""
    value = level(mark, target.kind)
    return None if abs(value) == inf else -value if target.kind == "accuracy" else value


def clock_of(rows: Sequence[CompareRow]) -> Measure:
    """Seconds, if all runs have them."""
    return SECONDS if rows and all(mark.seconds is not None for row in rows for mark in row.marks) else ITERATIONS


def pairs_of_seeds(rows: Sequence[CompareRow], first: Sequence[CompareRow]) -> list[Pair]:
    known = {row.cell.seed: row for row in first}
    return [(row, known[row.cell.seed]) for row in rows if row.cell.seed in known]


def for_good(row: CompareRow, target: Target) -> CompareMark | None:
    """Where a run is at a target for the last time, to stay; None: it is not there at its end, or diverges."""
    found = _around(row, target)
    return found[1] if found else None


def survival_question(pairs: Sequence[Pair], target: Target, measure: Measure, where: str) -> Question | None:
    """None: nothing was measured. With no seed at the target in the first condition there is nothing to survive."""
    told = [pair for pair in pairs if not (measure.is_time and any(row.cpu_bound for row in pair))]
    if not told:
        return None
    part = f"at {target.words} for good within {SLOWDOWN:g} times the {measure.words} of the first condition"
    ask = partial(Question, part, where, "", seeds=len(told))
    known = [(row, first) for row, first in told if _taken(first, target, measure).hit]
    if not known:
        return ask("it is not at the target in the first condition either", Verdict.UNKNOWN)
    missed = sum(for_good(row, target) is None for row, _ in known)
    if missed == len(known):
        diverged = sum(has_diverged(row) for row, _ in known)
        why = f"diverges with {diverged} of {len(known)} seeds" if diverged else f"misses with {_of(missed, known)}"
        return ask(why, Verdict.FAILS, diverges=diverged == len(known))
    both = censored([(_taken(row, target, measure), _taken(first, target, measure)) for row, first in known])
    evidence = f"misses with {_of(missed, known)}" if missed else f"at the target with {_of(len(known), known)}"
    estimate = partial(_times, both, fmean(_rounding(row, first, target, measure) for row, first in known))
    return ask(evidence, Test(estimate, at_most(SLOWDOWN), "times", is_bound=missed > 0))


def loss_question(pairs: Sequence[Pair], target: Target, where: str) -> Question | None:
    """How many points further away it ends; None: nothing was measured, or all runs of the first condition diverge."""
    known = [(row, first) for row, first in pairs if row.marks and first.marks and not has_diverged(first)]
    if not known:
        return None
    ask = partial(Question, "ends further away than in the first condition", where, "", seeds=len(known))
    lost = [points for row, first in known if (points := _points(row, first, target)) is not None]
    if len(lost) < len(known):
        gone = len(known) - len(lost)
        verdict = Verdict.HOLDS if gone == len(known) else Verdict.OPEN
        return ask(f"diverges with {_of(gone, known)}", verdict, diverges=gone == len(known))
    return ask("at the end", Test(partial(paired_interval, lost), positive(LOSS_MARGIN), POINTS))


def sentences(found: Sequence[Survival]) -> list[str]:
    """For each algorithm and view, what it survives and what not."""
    said = []
    several = len({each.view for each in found}) > 1
    for view, algorithm in dict.fromkeys((each.view, each.algorithm) for each in found):
        mine = [one for one in found if (one.view, one.algorithm) == (view, algorithm) and one.survives is not None]
        groups = {word: [one.condition for one in mine if one.word == word] for word in (*WORDS.values(), NOT_MEASURED)}
        parts = [f"{word} {listed(names, len(names))}" for word, names in _told(groups)]
        if parts:
            said.append(f"{algorithm}{f' ({view.value})' if several else ''}: {'; '.join(parts)}")
    return said


def plain(one: Survival) -> dict[str, object]:
    """As compare.json has it."""
    return {
        "view": one.view.value,
        "algorithm": one.algorithm,
        "condition": one.condition,
        "counted_in": one.measure.key,
        "seeds": len(one.rows),
        "diverged": one.diverged,
        "to_stay_at_target": one.took,
        "end": one.end,
        "consensus": one.consensus,
        "survives": _plain(one.survives, one.word),
        "lost": _plain(one.lost, one.lost_word),
    }


def _plain(finding: Finding | None, word: str) -> dict[str, object] | None:
    if finding is None:
        return None
    effect = finding.effect
    return {"verdict": word, "unit": finding.unit, "effect": effect, "evidence": finding.evidence}


def _told(groups: Mapping[str, Sequence[str]]) -> list[tuple[str, Sequence[str]]]:
    of = {"a look": "a look at", "cannot be told": "cannot be told of", _ANYWAY: "misses the target anyway in"}
    return [(of.get(word, word), names) for word, names in groups.items() if names]


def _answered(question: Question | None) -> Finding | None:
    return None if question is None else answered(question, LEVEL)


def _of(some: int, known: Sequence[Pair]) -> str:
    return f"{some} of {count(len(known), 'seed')}"


def _around(row: CompareRow, target: Target) -> tuple[CompareMark | None, CompareMark] | None:
    """The last mark that is not at a target, and the next one."""
    if has_diverged(row) or not row.marks:
        return None
    away = [place for place, mark in enumerate(row.marks) if level(mark, target.kind) > target.level]
    if not away:
        return None, row.marks[0]
    last = away[-1]
    return (row.marks[last], row.marks[last + 1]) if last + 1 < len(row.marks) else None


def _took(rows: Sequence[CompareRow], target: Target, measure: Measure) -> Spread | None:
    able = [row for row in rows if not (measure.is_time and row.cpu_bound)]
    hits = [for_good(row, target) for row in able]
    return spread_of_hits([None if mark is None else measure.of(mark) for mark in hits])


def _taken(row: CompareRow, target: Target, measure: Measure) -> Taken:
    mark = for_good(row, target)
    spent = max((value for each in row.marks if (value := measure.of(each)) is not None), default=0.0)
    return Taken(None if mark is None else measure.of(mark), spent, has_diverged(row))


def _times(both: CensoredPairs, rounding: float, confidence: float) -> Interval | None:
    values = tuple(pair for pair in both.values if min(pair) > 0)
    return censored_ratio(replace(both, values=values), confidence, rounding) if values else None


def _rounding(row: CompareRow, first: CompareRow, target: Target, measure: Measure) -> float:
    """The variance of the logarithm of a ratio of two figures that are read at points."""
    return sum(_width(one, target, measure) ** 2 / 12 for one in (row, first))


def _width(row: CompareRow, target: Target, measure: Measure) -> float:
    """How far apart the two points around a hit are, as a share of it."""
    found = _around(row, target)
    after = measure.of(found[1]) if found else None
    before = measure.of(found[0]) if found and found[0] else None
    return (after - before) / after if after and before is not None else 0.0


def _points(row: CompareRow, first: CompareRow, target: Target) -> float | None:
    """None: it diverged. Of f itself: of the way that the first condition goes."""
    if has_diverged(row):
        return None
    there, here = level(first.marks[-1], target.kind), level(row.marks[-1], target.kind)
    way = level(first.marks[0], target.kind) - there if target.kind == "objective" else 1.0
    return 100 * (here - there) / way if abs(here) < inf and way > 0 else None
