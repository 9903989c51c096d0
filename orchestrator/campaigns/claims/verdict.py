"""How a claim is judged: parts that decide, parts that can only spoil, each with a verdict of its own.

A part is a question about paired seeds (`verdicts`). The intervals of the parts that decide hold together: with k of
them each has the confidence 1 - 0.05 / k, so that pure noise makes any of them hold wrongly in at most 2.5 of 100
claims. A part that can only spoil (to reach the target at all, say) makes no claim hold, and if it fails `holds`
becomes `holds partly`.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from orchestrator.campaigns.verdicts import Finding, Question, Test, Verdict, answered, overall
from orchestrator.results.paired import LEVEL

_NAMED = 4
"""So many places are named in a headline."""
_SPOILS = (Verdict.FAILS, Verdict.PARTLY)


@dataclass(frozen=True)
class ClaimJudgement:
    """What is said of a claim, and what that rests on."""

    verdict: Verdict
    findings: tuple[Finding, ...]
    confidence: float = LEVEL
    """Of each interval."""

    @property
    def readings(self) -> dict[str, Verdict]:
        """By reading of the paper, where there is more than one."""
        names = dict.fromkeys(finding.reading for finding in self.findings if finding.reading)
        return {name: headline([found for found in self.findings if found.reading == name]) for name in names}

    @property
    def met(self) -> str:
        deciding = [finding for finding in self.findings if finding.decides]
        return f"{sum(finding.verdict is Verdict.HOLDS for finding in deciding)} of {len(deciding)}"

    @property
    def where(self) -> str:
        """Reading by reading; and if not everywhere or nowhere, where it holds and where not."""
        readings = self.readings
        if not readings:
            return _where(self.findings) if self.verdict is Verdict.PARTLY else ""
        said = []
        for name, verdict in readings.items():
            detail = self.where_of(name)
            said.append(f"{name}: {verdict.value}{f' ({detail})' if detail else ''}")
        return "; ".join(said)

    def where_of(self, reading: str) -> str:
        """Of one reading: where it holds and where not, if not everywhere or nowhere."""
        found = [finding for finding in self.findings if finding.reading == reading]
        return _where(found) if headline(found) is Verdict.PARTLY else ""


def judge(questions: Sequence[Question]) -> ClaimJudgement:
    together = sum(question.decides and isinstance(question.answer, Test) for question in questions)
    confidence = 1.0 - (1.0 - LEVEL) / max(1, together)
    findings = tuple(answered(question, confidence) for question in questions)
    return ClaimJudgement(headline(findings), findings, confidence)


def headline(findings: Sequence[Finding]) -> Verdict:
    """From the parts that decide; the others can only spoil."""
    found = overall([finding.verdict for finding in findings if finding.decides])
    is_spoilt = any(finding.verdict in _SPOILS for finding in findings)
    return Verdict.PARTLY if found is Verdict.HOLDS and is_spoilt else found


def _where(findings: Sequence[Finding]) -> str:
    """Whichever list is the shorter; what spoils is named in any case."""
    deciding = [finding for finding in findings if finding.decides]
    held = [_said(finding) for finding in deciding if finding.verdict is Verdict.HOLDS]
    other = [_said(finding) for finding in deciding if finding.verdict is not Verdict.HOLDS]
    spoilt = [_said(finding) for finding in findings if not finding.decides and finding.verdict in _SPOILS]
    if len(held) < len(other):
        return f"only: {_some(held)}"
    return f"not: {_some([*other, *spoilt])}"


def _some(names: Sequence[str]) -> str:
    more = f"; and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return "; ".join(names[:_NAMED]) + more


def _said(finding: Finding) -> str:
    place = ", ".join(filter(None, (finding.part, finding.place)))
    return f"{place} (diverges)" if finding.diverges else place
