"""What a person sees of the claims in the terminal: a bar over all runs, and a table that fills with verdicts."""

from collections import Counter
from collections.abc import Sequence

from rich.console import Group
from rich.live import Live
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table

from orchestrator.campaigns.claims.claim import Claim
from orchestrator.campaigns.claims.verdict import ClaimJudgement
from orchestrator.campaigns.verdicts import Verdict
from orchestrator.number_words import count

_COLOURS = {Verdict.HOLDS: "green", Verdict.PARTLY: "yellow", Verdict.FAILS: "red"}


class ClaimsScreen:
    """Watches the claims being tested."""

    def __init__(self, claims: Sequence[Claim], runs: int, live: Live) -> None:
        self._claims = claims
        self._live = live
        self._ran: Counter[str] = Counter()
        self._judgements: dict[str, ClaimJudgement] = {}
        self._progress = Progress(
            TextColumn("[bold]{task.description}"),
            BarColumn(bar_width=None),
            MofNCompleteColumn(),
            TextColumn("runs"),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
        )
        self._task = self._progress.add_task("claims", total=runs)
        live.update(self._show())

    def ran(self, claims: Sequence[str]) -> None:
        """One more run is over."""
        self._ran.update(claims)
        self._progress.advance(self._task)
        self._live.update(self._show())

    def judged(self, claim: str, judgement: ClaimJudgement) -> None:
        """A claim has its verdict."""
        self._judgements[claim] = judgement
        self._live.update(self._show())

    def _show(self) -> Group:
        table = Table(box=None, pad_edge=False, header_style="bold")
        for heading in ("claim", "verdict", "deciding parts"):
            table.add_column(heading, no_wrap=True)
        table.add_column("by reading")
        for claim in self._claims:
            table.add_row(claim.key, *self._line(claim.key))
        return Group(self._progress, table)

    def _line(self, claim: str) -> tuple[str, str, str]:
        judgement = self._judgements.get(claim)
        if judgement is None:
            return "[dim]…[/]", "", f"[dim]{count(self._ran[claim], 'run')} so far[/]"
        readings = "; ".join(f"{name}: {verdict.value}" for name, verdict in judgement.readings.items())
        verdict = f"[{_COLOURS.get(judgement.verdict, 'dim')}]{judgement.verdict.value}[/]"
        return verdict, judgement.met, escape(readings or judgement.where)
