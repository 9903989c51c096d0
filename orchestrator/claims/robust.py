"""The claims that a study runs: stragglers and failing links, every reading a column of its own."""

from collections.abc import Callable, Iterator, Sequence

from orchestrator.claims.charts import by_condition
from orchestrator.claims.claim import Claim, Found, OfStudy
from orchestrator.claims.pairs import Pairs, censored
from orchestrator.claims.verdict import Question, at_least, at_most, smaller
from orchestrator.report.text import duration, percent
from orchestrator.studies import STUDIES, Study
from orchestrator.studies.grid import WAITING_FOR_ALL
from orchestrator.studies.measure import Row
from orchestrator.studies.spread import Rows
from orchestrator.studies.verdict import SLOWDOWN

IN_TIME, SOONER, HEARD, PACE = "in time", "sooner than D-PSGD", "also on the data of the struck", "pace of the others"


def ask_study(found: Found) -> list[Question]:
    """For every reading, in every condition in which something is done."""
    if found.study is None:
        return []
    study, rows = found.study, Rows(found.rows)
    return [
        question
        for reading in study.readings
        for condition in study.conditions[1:]
        for question in _in(study, reading.policy, reading.words, condition.key, condition.words, rows)
    ]


def _in(study: Study, policy: str, reading: str, condition: str, place: str, rows: Rows) -> Iterator[Question]:
    calm, struck = rows.of(policy, study.baseline.key), rows.of(policy, condition)
    if not struck:
        return
    times = to_target(struck, calm)
    if times.values:
        words = f"without trouble {_time(times, 1)}, with it {_time(times, 0)}{_missed(times)}"
        yield Question(IN_TIME, place, reading, words, times.test(at_most(SLOWDOWN)), times.seeds)
    race = to_target(struck, rows.of(WAITING_FOR_ALL, condition))
    if race.values:
        words = f"{_time(race, 0)}; D-PSGD waiting for all {_time(race, 1)}{_missed(race)}"
        yield Question(SOONER, place, reading, words, race.test(smaller), race.seeds)
    left = tuple((max(on, _LOWEST), study.target) for row in struck if (on := row.left_on(row.struck)) is not None)
    if left:
        heard = Pairs(left, len(struck))
        words = (
            f"{percent(heard.middle(0))} left on the data of the {study.struck}; the target is {percent(study.target)}"
        )
        yield Question(HEARD, place, reading, words, heard.test(at_most(1.0)), len(struck))
    pace = _both(struck, calm, lambda row: row.pace)
    if pace.values:
        words = f"{pace.middle(1):.3g} iterations per s without trouble, {pace.middle(0):.3g} with it"
        yield Question(PACE, place, reading, words, pace.test(at_least(1 / SLOWDOWN)), pace.seeds, decides=False)


def to_target(one: Sequence[Row], other: Sequence[Row]) -> Pairs:
    """Seconds, seed by seed; who misses took more than all it had, and at least what the other took."""
    both = _seeds(one, other)
    hits = [(a.seconds_to_target, b.seconds_to_target) for a, b in both]
    return censored(hits, [(a.seconds or 0.0, b.seconds or 0.0) for a, b in both])


def _both(one: Sequence[Row], other: Sequence[Row], of: Callable[[Row], float | None]) -> Pairs:
    both = _seeds(one, other)
    values = [(of(a), of(b)) for a, b in both]
    return Pairs(tuple((x, y) for x, y in values if x and y), len(both))


def _seeds(one: Sequence[Row], other: Sequence[Row]) -> list[tuple[Row, Row]]:
    theirs = {row.seed: row for row in other if row.ran}
    return [(row, theirs[row.seed]) for row in one if row.ran and row.seed in theirs]


def _time(pairs: Pairs, side: int) -> str:
    return duration(float(f"{pairs.middle(side):.3g}"))


def _missed(pairs: Pairs) -> str:
    return f"; the target was missed with {max(pairs.missed)} of {pairs.seeds} seeds" if any(pairs.missed) else ""


_LOWEST = 1e-12


def _claim(name: str, title: str, known: str) -> Claim:
    study = STUDIES[name]
    return Claim(
        key=name,
        title=title,
        statement=study.claim,
        criterion=f"decides, in each condition: the time to the target ({percent(study.target)} of the way left) is at "
        f"most {SLOWDOWN:g} times that without trouble; it is below that of D-PSGD waiting for all; and the mean model "
        f"ends within the target on the data of the {study.struck} alone; each beyond the spread of the seeds. Can "
        f"only spoil: the other nodes keep at least 1/{SLOWDOWN:g} of their pace",
        source=OfStudy(study),
        ask=ask_study,
        figure=by_condition(name),
        known=known,
        instead="That the others keep their pace is easily met and says nothing of what is learned. Both readings of "
        f"whom a node waits for are judged. The step is the one independent of t. `pame study {name}` has more "
        "policies, and real nodes; here everything is simulated.",
    )


STRAGGLERS = _claim("stragglers", "Stragglers", 'Known of its text: "first responders".')
LINK_FAILURE = _claim("link-failure", "Link failure", "")
