"""The claims with neural networks: PaME against the others, however the samples are shared out.

Data that differ are the paper's Example 3, samples of C classes at each node; natural images its Example 4, CIFAR-10,
alike at all nodes or drawn from Dir(beta).

In every place (a way of sharing out the samples, a view, one of the others) four questions decide: fewer rounds to the
accuracy that was set beforehand, fewer iterations to it, and more accurate when all have done as many, by the nodes'
own models and by their mean. Standardized all have the same period: to ask for rounds is to ask for iterations.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import product
from operator import attrgetter
from statistics import fmean

from orchestrator.algorithm_names import algorithm_name
from orchestrator.campaigns.claims.against_others import SUBJECTS, TUNED, paired, targets, took_words
from orchestrator.campaigns.claims.claim import Claim, DataWay, Found, OfNetworks
from orchestrator.campaigns.claims.parts import ratio_test
from orchestrator.campaigns.compare.grid import CompareView, contestants, views
from orchestrator.campaigns.compare.measure import CompareMark, CompareRow
from orchestrator.campaigns.compare.tune import has_diverged
from orchestrator.campaigns.compare.verdict import ITERATIONS, ROUNDS, CompareOutcome, Goal, Measure
from orchestrator.campaigns.report_parts import dot
from orchestrator.campaigns.verdicts import Question, Test, Verdict, positive, smaller
from orchestrator.number_words import percent
from orchestrator.report.chart import Chart
from orchestrator.report.vega import Axis, Categories, Legend, ranges, series_color
from orchestrator.results.paired import paired_interval

FEWER = {ROUNDS: "fewer rounds", ITERATIONS: "fewer iterations"}
MORE_ACCURATE = {
    "more accurate, nodes' own models": attrgetter("nodes_accuracy"),
    "more accurate, mean model": attrgetter("mean_accuracy"),
}
MARGIN = 0.5
"""So many percentage points more at the end count as none."""
_POINTS = 100.0
_CRITERION = (
    "decides, for each way of sharing out the samples, in each view and against each of the others: fewer rounds, and "
    "(as published) fewer iterations, to an accuracy that was set beforehand (none where no communication gets there, "
    f"too); and a higher accuracy at the end, of the nodes' own models and of their mean, where less than {MARGIN:g} "
    "points more count as none; each beyond the spread of the seeds"
)
_INSTEAD = (
    "The number of nodes, the graph, the network and the length of the runs are ours, and small enough for two cores; "
    "participation 0.5, s/n 0.1, gamma 1.001 and periods 5 to 10 are the paper's. As printed PaME has sigma 5 and "
    "nothing tuned; tuned it has a step that does not depend on t (on a regular graph that is the same as to tune "
    "sigma), chosen among as many as for each of the others, for each way of sharing out the samples anew, on a seed "
    "of its own. As published every algorithm has its own period, so that rounds differ from iterations; both are "
    "judged. The accuracy to reach is that of the nodes' own models, each after its local steps, on a fixed part of "
    "the test samples, the mean over the nodes; at the end that of the mean of all models is judged, too. The "
    "accuracies to reach were set after a few tuning runs, before any run that is judged."
)


def _in(outcome: CompareOutcome, way: str) -> Iterator[Question]:
    to_reach = targets(outcome)
    for view in views(outcome.comparison):
        names = contestants(outcome.comparison, view)
        others = [name for name in names if name != SUBJECTS[TUNED] and name not in outcome.comparison.printed]
        for (reading, subject), name in product(SUBJECTS.items(), others):
            if ours := outcome.of(view, subject):
                where = (f"{way}, {view.value}", reading)
                measures = tuple(FEWER) if view.reading is None else (ROUNDS,)
                yield from _against(outcome, where, ours, (name, outcome.of(view, name)), product(to_reach, measures))


def _against(
    outcome: CompareOutcome,
    where: tuple[str, str],
    ours: Sequence[CompareRow],
    other: tuple[str, Sequence[CompareRow]],
    asked: Iterable[tuple[Goal, Measure]],
) -> Iterator[Question]:
    """`where`: the place, and the reading; `other`: who, and its runs."""
    (at, reading), (name, theirs), lost = where, other, sum(map(has_diverged, ours))
    other_name = algorithm_name(name)
    for goal, measure in asked:
        took, steps = (paired(ours, theirs, goal, one) for one in (measure, ITERATIONS))
        if took.values:
            place = f"{at}, to {goal.words}, against {other_name}"
            # accuracies are read so many iterations apart, whatever is counted until then
            test = ratio_test(took, smaller, outcome.comparison.check_every, steps)
            yield _question(FEWER[measure], place, reading, took_words(name, took, measure), test, took.seeds, lost)
    for part, of in MORE_ACCURATE.items():
        both = _ends(ours, theirs, of)
        if both:
            mine, its = (percent(fmean(each)) for each in zip(*both, strict=True))
            gains = [_POINTS * (one - other) for one, other in both]
            test = Test(partial(paired_interval, gains), positive(MARGIN), "points")
            said = f"PaME {mine}; {other_name} {its}"
            yield _question(part, f"{at}, against {other_name}", reading, said, test, len(both), lost)


def _question(part: str, place: str, reading: str, evidence: str, test: Test, seeds: int, lost: int) -> Question:
    if lost:
        said = f"diverges ({lost} of {seeds} seeds); {evidence}"
        return Question(part, place, reading, said, Verdict.FAILS, seeds, diverges=True)
    return Question(part, place, reading, evidence, test, seeds)


def _ends(
    ours: Sequence[CompareRow], theirs: Sequence[CompareRow], of: Callable[[CompareMark], float | None]
) -> list[tuple[float, float]]:
    """Accuracies at the last points of two runs with the same seed."""
    mine, its = ({row.cell.seed: of(row.marks[-1]) for row in rows if row.marks} for rows in (ours, theirs))
    both = [(value, its.get(seed)) for seed, value in mine.items()]
    return [(one, other) for one, other in both if one is not None and other is not None]


def accuracy_chart(key: str, found: Found) -> Chart | None:
    """How accurate everybody ended as published, by way of sharing out the samples."""
    shown = {
        way: [
            (algorithm_name(name), spread)
            for name, figures in outcome.ends(CompareView.AS_PUBLISHED).items()
            if (spread := figures["accuracy_of_nodes"])
        ]
        for way, outcome in found.compared.items()
    }
    dots = [dot(way, name, spread) for way, each in shown.items() for name, spread in each]
    if not dots:
        return None
    names = Legend("algorithm", list(dict.fromkeys(name for each in shown.values() for name, _ in each)), ordered=False)
    axis = Categories("x", "Samples", list(shown))
    spec = ranges(key, axis, Axis("y", "Accuracy of the nodes' own models"), series_color(names))
    note = "As published; medians and ranges over seeds. Curves are in the pages of the comparisons."
    return Chart(key, "Accuracy at the end", note, {"": spec}, {key: dots}, own_legend=names, shape="wide")


def _claim(key: str, title: str, statement: str, source: OfNetworks) -> Claim:
    def ask(found: Found) -> list[Question]:
        return [asked for way, outcome in found.compared.items() for asked in _in(outcome, way)]

    return Claim(key, title, statement, _CRITERION, source, ask, accuracy_chart, instead=_INSTEAD, quick_seeds=1)


def _dirichlet(beta: float, by: str, target: float, quick_target: float | None = None) -> DataWay:
    partition = f"{{kind: dirichlet, beta: {beta}, by: {by}}}"
    return DataWay(f"dirichlet-{beta}-by-{by}", f"Dir({beta}) by {by}", partition, target, quick_target)


DATA_HETEROGENEITY = _claim(
    "data-heterogeneity",
    "Data that differ",
    "PaME is the fastest and the most accurate of the algorithms that it is compared with, D-PSGD, DFedSAM, BEER and "
    "ANQ-NIDS, however many classes a node has samples of, down to a single one.",
    OfNetworks(
        file="compare-fashion.yaml",
        data="fashion-mnist",
        ways=(
            DataWay("1-class", "C = 1", "{kind: classes, classes: 1}", 0.3, 0.2),
            DataWay("7-classes", "C = 7", "{kind: classes, classes: 7}", 0.7),
            DataWay("10-classes", "C = 10", "{kind: classes, classes: 10}", 0.75, 0.6),
        ),
        small=("problem.batch=16", "stop.iterations=150"),
        settings=("stop.iterations=300",),
    ),
)
NATURAL_IMAGES = _claim(
    "natural-images",
    "Natural images",
    "PaME is the fastest and the most accurate of the algorithms that it is compared with, D-PSGD, DFedSAM, BEER and "
    "ANQ-NIDS, on natural images, too, whether the nodes' samples are alike or drawn from a Dirichlet distribution.",
    OfNetworks(
        file="compare-cifar.yaml",
        data="cifar10",
        ways=(
            DataWay("iid", "IID", "{kind: iid}", 0.3),
            _dirichlet(0.6, "class", 0.25),
            _dirichlet(0.6, "node", 0.25),
            _dirichlet(0.3, "class", 0.2, 0.15),
            _dirichlet(0.3, "node", 0.2),
        ),
        small=("problem.batch=8", "stop.iterations=80"),
        settings=("stop.iterations=240",),
    ),
)
