"""The badges on top of a report: what each word means, and where docs/reports.md says more of it."""

from orchestrator.report.headline import Badge
from orchestrator.results.read import BROKEN_OFF, RUNNING
from orchestrator.results.summary import RunSummary

DOCS = "docs/reports.md"
MEANINGS = {
    "finished": "The run came to the end that its stop rule asks for.",
    "diverged": "The objective left the finite numbers: take smaller steps.",
    "interrupted": "Somebody ended the run; what was measured until then is kept.",
    "failed": "A mistake or dead nodes ended the run; what was measured until then is kept.",
    BROKEN_OFF: "The run was cut off without a word; this page is made of what had reached the disk.",
    RUNNING: "The run has not ended; this page is made of what has reached the disk so far.",
    "sound": "Everything sent was taken, and every round heard somebody, unless the experiment itself was in the way.",
    "degraded": "Something went wrong that no planned fault explains; the reason stands below.",
    "broken": "Nobody heard anybody, or a node refused everything of a neighbour: the figures mean nothing.",
    "exact": "The models are those of the lock-step simulator, bit for bit: nothing was late, lost or refused.",
    "not exact": "Something was lost, late or waited for in vain: another run may end in other models. Compare over "
    "several seeds.",
    "cpu-bound": "This machine could not keep up: its seconds say nothing of the algorithm.",
}
_LOOKS = {"finished": "good", "sound": "good", "exact": "good", "not exact": "", RUNNING: ""}


def badges(summary: RunSummary) -> list[Badge]:
    """How the run ended, its health, whether it is exact, and whether its machine kept up."""
    exact = "" if summary.exact is None else "exact" if summary.exact else "not exact"
    busy = "cpu-bound" if summary.network is not None and summary.network.cpu_bound else ""
    words = [summary.status, summary.health_word, exact, busy]
    return [_badge(word) for word in words if word]


def _badge(word: str) -> Badge:
    if word not in MEANINGS:
        return Badge(word)
    return Badge(word, _LOOKS.get(word, "bad"), MEANINGS[word], f"{DOCS}#{word.replace(' ', '-')}")
