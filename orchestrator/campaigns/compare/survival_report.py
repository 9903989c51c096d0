"""The page of a comparison with conditions: who survives what on top, then the curves, the faults, what each lost."""

from orchestrator.campaigns.compare.around_faults import around_faults
from orchestrator.campaigns.compare.grid import views
from orchestrator.campaigns.compare.survival import LOSS_MARGIN, Survival, survivals
from orchestrator.campaigns.compare.survival_charts import algorithms_legend, axis_switch, condition_curves
from orchestrator.campaigns.compare.survival_tables import faults_table, lost_table, matrix_table, shows
from orchestrator.campaigns.compare.tables import findings_table, view_table
from orchestrator.campaigns.compare.verdict import CompareOutcome
from orchestrator.campaigns.verdicts import SLOWDOWN, Verdict
from orchestrator.number_words import listed
from orchestrator.report import page
from orchestrator.report.chart import Chart

HOW_SURVIVAL = {
    "survives": "seed by seed, how many times as long as in the first condition a run takes until it is at the "
    f"tightest target for good: from then on to its end. At most {SLOWDOWN:g} times, the whole 95 % interval of it: it "
    "survives. All of the interval above, or the target missed with every seed: it does not. Else it cannot be told. "
    "Fewer than three seeds are a look. Each interval stands by itself: of forty, one is wrong by chance",
    "misses it anyway": "no run of the first condition is at the target at its end: there is nothing to survive",
    "lost": "how much further from the optimum a run ends than the same seed in the first condition, in points: of the "
    "way from f(0) to f*, or of accuracy; of f itself, of the way that the first condition goes. Above 0 with all of "
    f"the interval: it loses; surely less than {LOSS_MARGIN:g} point: it loses nothing",
    "around a fault": "the last point before its window, the largest in it, the first after it (of accuracies the "
    "lowest); recovered: how long after its end the curve is back at the value before. Medians over the seeds",
    "clock": "where there is one, curves are by time: the newest model of every node; so that slow nodes hold up no "
    "point of a curve",
}
"""What the figures of conditions mean."""
_LEAD = (
    "A word, and below it how many times as long as in {first} it takes to be at {target} for good, with the 95 % "
    "interval. In the column of {first}: how long it takes there."
)
_NOTE = "The run with the median seed of each algorithm. Shaded: what was done. Broken: the same in {first}."


def survival_parts(outcome: CompareOutcome) -> tuple[list[str], list[Chart]]:
    """Sections, and the charts in them."""
    comparison, found = outcome.comparison, survivals(outcome)
    first, target = comparison.reference, comparison.targets[-1]
    show, around = shows(comparison), around_faults(found, target)
    several = len(views(comparison)) > 1
    matrices, losses, faults, figures = [], [], [], list[Chart]()
    for view in views(comparison):
        name = f"<h3>{view.value}</h3>" if several else ""
        matrices.append(page.card(name + matrix_table(comparison, found, view)))
        losses.append(page.card(name + lost_table(comparison, found, view, show)))
        if any(one.of.view == view for one in around):
            faults.append(page.card(name + faults_table(around, view, show)))
        figures += condition_curves(outcome, view)
    parts = [
        page.section(
            "survival", "Who survives what", _LEAD.format(first=first, target=target.words), page.grid(matrices)
        )
    ]
    if figures:
        names = page.legend(algorithms_legend(outcome), [figure.id for figure in figures])
        charts = page.grid(map(page.chart, figures))
        parts.append(page.section("curves", "Curves", _NOTE.format(first=first), charts, axis_switch(outcome), names))
    if faults:
        lead = "Before a fault → the worst while it lasts → after it, and how long until it was as before."
        parts.append(page.section("faults", "Around the faults", lead, page.grid(faults)))
    lead = f"Against the same seed in {first}."
    parts.append(page.section("lost", "What each lost", lead, page.grid(losses)))
    inside = [
        page.folded(f"{title}, {view.value}", table(outcome, [view]))
        for view in views(comparison)
        for title, table in (("Who needs the fewest", findings_table), ("All figures", view_table))
    ]
    lead = f"The comparison in {first}, as it is without conditions."
    parts.append(page.section("first", f"In {first}", lead, page.grid([page.card("".join(inside))])))
    return parts, figures


def survivor_tiles(outcome: CompareOutcome) -> list[tuple[str, str, str]]:
    """For each condition but the first who survives it."""
    found, view = survivals(outcome), views(outcome.comparison)[0]
    tiles = []
    for condition in outcome.comparison.conditions[1:]:
        mine = [one for one in found if one.condition == condition.name and one.view == view]
        looks = any(one.survives is not None and one.survives.verdict is Verdict.LOOK for one in mine)
        if mine:
            names = _names(mine, Verdict.HOLDS) or (Verdict.LOOK.value if looks else "nobody")
            tiles.append((f"Survive {condition.name}", names, "" if looks else _rest(mine)))
    return tiles


def _names(some: list[Survival], verdict: Verdict) -> str:
    names = [one.algorithm for one in some if one.survives is not None and one.survives.verdict is verdict]
    return listed(names, len(names)) if names else ""


def _rest(some: list[Survival]) -> str:
    words = {
        Verdict.FAILS: "not:",
        Verdict.OPEN: "cannot be told:",
        Verdict.UNKNOWN: "misses the target anyway:",
    }
    return "; ".join(f"{word} {names}" for verdict, word in words.items() if (names := _names(some, verdict)))
