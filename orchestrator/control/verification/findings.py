"""What is asked of a link, and what was found."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from orchestrator.results.network_summary import VerifiedLink, VerifiedLinks
from pame.links import LinkSpec

Link = tuple[int, int]
"""Sender and receiver."""


class LinkVerdict(StrEnum):
    """Of one property of one link."""

    OK = "ok"
    MISS = "miss"
    UNVERIFIABLE = "unverifiable here"


@dataclass(frozen=True, slots=True)
class Asked:
    """One property of one directed link."""

    link: Link
    what: str
    """delay, jitter, rate or loss."""
    value: float
    """Seconds, bits per second, or a share."""
    mechanism: str
    spec: LinkSpec
    """All that is asked of the link."""

    @property
    def in_process(self) -> bool:
        """Whether a node shapes messages itself."""
        return self.mechanism == "in-process"

    def found(
        self,
        verdict: LinkVerdict,
        measured: float | None = None,
        low: float | None = None,
        high: float | None = None,
        how: str = "",
    ) -> VerifiedLink:
        """What came of it; `low`, `high`: where it lies, as far as the measurement can tell; `how`, or why not."""
        return VerifiedLink(*self.link, self.what, self.value, measured, low, high, self.mechanism, verdict, how)


def summed_up(
    findings: Sequence[VerifiedLink], asked: Mapping[str, int], seconds: float, capacity_bps: float | None = None
) -> VerifiedLinks:
    """All that was found before a run; `asked`: of how many links each property is asked."""
    looked = Counter(finding.property for finding in findings)
    return VerifiedLinks(
        seconds=seconds,
        capacity_bps=capacity_bps,
        verdicts=Counter(finding.verdict for finding in findings),
        coverage={what: (looked[what], links) for what, links in asked.items()},
        findings=findings,
    )


def said(verified: VerifiedLinks) -> str:
    ok, miss, unknown = (verified.verdicts.get(verdict, 0) for verdict in LinkVerdict)
    return f"links measured: {ok} properties as asked, {miss} not, {unknown} unverifiable here"


def complaint(verified: VerifiedLinks) -> str:
    """Of what is not as asked, in one line; empty: of nothing."""
    misses = [finding for finding in verified.findings if finding.verdict == LinkVerdict.MISS]
    if not misses:
        return ""
    first, count = misses[0], len(misses)
    measured = f"{first.measured:.4g} instead of {first.asked:.4g}"
    others = f", and {count - 1} more" if count > 1 else ""
    return (
        f"verify.strict: the {first.property} of link {first.sender}→{first.receiver} is {measured} "
        f"({first.mechanism}){others}: see the table of links in the report"
    )
