"""The report: a table of claims and verdicts, then a section and a figure for each, with all settings."""

from html import escape
from pathlib import Path

from orchestrator.algorithm_names import algorithm_name
from orchestrator.campaigns.cell import SIMULATE
from orchestrator.campaigns.claims.claim import (
    Claim,
    ClaimExperiments,
    ClaimsOutcome,
    OfComparison,
    OfNetworks,
    OfStudy,
)
from orchestrator.campaigns.claims.run_curve import HOW
from orchestrator.campaigns.claims.verdict import ClaimJudgement
from orchestrator.campaigns.compare.grid import views
from orchestrator.campaigns.compare.measure import HOW as COMPARE_HOW
from orchestrator.campaigns.compare.report import doubts_of
from orchestrator.campaigns.compare.tables import company_line, settings_words
from orchestrator.campaigns.report_parts import NOTHING, VERDICT_LOOKS, how_measured, incomplete, verdict_cell
from orchestrator.campaigns.studies.grid import base_experiment
from orchestrator.campaigns.studies.measure import HOW as STUDY_HOW
from orchestrator.campaigns.verdicts import MARGIN, Finding, Verdict
from orchestrator.experiment import to_yaml
from orchestrator.number_words import count, duration, percent
from orchestrator.report import page
from orchestrator.report.chart import Chart
from orchestrator.report.page import TableCell
from orchestrator.results.paired import ENOUGH_SEEDS, LEVEL

_RULES = (
    "Every claim has parts, and each part a verdict of its own. Some parts decide: if all of them hold the claim "
    "holds, if some do it holds partly, if none does it does not hold, or cannot be told. The others, to reach "
    "the target at all for one, can only spoil: they make no claim hold, and if one fails, "
    "`holds` becomes `holds partly`.",
    "An effect is the ratio (or difference) of two settings under the same seeds, with an interval by Student's t over "
    f"the seeds; the intervals of all deciding parts of a claim together are right with {percent(LEVEL)}. A part "
    "holds if its whole interval says so, and does not hold if its whole interval says otherwise (a gain below "
    f"{percent(MARGIN)} counts as none). Else it cannot be told: too few seeds for the difference seen. Fewer than "
    f"{ENOUGH_SEEDS} seeds are a look, never a verdict. The share of seeds that reach the target has an exact "
    "interval; a miss that was seen is a miss, and spoils.",
    "The paper prints the step 1/(sigma^k t), but its table of large m is matched only by a step that does not depend "
    "on t. Both readings stand side by side: as printed, and independent of t (tuned, against other algorithms). {}",
    "Where PaME is compared with itself, and in studies, targets are read at the mean of all models, as the paper "
    "does, which averages once more for free; the nodes' own models are judged in comparisons with other algorithms.",
)
_HOW = (
    (ClaimExperiments, "", HOW),
    (OfStudy, " (studies)", STUDY_HOW),
    (OfComparison | OfNetworks, " (comparison)", COMPARE_HOW),
)
_SIMULATED = "Everything here was simulated; nothing ran on nodes."


def write_claims_report(folder: Path, outcome: ClaimsOutcome) -> Path:
    figures = {
        claim.key: figure
        for claim in outcome.claims
        if (figure := claim.figure(claim.key, outcome.found[claim.key])) is not None
    }
    parts = [_head(outcome), _table(outcome)]
    parts += [_section(claim, outcome, figures.get(claim.key)) for claim in outcome.claims]
    parts.append(_how(outcome))
    charts = list(figures.values())
    colours = max((len(chart.own_legend.labels) for chart in charts if chart.own_legend is not None), default=1)
    return page.write_page(folder, "Claims · PaME", parts, charts, colours)


def _head(outcome: ClaimsOutcome) -> str:
    verdicts = [judgement.verdict for judgement in outcome.judgements.values()]
    chips = [(f"{outcome.mode.value} mode", ""), (f"{duration(float(f'{outcome.seconds:.3g}'))} on this machine", "")]
    tiles = [
        (verdict.value.capitalize(), str(verdicts.count(verdict)), f"of {count(len(verdicts), 'claim')}")
        for verdict in Verdict
        if verdict is not Verdict.UNKNOWN or verdict in verdicts
    ]
    left_out = page.callout([f"Not tested: {words}." for words in outcome.left_out], look="plain")
    head = page.heading("Do the paper's claims hold?", chips) + page.tiles(tiles) + incomplete("This", outcome.trouble)
    return head + (left_out if outcome.left_out else "")


def _table(outcome: ClaimsOutcome) -> str:
    readings = list(dict.fromkeys(name for judged in outcome.judgements.values() for name in judged.readings))
    headers = [("Claim", False), ("Verdict", False), *((name.capitalize(), False) for name in readings)]
    headers.append(("Deciding parts that hold", True))
    rows = []
    for claim in outcome.claims:
        judgement = outcome.judgements[claim.key]
        held = float(judgement.met.partition(" ")[0])
        rows.append(
            [
                TableCell(claim.title, claim.title, link=f"#claim-{claim.key}", below=claim.statement),
                verdict_cell(judgement.verdict, "" if judgement.readings else judgement.where),
                *(_of_reading(judgement, name) for name in readings),
                TableCell(judgement.met, held),
            ]
        )
    lead = "What the paper claims, in our words, and what was measured. Nothing is tuned to make a claim hold or fail."
    where = _SIMULATED if outcome.backend == SIMULATE else f"Tuning was simulated; all else ran on {outcome.backend}."
    rules = page.card("".join(page.note(words.format(where)) for words in _RULES))
    return page.section(
        "verdicts", "Claims and verdicts", lead, page.grid([page.card(page.sortable(headers, rows)), rules])
    )


def _of_reading(judgement: ClaimJudgement, name: str) -> TableCell:
    verdict = judgement.readings.get(name)
    return TableCell(NOTHING, None) if verdict is None else verdict_cell(verdict, judgement.where_of(name))


def _section(claim: Claim, outcome: ClaimsOutcome, figure: Chart | None) -> str:
    judgement = outcome.judgements[claim.key]
    cards = [page.card(_words(claim, judgement) + _doubts(claim, outcome) + _findings(judgement))]
    cards.append(page.missing("Figure") if figure is None else page.chart(figure))
    cards.append(page.card(_settings(claim, outcome)))
    return page.section(f"claim-{claim.key}", claim.title, claim.statement, page.grid(cards))


def _words(claim: Claim, judgement: ClaimJudgement) -> str:
    said = {judgement.verdict.value: judgement.verdict}
    said |= {f"{name}: {verdict.value}": verdict for name, verdict in judgement.readings.items()}
    items = "".join(_chip(words, verdict) for words, verdict in said.items())
    notes = {"The paper": claim.origin, "What counts": f"{claim.criterion}.", "What is tested instead": claim.instead}
    texts = "".join(page.note(f"{title}: {words}") for title, words in notes.items() if words)
    return f'<ul class="chips">{items}</ul>{texts}'


def _chip(words: str, verdict: Verdict) -> str:
    return f'<li class="{VERDICT_LOOKS.get(verdict, "")}">{escape(words)}</li>'


def _doubts(claim: Claim, outcome: ClaimsOutcome) -> str:
    """Of a comparison: whom nodes met, and which of the settings that tuning chose could be better."""
    found = {f"{way}, " if way else "": compared for way, compared in outcome.found[claim.key].compared.items()}
    company = "".join(
        page.note(f"{at}{view.value}: {company_line(compared, view)}.")
        for at, compared in found.items()
        for view in views(compared.comparison)
    )
    doubts = [f"{at}{doubt}" for at, compared in found.items() for doubt in doubts_of(compared)]
    return company + (page.callout(doubts, "Tuning may have missed the best settings") if doubts else "")


def _findings(judgement: ClaimJudgement) -> str:
    """A row per part and place, a column per reading."""
    if not judgement.findings:
        return page.note("Nothing was measured.")
    readings = list(judgement.readings) or [""]
    found = {(f.part, f.place, f.reading): f for f in judgement.findings}
    places = dict.fromkeys((f.part, f.place, f.decides) for f in judgement.findings)
    headers = [("Part", False), ("Where", False), *((name.capitalize() or "Verdict", False) for name in readings)]
    rows = [
        [
            TableCell(part, part, below="decides" if decides else "can only spoil"),
            TableCell(place, place),
            *(_finding(found.get((part, place, name))) for name in readings),
        ]
        for part, place, decides in sorted(places, key=lambda one: not one[2])
    ]
    level = page.note(f"Each interval has a confidence of {judgement.confidence * 100:.4g} %.")
    return page.sortable(headers, rows) + level


def _finding(finding: Finding | None) -> TableCell:
    if finding is None:
        return TableCell("not asked", "")
    return verdict_cell(finding.verdict, ": ".join(filter(None, (finding.size, finding.evidence))))


def _settings(claim: Claim, outcome: ClaimsOutcome) -> str:
    seeds, source, found = outcome.seeds[claim.key], claim.source, outcome.found[claim.key]
    rows = [("Seeds", ", ".join(map(str, seeds)))]
    if isinstance(source, ClaimExperiments):
        rows += [(run.title, "  ".join(run.settings)) for run in source.runs(outcome.mode)]
        return page.folded("All settings", page.pairs(rows)) + page.fold("The base experiment", source.base.strip())
    if isinstance(source, OfStudy):
        study, base = found.study or source.sized(outcome.mode), base_experiment(source.file)
        rows += [(f"Chosen eta of {algorithm_name(each.algorithm)}", each.words) for each in found.tuned]
        rows += [(policy.words, "  ".join(policy.settings)) for policy in study.policies(base)]
        rows += [(condition.words, "  ".join(condition.settings)) for condition in study.conditions]
        return page.pairs(rows) + page.fold("The base experiment", to_yaml(base))
    plans = source.plans(claim.key, outcome.mode, seeds)
    for room, plan in plans.items():
        rows += [("Base", str(dict(plan.base))), ("Targets", ", ".join(target.words for target in plan.targets))]
        rows += [("Tuning", f"{plan.tuning.runs} settings each, seed {plan.tuning.seed}")]
        if (compared := outcome.compared.get(room)) is not None:  # what tuning chose; the rest stands there
            rows += [
                (f"{algorithm_name(c.algorithm)}, {c.view.value}", settings_words(c.values)) for c in compared.choices
            ]
            rows.append(("Its own report", f"{room}/report.html"))
    text = next(iter(plans.values())).path.read_text(encoding="utf-8")
    return page.pairs(rows) + page.fold("The comparison", text)


def _how(outcome: ClaimsOutcome) -> str:
    rows = [
        (f"{name}{of}", words)
        for kind, of, meanings in _HOW
        if any(isinstance(claim.source, kind) for claim in outcome.claims)
        for name, words in meanings.items()
    ]
    return how_measured([*rows, ("Again", outcome.command)])
