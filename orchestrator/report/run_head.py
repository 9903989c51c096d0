"""The top of a run's report: what became of it in a few words, what is wrong with it, and its chief figures."""

from orchestrator.report import page
from orchestrator.report.badges import badges
from orchestrator.report.headline import headline
from orchestrator.report.network import cpu_bound, no_tls
from orchestrator.report.run_tiles import run_tiles, start_of
from orchestrator.report.settings_line import settings_line
from orchestrator.results.files import read_yaml
from orchestrator.results.read import BROKEN_OFF, RUNNING, RunData
from orchestrator.results.run_sentence import run_sentence

BECAME = {
    "interrupted": "This run was interrupted",
    "diverged": "This run diverged",
    "failed": "This run failed",
    BROKEN_OFF: "This run broke off",
    RUNNING: "This run is going on",
}


def run_head(run: RunData) -> str:
    summary, settings, start = run.summary, read_yaml(run.experiment or ""), start_of(run)
    health, untrue = summary.health_word, summary.faults.sentence if summary.faults else ""
    sentence = run_sentence(summary, start.objective if start else None)
    parts = [headline(summary.name, badges(summary), sentence, settings_line(summary, settings))]
    if summary.reason and summary.status != "finished":
        became = BECAME.get(summary.status, f"This run ended as “{summary.status}”")
        look = "" if summary.status == RUNNING else "bad"
        parts.append(page.callout([f"{became}: {summary.reason}"], look=look))
    if summary.health_reason and summary.health_reason != summary.reason:
        parts.append(page.callout([f"This run is {health}: {summary.health_reason}."], look="bad"))
    if untrue:
        parts.append(page.callout([untrue], look="bad"))
    parts.append(page.tiles(run_tiles(run, settings)))
    troubles = filter(None, (cpu_bound(summary.network), no_tls(summary.network)))
    parts += [page.callout([trouble], look="bad") for trouble in troubles]
    if summary.left_to_judge:
        parts.append(page.callout([f"Not evaluated yet: {summary.left_to_judge}."], look="bad"))
    if others := [warning for warning in summary.warnings if warning != untrue]:
        parts.append(page.callout(others, "Warnings"))
    if summary.notes:
        parts.append(page.callout(summary.notes, "Settings of the file, with another kind by --set", look="plain"))
    return "".join(parts)
