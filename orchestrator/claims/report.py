"""The report: a table of claims and verdicts, then a section and a figure for each, with all settings."""

from collections.abc import Iterable
from html import escape
from pathlib import Path

from orchestrator.claims.claim import Claim, Experiments, Judgement, OfComparison, OfStudy
from orchestrator.claims.course import HOW
from orchestrator.claims.files import comparison, study_file
from orchestrator.claims.outcome import Outcome
from orchestrator.compare.grid import views
from orchestrator.compare.measure import HOW as COMPARE_HOW
from orchestrator.compare.report import doubts_of
from orchestrator.compare.tables import company_line, settings_words
from orchestrator.errors import writing
from orchestrator.experiment import to_yaml
from orchestrator.report import page
from orchestrator.report.figure import Figure
from orchestrator.report.page import Cell
from orchestrator.report.provenance import provenance_footer
from orchestrator.report.text import count, duration
from orchestrator.studies.grid import base_experiment
from orchestrator.studies.measure import HOW as STUDY_HOW
from orchestrator.studies.verdict import Verdict

_LOOKS = {Verdict.HOLDS: "good", Verdict.FAILS: "bad", Verdict.PARTLY: "", Verdict.UNKNOWN: ""}


def write_claims_report(folder: Path, outcome: Outcome) -> Path:
    """Writes `report.html` into the folder."""
    figures = {
        claim.key: figure
        for claim in outcome.claims
        if (figure := claim.figure(claim.key, outcome.found[claim.key])) is not None
    }
    parts = [_head(outcome), _table(outcome)]
    parts += [_section(claim, outcome, figures.get(claim.key)) for claim in outcome.claims]
    parts.append(_how(outcome))
    html = page.page(
        "Claims · PaME",
        folder.name,
        "".join(parts),
        list(figures.values()),
        _steps(figures.values()),
        provenance=provenance_footer(folder),
    )
    path = folder / "report.html"
    with writing(path):
        path.write_text(html, encoding="utf-8")
    return path


def _steps(figures: Iterable[Figure]) -> int:
    """As many colours as the chart with the most lines has."""
    return max((len(figure.own_legend.labels) for figure in figures if figure.own_legend is not None), default=1)


def _head(outcome: Outcome) -> str:
    verdicts = [judgement.verdict for judgement in outcome.judgements.values()]
    chips = [(f"{outcome.mode.value} mode", ""), (f"{duration(float(f'{outcome.seconds:.3g}'))} on this machine", "")]
    tiles = [
        (verdict.value.capitalize(), str(verdicts.count(verdict)), f"of {count(len(verdicts), 'claim')}")
        for verdict in Verdict
        if verdict is not Verdict.UNKNOWN or verdict in verdicts
    ]
    parts = [page.heading("Do the paper's claims hold?", chips), page.tiles(tiles)]
    if outcome.trouble:
        parts.append(page.callout([f"This is not complete: {outcome.trouble}"], look="bad"))
    return "".join(parts)


def _table(outcome: Outcome) -> str:
    headers = [("Claim", False), ("Conditions met", True), ("Verdict", False)]
    rows = []
    for claim in outcome.claims:
        judgement = outcome.judgements[claim.key]
        passed = sum(finding.passed for finding in judgement.findings)
        rows.append(
            [
                Cell(claim.title, claim.title, link=f"#claim-{claim.key}", below=claim.statement),
                Cell(judgement.met, passed),
                Cell(judgement.verdict.value, judgement.verdict.value, below=judgement.where),
            ]
        )
    lead = (
        "Every claim is looked at in several conditions by the criterion that stands beside it. Met in all of them: "
        "holds; in some: holds partly; in none: does not hold. Nothing is tuned to make a claim hold "
        "or fail. Everything here was simulated."
    )
    return page.section("verdicts", "Claims and verdicts", lead, page.grid([page.card(page.sortable(headers, rows))]))


def _section(claim: Claim, outcome: Outcome, figure: Figure | None) -> str:
    judgement = outcome.judgements[claim.key]
    cards = [page.card(_words(claim, judgement) + _doubts(claim, outcome) + _findings(judgement))]
    cards.append(page.missing("Figure") if figure is None else page.chart(figure))
    cards.append(page.card(_settings(claim, outcome)))
    return page.section(f"claim-{claim.key}", claim.title, claim.statement, page.grid(cards))


def _words(claim: Claim, judgement: Judgement) -> str:
    look = _LOOKS[judgement.verdict]
    verdict = f'<ul class="chips"><li class="{look}">{escape(judgement.verdict.value)}</li></ul>'
    notes = [f"What counts as holding: {claim.criterion}.", claim.remark]
    return verdict + "".join(page.note(words) for words in notes if words)


def _doubts(claim: Claim, outcome: Outcome) -> str:
    """Of a comparison: whom nodes met, and which of the settings that tuning chose could be better."""
    compared = outcome.found[claim.key].compared
    if compared is None:
        return ""
    company = "".join(
        page.note(f"{view.value}: {company_line(compared, view)}.") for view in views(compared.comparison)
    )
    doubts = doubts_of(compared)
    return company + (page.callout(doubts, "Tuning may have missed the best settings") if doubts else "")


def _findings(judgement: Judgement) -> str:
    if not judgement.findings:
        return page.note("Nothing was measured.")
    headers = [("Condition", False), ("Met", False), ("Measured", False)]
    rows = [[finding.condition, "yes" if finding.passed else "no", finding.evidence] for finding in judgement.findings]
    return page.listing(headers, rows, long=False)


def _settings(claim: Claim, outcome: Outcome) -> str:
    seeds = outcome.seeds[claim.key]
    rows = [("Seeds", ", ".join(map(str, seeds)))]
    source = claim.source
    if isinstance(source, Experiments):
        rows += [(run.words, "  ".join(run.settings)) for run in source.runs(outcome.mode)]
        return page.pairs(rows) + page.fold("The base experiment", source.base.strip())
    if isinstance(source, OfStudy):
        study = source.sized(outcome.mode)
        base = base_experiment(study_file(study.name))
        rows += [(policy.words, "  ".join(policy.settings)) for policy in study.policies(base)]
        rows += [(condition.words, "  ".join(condition.settings)) for condition in study.conditions]
        return page.pairs(rows) + page.fold("The base experiment", to_yaml(base))
    return page.pairs([*rows, *_compared(claim, outcome)]) + page.fold(
        "The comparison", comparison(outcome.mode, seeds).path.read_text(encoding="utf-8")
    )


def _compared(claim: Claim, outcome: Outcome) -> list[tuple[str, str]]:
    """What tuning chose; the rest stands in the comparison's own report."""
    plan = comparison(outcome.mode, outcome.seeds[claim.key])
    rows = [("Base", str(dict(plan.base))), ("Tuning", f"{plan.tuning.runs} settings each, seed {plan.tuning.seed}")]
    compared = outcome.found[claim.key].compared
    if compared is not None:
        rows += [(f"{c.algorithm}, {c.view.value}", settings_words(c.values)) for c in compared.choices]
        rows.append(("Its own report", "comparison/report.html"))
    return rows


def _how(outcome: Outcome) -> str:
    kinds = {type(claim.source) for claim in outcome.claims}
    rows = list(HOW.items()) if Experiments in kinds else []
    rows += [(f"{name} (studies)", words) for name, words in STUDY_HOW.items()] if OfStudy in kinds else []
    rows += [(f"{name} (comparison)", words) for name, words in COMPARE_HOW.items()] if OfComparison in kinds else []
    rows = [(name[:1].upper() + name[1:], words) for name, words in rows]
    rows.append(("Again", outcome.command))
    return page.section("how", "How it was measured", "", page.grid([page.card(page.pairs(rows))]))
