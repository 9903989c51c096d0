"""What each algorithm took to each target, medians and ranges over the seeds; who needs the fewest of it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from math import inf
from statistics import fmean

from orchestrator.algorithm_names import algorithm_name
from orchestrator.campaigns.compare.file import Comparison, Target
from orchestrator.campaigns.compare.grid import CompareView, contestants, views
from orchestrator.campaigns.compare.measure import (
    CompareMark,
    CompareRow,
    accuracy_goals,
    of_cell,
    to_target,
    under_stop_rule,
)
from orchestrator.campaigns.compare.ratios import Ratio, ratio_by_seed
from orchestrator.campaigns.compare.tune import Choice, has_diverged
from orchestrator.campaigns.verdicts import Verdict
from orchestrator.campaigns.yardstick import Yardstick
from orchestrator.number_words import count, duration, number, percent, volume
from orchestrator.results.paired import ENOUGH_SEEDS, Taken
from orchestrator.results.spread import Spread, spread, spread_of_hits
from pame.baselines import Baseline


@dataclass(frozen=True)
class Goal:
    """Something to be reached, and where a run reached it."""

    key: str
    """For programs, and where there is little room."""
    words: str
    reached: Callable[[CompareRow], CompareMark | None]
    is_contest: bool = True
    """Whether being first at it is a merit: the stop rule fires early for whoever stands still."""


@dataclass(frozen=True)
class Measure:
    key: str
    words: str
    of: Callable[[CompareMark], float | None]
    show: Callable[[float | None], str]
    is_time: bool = False


ROUNDS = Measure("rounds", "rounds", lambda mark: mark.rounds, lambda value: number(value and float(f"{value:.3g}")))
BYTES = Measure("bytes", "bytes", lambda mark: mark.bytes, volume)
ITERATIONS = Measure("iterations", "iterations", lambda mark: float(mark.iteration), number)
SECONDS = Measure("seconds", "seconds", lambda mark: mark.seconds, duration, is_time=True)
MEASURES = (ROUNDS, BYTES, ITERATIONS, SECONDS)
CONTESTS = (ROUNDS, BYTES, SECONDS)
"""Those of which somebody needs the fewest: an iteration is work of the node alone."""
THERE = (
    Measure("left", "suboptimality there", lambda mark: mark.left, percent),
    Measure("left_of_mean_model", "mean model", lambda mark: mark.mean, percent),
    Measure("left_of_worst_node", "worst node", lambda mark: mark.worst, percent),
    Measure("accuracy", "accuracy there", lambda mark: mark.accuracy, percent),
    Measure("accuracy_of_mean_model", "mean model", lambda mark: mark.mean_accuracy, percent),
    Measure("accuracy_of_worst_node", "worst node", lambda mark: mark.worst_accuracy, percent),
)
"""How good models are where a goal is reached: relative suboptimalities, accuracies."""
AT_END = (
    Measure("accuracy_of_nodes", "accuracy of the nodes' own models", lambda mark: mark.nodes_accuracy, percent),
    Measure("accuracy_of_mean_model", "of the mean model", lambda mark: mark.mean_accuracy, percent),
    Measure("accuracy_of_worst_node", "of the worst node", lambda mark: mark.worst_accuracy, percent),
    *MEASURES,
)
"""How good the last models are, and what was spent."""


@dataclass(frozen=True)
class Line:
    """An algorithm on its way to one goal in one view."""

    algorithm: str
    took: Mapping[str, Spread | None]
    """By measure; None: not measured."""
    simulated_s: Spread | None
    """Simulated seconds, beside real ones."""
    there: Mapping[str, Spread | None]
    """The figures of THERE."""
    is_baseline: bool = False
    """Whether it exchanges nothing, and takes no part in the contest."""

    @property
    def reached(self) -> str:
        rounds = self.took[ROUNDS.key]
        return "0 of 0" if rounds is None else f"{rounds.runs - rounds.missed} of {rounds.runs}"


@dataclass(frozen=True)
class CompareFinding:
    """Who needs the fewest of a measure to a goal; a winner needs fewer than each of the others, beyond doubt."""

    view: CompareView
    goal: Goal
    measure: Measure
    lowest: tuple[str, ...] = ()
    """Those with the lowest median; nobody, if all missed it."""
    took: Spread | None = None
    """What the first of them took."""
    runner_up: str | None = None
    ratio: Ratio | None = None
    """How many times that the runner-up needs, seed by seed."""
    doubtful: tuple[str, ...] = ()
    """Those from whom the first cannot be told: the interval of the paired ratio is not above 1, or there is none; but
    who diverges with every seed never gets there, however long it runs."""
    is_free: bool = False
    """Whether no communication gets there, too: then nobody wins."""
    is_alone: bool = True
    """Whether no run of anybody else gets there."""

    @property
    def is_look(self) -> bool:
        """Whether the seeds are too few for any winner."""
        return self.took is not None and self.took.runs < ENOUGH_SEEDS

    @property
    def winner(self) -> str | None:
        """Who needs the fewest; None: nobody, or it cannot be told."""
        return None if self.took is None or self.is_look or self.doubtful else self.lowest[0]

    @property
    def who(self) -> str:
        """The winner, or why there is none, in short."""
        if self.took is None:
            return "nobody"
        return algorithm_name(self.winner or "") or (Verdict.LOOK if self.is_look else Verdict.OPEN).value

    @property
    def lowest_words(self) -> str:
        """Who has the lowest median, and of how many seeds; the words where nobody has."""
        if self.is_free or self.took is None:
            return self.words
        names = " and ".join(map(algorithm_name, self.lowest))
        return f"lowest median {names}: {self.measure.show(self.took.median)}; {count(self.took.runs, 'seed')}"

    @property
    def words(self) -> str:
        if self.is_free:
            return "no winner: no communication gets there, too"
        if self.took is None:
            return "nobody gets there"
        low, middle, high = map(self.measure.show, (self.took.low, self.took.median, self.took.high))
        said = (
            f"{' and '.join(map(algorithm_name, self.lowest))}: {middle}{f' ({low} … {high})' if low != high else ''}"
        )
        if self.winner is None:
            seeds = f" ({count(self.took.runs, 'seed')})" if self.is_look else ""
            said = f"no winner, {self.who}{seeds}; lowest median {said}"
        if self.runner_up is not None:
            said += f"; next {algorithm_name(self.runner_up)}{'' if self.ratio is None else f', {self.ratio.words}'}"
        elif len(self.lowest) == 1:
            others = "nobody else gets there" if self.is_alone else "all others miss it with half of the seeds or more"
            said += f"; {others}"
        rest = [algorithm_name(name) for name in self.doubtful if name != self.runner_up and name not in self.lowest]
        return f"{said}; it cannot be told from {', '.join(rest)}" if rest and not self.is_look else said


@dataclass(frozen=True)
class CompareOutcome:
    comparison: Comparison
    nodes: int
    backend: str
    command: str
    sticks: Mapping[int, Yardstick]
    """By seed; empty: nobody knows the optimum."""
    tuning: Sequence[CompareRow]
    choices: Sequence[Choice]
    simulated: Sequence[CompareRow]
    baselines: Sequence[CompareRow] = ()
    """No communication, and one node with all data; always in the simulator."""
    measured: Sequence[CompareRow] = ()
    """On real nodes."""
    seconds: float = 0.0
    """How long all of it took."""
    trouble: str | None = None
    """Why it is not complete."""
    in_conditions: Sequence[CompareRow] = ()
    """What is compared, in all conditions: `rows` are those of the first alone. Empty: there are no conditions."""

    @property
    def knows_optimum(self) -> bool:
        return bool(self.sticks) or self.comparison.needs_optimum

    @property
    def rows(self) -> Sequence[CompareRow]:
        """What is compared: the runs on real nodes, if there are any."""
        return self.measured or self.simulated

    def of(self, view: CompareView, algorithm: str) -> list[CompareRow]:
        """What is compared of an algorithm, by seed."""
        return of_cell(self.rows, view, algorithm)

    def of_baseline(self, kind: Baseline) -> list[CompareRow]:
        return [row for row in self.baselines if row.cell.algorithm == kind.value]

    @cached_property
    def goals(self) -> list[Goal]:
        """The targets, the accuracy if the problem has one, the paper's stop rule."""
        comparison = self.comparison
        found = [Goal(target.key, target.words, partial(to_target, target=target)) for target in comparison.targets]
        if best := accuracy_goals(self.rows, comparison.accuracy_points):
            words = f"accuracy within {comparison.accuracy_points:g} points of the best"
            found.append(
                Goal("accuracy", words, lambda row: to_target(row, Target("accuracy", best.get(row.cell.seed, inf))))
            )
        every, nodes = comparison.check_every, self.nodes
        found.append(Goal("stop rule", "the paper's stop rule", lambda row: under_stop_rule(row, nodes, every), False))
        return found

    def is_free(self, goal: Goal) -> bool:
        """Whether no communication gets there in at least half of its runs."""
        rows = self.of_baseline(Baseline.ALONE)
        return goal.is_contest and bool(rows) and 2 * sum(hit(row, goal) is not None for row in rows) >= len(rows)

    def lines(self, view: CompareView, goal: Goal) -> list[Line]:
        """Every algorithm that ran in a view, in the order of the file; then those that exchange nothing."""
        found = []
        for algorithm in contestants(self.comparison, view):
            rows = self.of(view, algorithm)
            simulated = of_cell(self.simulated, view, algorithm) if self.measured else []
            if rows:
                found.append(_line(algorithm, goal, rows, simulated))
        some = {kind: rows for kind in Baseline if (rows := self.of_baseline(kind))}
        return [*found, *(replace(_line(kind.value, goal, rows, []), is_baseline=True) for kind, rows in some.items())]

    def ends(self, view: CompareView) -> dict[str, Mapping[str, Spread | None]]:
        """AT_END of every algorithm that ran in a view, and of those that exchange nothing; who diverged has no end."""
        groups = {name: self.of(view, name) for name in contestants(self.comparison, view)}
        groups |= {kind.value: self.of_baseline(kind) for kind in Baseline}
        lasts = {
            name: [row.marks[-1] for row in rows if row.marks and not has_diverged(row)]
            for name, rows in groups.items()
            if rows
        }
        return {name: _spreads(AT_END, marks) for name, marks in lasts.items()}

    @cached_property
    def findings(self) -> list[CompareFinding]:
        """Every view, goal and measure of which anything is known."""
        found = []
        for view in views(self.comparison):
            for goal in self.goals:
                if not goal.is_contest:
                    continue
                contest = [line for line in self.lines(view, goal) if not line.is_baseline]
                known = [measure for measure in CONTESTS if any(line.took[measure.key] for line in contest)]
                if self.is_free(goal):
                    found += [CompareFinding(view, goal, measure, is_free=True) for measure in known]
                else:
                    found += [self._finding(view, goal, measure, contest) for measure in known]
        return found

    def _finding(self, view: CompareView, goal: Goal, measure: Measure, contest: Sequence[Line]) -> CompareFinding:
        known = [(line.algorithm, found) for line in contest if (found := line.took[measure.key]) is not None]
        there = sorted((pair for pair in known if not pair[1].is_missed), key=lambda pair: pair[1].median)
        if not there:
            return CompareFinding(view, goal, measure)
        first = there[0][1]
        lowest = tuple(name for name, found in there if found.median == first.median)
        runner_up = there[len(lowest)][0] if len(lowest) < len(there) else None
        ratios = {name: self._ratio(view, goal, measure, (lowest[0], name)) for name, _ in known if name != lowest[0]}
        undecided = [name for name, ratio in ratios.items() if ratio is None or not ratio.is_decided]
        doubtful = tuple(name for name in undecided if not all(map(has_diverged, self.of(view, name))))
        is_alone = all(found.missed == found.runs for name, found in known if name not in lowest)
        took = (lowest, first, runner_up, ratios.get(runner_up or ""))
        return CompareFinding(view, goal, measure, *took, doubtful, is_alone=is_alone)

    def _ratio(self, view: CompareView, goal: Goal, measure: Measure, both: tuple[str, str]) -> Ratio | None:
        rows = [self.of(view, name) for name in both]
        first, second = (by_seed(some, goal, measure) for some in rows)
        return ratio_by_seed(first, second, self._rounding(goal, [row for some in rows for row in some]))

    def _rounding(self, goal: Goal, rows: Sequence[CompareRow]) -> float:
        """Of the logarithm of a ratio: whatever is measured is read at a point, and a point is some iterations wide."""
        targets = {target.key for target in self.comparison.targets if target.kind != "accuracy"}
        width = 1 if not self.measured and goal.key in targets else self.comparison.check_every
        read = [mark.iteration for row in rows if (mark := hit(row, goal)) is not None and mark.iteration]
        return 2 * fmean((width / iteration) ** 2 / 12 for iteration in read) if read else 0.0


def hit(row: CompareRow, goal: Goal) -> CompareMark | None:
    """Where a run reached a goal; one that diverges later did not."""
    return None if has_diverged(row) else goal.reached(row)


def _line(algorithm: str, goal: Goal, rows: Sequence[CompareRow], simulated: Sequence[CompareRow]) -> Line:
    marks = [mark for row in rows if (mark := hit(row, goal)) is not None]
    return Line(
        algorithm,
        {measure.key: took(rows, goal, measure) for measure in MEASURES},
        took(simulated, goal, SECONDS),
        _spreads(THERE, marks),
    )


def _spreads(measures: Sequence[Measure], marks: Sequence[CompareMark]) -> dict[str, Spread | None]:
    return {measure.key: spread([measure.of(mark) for mark in marks]) for measure in measures}


def took(rows: Sequence[CompareRow], goal: Goal, measure: Measure) -> Spread | None:
    """Over the seeds; runs on a machine that did not keep up say nothing about time. None: not measured."""
    able = [row for row in rows if not (measure.is_time and row.cpu_bound)]
    if not any(measure.of(mark) is not None for row in able for mark in row.marks):
        return None
    marks = [hit(row, goal) for row in able]
    return spread_of_hits([None if mark is None else measure.of(mark) for mark in marks])


def by_seed(rows: Sequence[CompareRow], goal: Goal, measure: Measure) -> dict[int, Taken]:
    """What it took with each seed of which that was measured."""
    found = {}
    for row in rows:
        spent = [value for mark in row.marks if (value := measure.of(mark)) is not None]
        if spent and not (measure.is_time and row.cpu_bound):
            mark = hit(row, goal)
            found[row.cell.seed] = Taken(None if mark is None else measure.of(mark), max(spent), has_diverged(row))
    return found
