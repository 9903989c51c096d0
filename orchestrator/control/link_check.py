"""The links of a run: what its nodes say that they realise, and what is measured of it before the start.

Nodes are told who probes whom, round by round, and their answers are judged.
"""

import asyncio
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence

from contract.rpc import control_pb2 as pb
from contract.tasks import is_set
from orchestrator.control.verification.findings import Asked, Link, complaint, said, summed_up
from orchestrator.control.verification.judge import Sample, judge, unverifiable
from orchestrator.control.verification.schedule import MOST_RATE_ROUNDS, Round, rate_rounds, sample, timing_rounds
from orchestrator.experiment import Verify
from orchestrator.results import Status
from orchestrator.results.network_summary import VerifiedLink, VerifiedLinks
from pame.links import PROPERTIES
from pame.resolved_run import ResolvedRun

VERIFY_S = 120.0
_NAMES = frozenset(one.name for one in PROPERTIES)
_CAPACITY_S = 0.15
_ANSWER_S = 6.0
_STRAGGLING_S = 0.1
"""For the last probe, beyond its delay."""

_Answers = Mapping[Link, pb.Probed]
"""By who answers, and about whom."""


def asked_of(setting: ResolvedRun, realised: Iterable[pb.RealisedLink]) -> dict[Link, list[Asked]]:
    """What there is to measure, by link: what the nodes say that they realise, each property once."""
    found: dict[tuple[Link, str], Asked] = {}
    for row in realised:
        link, name = (row.sender, row.receiver), row.property
        if name in _NAMES and (link, name) not in found:
            spec = setting.conditions.link_at(*link, 0.0)
            found[link, name] = Asked(link, name, row.asked, row.mechanism, spec)
    asked = defaultdict(list)
    for link, name in sorted(found):
        asked[link].append(found[link, name])
    return dict(asked)


class LinkCheck:
    """From the first node that is ready to the start."""

    def __init__(self, run: int, setting: ResolvedRun, rules: Verify, tell: Callable[[int, pb.ToNode], None]) -> None:
        """`tell`: something to a node."""
        self.realised: dict[int, list[pb.RealisedLink]] = {}
        """What became of the properties of the links, by the node that says so."""
        self.verified: VerifiedLinks | None = None
        """What was measured of them."""
        self._run = run
        self._setting = setting
        self._rules = rules
        self._tell = tell
        self._boots: dict[int, str] = {}
        """On which boot of which machine each node runs."""
        self._asked: dict[Link, list[Asked]] = {}
        """What is measured."""
        self._number = 0
        self._expected: set[Link] = set()
        self._answers: dict[Link, pb.Probed] = {}
        self._news = asyncio.Event()
        self._findings: list[VerifiedLink] = []

    def ready(self, index: int, ready: pb.Ready) -> None:
        self.realised[index] = list(ready.links)
        self._boots[index] = ready.boot

    def probed(self, index: int, answer: pb.Probed) -> None:
        if answer.number == self._number and (index, answer.peer) in self._expected:
            self._answers[index, answer.peer] = answer
            self._news.set()

    def begin(self) -> asyncio.Task[None] | None:
        """Measure the links; None where there is nothing to measure, or nobody wants to know."""
        if self._rules.when != "never":
            self._asked = asked_of(self._setting, (link for links in self.realised.values() for link in links))
        return asyncio.create_task(self._measure_all()) if self._asked else None

    def end(self) -> tuple[Status, str] | None:
        """How the run ends here, and why; None: it goes on."""
        if self._asked and self.verified is None and (self._rules.strict or self._rules.when == "only"):
            return Status.FAILED, f"the links were not measured within {VERIFY_S:g} s: use fewer nodes or links"
        if self.verified is not None and self._rules.strict and (why := complaint(self.verified)):
            return Status.FAILED, why
        if self._rules.when == "only":
            return Status.FINISHED, said(self.verified) if self.verified else "no link to measure"
        return None

    async def _measure_all(self) -> None:
        """Of many links, a sample."""
        began = time.monotonic()
        cut = {link for link in self._asked if self._setting.conditions.held_until(*link, 0.0) > 0.0}
        chosen = {link: self._asked[link] for link in sample(self._asked.keys() - cut, self._setting.seed)}
        for link in sorted(cut):
            self._findings += [unverifiable(one, "the link is cut when the run begins") for one in self._asked[link]]
        timing = timing_rounds(chosen)
        has_rates = any(one.what == "rate" for some in chosen.values() for one in some)
        capacity = await self._capacity() if has_rates else None
        rating, too_fast = rate_rounds(chosen, (capacity or 0.0) / 2)
        for done, round_ in enumerate([*timing, *rating[:MOST_RATE_ROUNDS]]):
            await self._measure(round_, is_rate=done >= len(timing))
        why = f"this machine carries {(capacity or 0.0) / 1e6:.3g} Mbit/s, and a probe may take half of it"
        self._findings += [unverifiable(one, why) for link in too_fast for one in chosen[link] if one.what == "rate"]
        findings = sorted(self._findings, key=lambda found: (found.sender, found.receiver, found.property))
        asked = Counter(one.what for some in self._asked.values() for one in some)
        self.verified = summed_up(findings, asked, time.monotonic() - began, capacity)

    async def _capacity(self) -> float:
        """What the weakest machine carries: one node of each is asked."""
        first = {boot: node for node, boot in sorted(self._boots.items(), reverse=True)}
        answers = await self._ask([(node, 0) for node in first.values()], pb.Probe.KIND_CAPACITY, _CAPACITY_S)
        return min((answer.capacity_bps for answer in answers.values()), default=0.0)

    async def _measure(self, round_: Round, is_rate: bool) -> None:
        kind = pb.Probe.KIND_RATE if is_rate else pb.Probe.KIND_TIMING
        sent = await self._ask(round_.links, kind, round_.seconds)
        specs = [self._asked[link][0].spec for link in round_.links]
        await asyncio.sleep(_STRAGGLING_S + max(spec.delay_s + 4 * spec.jitter_s for spec in specs))
        ends = sorted({end for i, j in round_.links for end in ((i, j), (j, i))})
        came = await self._ask(ends, pb.Probe.KIND_COLLECT, 0.0, again=True)
        for link in round_.links:
            for one in self._asked[link]:
                if (one.what == "rate") is is_rate:
                    self._findings.append(self._judge(one, round_, sent, came))

    def _judge(self, asked: Asked, round_: Round, sent: _Answers, came: _Answers) -> VerifiedLink:
        i, j = asked.link
        if (i, j) not in sent or (j, i) not in came:
            return unverifiable(asked, "a node did not answer in time")
        if sent[i, j].trouble:
            return unverifiable(asked, sent[i, j].trouble)
        by = "messages" if asked.in_process else "datagrams"
        out, into = getattr(sent[i, j], by), getattr(came[j, i], by)
        home = [*out.round_trip_ns, *(getattr(came[i, j], by).round_trip_ns if (i, j) in came else ())]
        behind = [one for one in self._asked[asked.link] if one.what == "loss" and one.mechanism == "nft"]
        found = Sample(
            sent=out.sent,
            bytes=into.bytes,
            arrival_ns=into.arrival_ns,
            age_ns=into.age_ns,
            round_trip_ns=home,
            overrun=into.overrun,
            seconds=round_.seconds,
            was_full=out.overrun > 0,
            lost_behind=behind[0].value if behind else 0.0,
        )
        return judge(asked, found, self._setting.conditions.link_at(j, i, 0.0), self._have_one_clock(i, j))

    def _have_one_clock(self, i: int, j: int) -> bool:
        boot = self._boots.get(i)
        return bool(boot) and boot == self._boots.get(j)

    async def _ask(
        self, whom: Sequence[Link], kind: pb.Probe.Kind, seconds: float, again: bool = False
    ) -> dict[Link, pb.Probed]:
        """Orders to nodes, each about one peer, and the answers that come in time; `again`: under the last number."""
        self._number += not again
        self._answers, self._expected = {}, set(whom)
        for node, peer in whom:
            echo = not self._have_one_clock(node, peer)
            order = pb.Probe(run=self._run, number=self._number, kind=kind, peer=peer, seconds=seconds, echo=echo)
            self._tell(node, pb.ToNode(probe=order))
        deadline = time.monotonic() + seconds + _ANSWER_S
        while len(self._answers) < len(self._expected):
            self._news.clear()
            if not await is_set(self._news, deadline - time.monotonic()):
                break
        return dict(self._answers)
