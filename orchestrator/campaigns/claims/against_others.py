"""The claims against other algorithms: the fewest rounds, and half the volume; all tuned alike by `pame compare`."""

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import product

from orchestrator.algorithm_names import algorithm_name
from orchestrator.campaigns.claims.base_experiment import PRINTED
from orchestrator.campaigns.claims.charts import contest
from orchestrator.campaigns.claims.claim import Claim, Found, OfComparison
from orchestrator.campaigns.claims.parts import ratio_test
from orchestrator.campaigns.compare.grid import contestants, views
from orchestrator.campaigns.compare.measure import CompareRow
from orchestrator.campaigns.compare.tune import has_diverged
from orchestrator.campaigns.compare.verdict import BYTES, ROUNDS, CompareOutcome, Goal, Measure, by_seed
from orchestrator.campaigns.verdicts import Question, Rule, Verdict, at_most, smaller
from orchestrator.results.paired import CensoredPairs, censored

FEWER, HALF = "fewer rounds", "at most half the bytes"
TUNED = "tuned"
SUBJECTS = {TUNED: "pame", PRINTED: "pame-as-printed"}
_HALF = 0.5


def _against(outcome: CompareOutcome, measure: Measure, part: str, rule: Rule) -> Iterator[Question]:
    """Both readings; PaME as printed is not standardized."""
    for view, (reading, subject) in product(views(outcome.comparison), SUBJECTS.items()):
        names = contestants(outcome.comparison, view)
        ours = outcome.of(view, subject) if subject in names else []
        others = [name for name in names if name != SUBJECTS[TUNED] and name not in outcome.comparison.printed]
        for goal, name in product(targets(outcome) if ours else (), others):
            took = paired(ours, outcome.of(view, name), goal, measure)
            if not took.values:
                continue
            place, lost = f"{view.value}, to {goal.words}, against {algorithm_name(name)}", sum(map(has_diverged, ours))
            if lost:
                said = f"diverges ({lost} of {len(ours)} seeds)"
                yield Question(part, place, reading, said, Verdict.FAILS, took.seeds, diverges=True)
            else:
                grid = 1.0 if measure is ROUNDS else 0.0  # the least that rounds differ by; bytes are exact
                test = ratio_test(took, rule, grid)
                yield Question(part, place, reading, took_words(name, took, measure), test, took.seeds)


def targets(outcome: CompareOutcome) -> list[Goal]:
    """The fixed targets that no communication misses; the stop rule is none, an accuracy moves with who takes part."""
    fixed = {target.key for target in outcome.comparison.targets}
    return [goal for goal in outcome.goals if goal.is_contest and goal.key in fixed and not outcome.is_free(goal)]


def paired(ours: Sequence[CompareRow], others: Sequence[CompareRow], goal: Goal, measure: Measure) -> CensoredPairs:
    mine, theirs = (by_seed(rows, goal, measure) for rows in (ours, others))
    both = [(taken, theirs[seed]) for seed, taken in mine.items() if seed in theirs]
    return censored(both)


def took_words(name: str, took: CensoredPairs, measure: Measure) -> str:
    unit = "" if measure is BYTES else f" {measure.words}"
    ours, theirs = (measure.show(float(f"{took.middle(side):.3g}")) for side in (0, 1))
    each = zip(("PaME", algorithm_name(name)), took.missed, strict=True)
    missed = "".join(f"; {who} misses it with {times} of {took.seeds} seeds" for who, times in each if times)
    return f"PaME {ours}{unit}; {algorithm_name(name)} {theirs}{unit}{missed}"


_INSTEAD = (
    "Tested on the paper's Example 2, logistic regression, of our own make. All algorithms have the same number of "
    "tuning runs, on a seed apart, and are then compared on fresh ones; once as published, once with the same periods "
    "and participation for all. PaME as printed, with nothing tuned, is a reading of its own beside the tuned one, as "
    "published only. A run that misses a target counts with all that it took, and the effect is a bound; "
    "where both miss it, nothing is said."
)


def _claim(key: str, title: str, statement: str, criterion: str, measure: Measure, part: str, rule: Rule) -> Claim:
    """In each view, to each target and against each of the others."""

    def ask(found: Found) -> list[Question]:
        return [asked for outcome in found.compared.values() for asked in _against(outcome, measure, part, rule)]

    said = f"decides: to each target of relative suboptimality (0.2, 0.1, 0.05), in each view, {criterion}"
    figure = partial(contest, measure)
    return Claim(key, title, statement, said, OfComparison(), ask, figure, instead=_INSTEAD, quick_seeds=5)


FEWEST_ROUNDS = _claim(
    "fewest-rounds",
    "Fewest rounds",
    "PaME needs the fewest communication rounds of the algorithms that it is compared with: D-PSGD, DFedSAM, BEER and "
    "ANQ-NIDS.",
    "PaME takes fewer rounds than each of the others, beyond the spread of the seeds",
    ROUNDS,
    FEWER,
    smaller,
)
HALF_VOLUME = _claim(
    "half-volume",
    "Half the volume",
    "PaME transmits half of what the others do, or less, to reach the same accuracy.",
    "and against each of the others: PaME's bytes are at most half of theirs, beyond the spread of the seeds",
    BYTES,
    HALF,
    at_most(_HALF),
)
