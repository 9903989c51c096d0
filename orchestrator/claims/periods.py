"""The claim about communication periods: the same for all nodes, and a different one for each."""

from collections.abc import Iterator
from itertools import pairwise
from math import isfinite

from orchestrator.claims.base import LINEAR, TARGET
from orchestrator.claims.charts import lines
from orchestrator.claims.claim import Claim, Experiments, Found, Mode, Run
from orchestrator.claims.course import to_target
from orchestrator.report.text import percent
from orchestrator.studies.verdict import Finding

_SAME = {Mode.QUICK: (1, 2, 5, 10), Mode.FULL: (1, 2, 3, 5, 7, 10, 15, 20)}
_MEAN = 5
_DIFFERENT = {Mode.QUICK: ("3..7",), Mode.FULL: ("3..7", "1..9")}
_MORE = 1.25


def _same(period: int) -> Run:
    return Run(f"all-{period}", f"period {period} for all", (f"period={period}",))


def _different(span: str) -> Run:
    return Run(f"each-{span}", f"periods {span}, drawn per node", (f"period={span}",))


def _runs(mode: Mode) -> tuple[Run, ...]:
    return (*map(_same, _SAME[mode]), *map(_different, _DIFFERENT[mode]))


def judge_periods(found: Found) -> list[Finding]:
    """Every period, every step to a longer one, and drawn ones against the same for all."""
    return [*_reached(found), *_fewer_rounds(found), *_as_good(found)]


def _reached(found: Found) -> Iterator[Finding]:
    for run in _runs(Mode.FULL):
        if (took := to_target(found.of(run.key), TARGET, lambda mark: mark.iteration)) is not None:
            evidence = "missed" if took.is_missed else f"{took.median:g} iterations"
            yield Finding(f"{run.words} reaches the target", not took.is_missed, evidence)


def _fewer_rounds(found: Found) -> Iterator[Finding]:
    took = {
        period: rounds
        for period in _SAME[Mode.FULL]
        if (rounds := to_target(found.of(_same(period).key), TARGET, lambda mark: mark.rounds)) is not None
    }
    for (before, more), (after, fewer) in pairwise(took.items()):
        passed = isfinite(fewer.median) and fewer.median < more.median
        said = ["missed" if one.is_missed else f"{one.median:g} rounds" for one in (more, fewer)]
        yield Finding(f"fewer rounds with period {after} than with {before}", passed, ", then ".join(said))


def _as_good(found: Found) -> Iterator[Finding]:
    same = to_target(found.of(_same(_MEAN).key), TARGET, lambda mark: mark.iteration)
    for span in _DIFFERENT[Mode.FULL]:
        drawn = to_target(found.of(_different(span).key), TARGET, lambda mark: mark.iteration)
        if same is None or drawn is None or same.is_missed:
            continue
        evidence = "missed" if drawn.is_missed else f"{drawn.median:g} iterations; all with {_MEAN}: {same.median:g}"
        yield Finding(f"periods {span} as good as {_MEAN} for all", drawn.median <= _MORE * same.median, evidence)


PERIOD = Claim(
    key="communication-period",
    title="Communication period",
    statement="Nodes need not communicate at every iteration: PaME converges with long periods, a longer one takes "
    "fewer communication rounds, and every node may have a period of its own.",
    criterion=f"each period reaches the target ({percent(TARGET)} of the way left) within 300 iterations; each longer "
    f"one takes fewer rounds to it; periods drawn per node need at most {_MORE:g} times the iterations of their mean "
    "for all (medians over seeds)",
    source=Experiments(LINEAR, _runs),
    judge=judge_periods,
    figure=lines(_runs(Mode.FULL)),
)
