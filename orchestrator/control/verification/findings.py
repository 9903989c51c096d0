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


@dataclass(frozen=True, slots=True)
class LinkFinding:
    """What came of it."""

    asked: Asked
    verdict: LinkVerdict
    measured: float | None = None
    low: float | None = None
    """Where it lies, as far as the measurement can tell."""
    high: float | None = None
    how: str = ""
    """How it was measured, or why not."""

    def row(self) -> VerifiedLink:
        """For summary.json."""
        asked, found = self.asked, (self.measured, self.low, self.high)
        what = (*asked.link, asked.what, asked.value)
        return VerifiedLink(*what, *found, asked.mechanism, self.verdict.value, self.how)


@dataclass(frozen=True, slots=True)
class Verification:
    """All that was found before a run."""

    findings: Sequence[LinkFinding]
    asked: Mapping[str, int]
    """Of how many links each property is asked."""
    seconds: float
    capacity_bps: float | None = None
    """What the weakest machine carries; None: nobody asked."""

    @property
    def misses(self) -> list[LinkFinding]:
        """What is not as asked."""
        return [finding for finding in self.findings if finding.verdict is LinkVerdict.MISS]

    def said(self) -> str:
        counts = Counter(finding.verdict for finding in self.findings)
        ok, miss, unknown = counts[LinkVerdict.OK], counts[LinkVerdict.MISS], counts[LinkVerdict.UNVERIFIABLE]
        return f"links measured: {ok} properties as asked, {miss} not, {unknown} unverifiable here"

    def complaint(self) -> str:
        """Of misses, in one line."""
        first, count = self.misses[0], len(self.misses)
        i, j = first.asked.link
        measured = f"{first.measured:.4g} instead of {first.asked.value:.4g}"
        others = f", and {count - 1} more" if count > 1 else ""
        return (
            f"verify.strict: the {first.asked.what} of link {i}→{j} is {measured} ({first.asked.mechanism}){others}: "
            "see the table of links in the report"
        )

    def summary(self) -> VerifiedLinks:
        """For summary.json."""
        looked = Counter(finding.asked.what for finding in self.findings)
        return VerifiedLinks(
            seconds=self.seconds,
            capacity_bps=self.capacity_bps,
            verdicts=Counter(finding.verdict.value for finding in self.findings),
            coverage={what: (looked[what], asked) for what, asked in self.asked.items()},
            findings=[finding.row() for finding in self.findings],
        )
