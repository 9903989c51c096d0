"""From samples to findings: pure functions, one per property.

Delays and rates must be as asked within a tolerance; a loss within the exact binomial interval of what was counted, at
a false-alarm rate of 1 in 10,000 per link; a jitter within what so few samples can tell.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from orchestrator.control.verification.findings import Asked, LinkVerdict
from orchestrator.results.network_summary import VerifiedLink
from pame.links import LinkSpec

FALSE_ALARM = 1e-4
_SIGMAS = 4.0
_FEWEST = 5
_FEWEST_OF_JITTER = 8
_FEWEST_OF_LOSS = 50
_FEWEST_OF_RATE = 10
_DELAY_SLACK_S = {True: 0.003, False: 0.002}
"""In-process; by the kernel."""
_DELAY_SHARE = 0.05
_JITTER_SLACK_S = {True: 0.003, False: 0.001}
_MIDDLE_HALF = {"uniform": 1.0, "normal": 1.349}
"""How wide the middle half of the delays is, in units of the jitter."""
_QUARTILES_ERROR = 1.2
"""The standard error of that, times the root of the sample's size (1.17 for a normal distribution, 1 for a uniform)."""
_RATE_SHARE = {True: 0.15, False: 0.10}
_SETTLING = 0.2
"""The first part of a train: the bucket that htb has filled goes first."""
_KEEPS_UP = 1.05
_STRETCHES = 8


@dataclass(frozen=True, slots=True)
class Sample:
    """What one end knows of the probes of one direction, by one mechanism."""

    sent: int = 0
    bytes: int = 0
    """Of each, as the link counts it."""
    arrival_ns: Sequence[int] = ()
    age_ns: Sequence[int] = ()
    round_trip_ns: Sequence[int] = ()
    overrun: int = 0
    """Lost by the receiving machine, not by the link."""
    seconds: float = 0.0
    """For how long it was sent."""
    was_full: bool = False
    """Whether the sender had to wait for room in its own queue."""
    lost_behind: float = 0.0
    """The share that is lost after it had its time on the link (nft, at the receiver)."""


def unverifiable(asked: Asked, why: str) -> VerifiedLink:
    return asked.found(LinkVerdict.UNVERIFIABLE, how=why)


def judge(asked: Asked, sample: Sample, back: LinkSpec, one_clock: bool) -> VerifiedLink:
    """What the probes of a link tell of one property; `back`: what is asked of the way back."""
    match asked.what:
        case "delay" if one_clock:
            return _delay(asked, sample)
        case "delay":
            return _delay_by_round_trip(asked, sample, back)
        case "jitter" if one_clock:
            return _jitter(asked, sample)
        case "loss":
            return _loss(asked, sample)
        case "rate":
            return _rate(asked, sample)
    return unverifiable(asked, "the two ends have different clocks")


def deviation(spec: LinkSpec) -> float:
    """The standard deviation of the delay."""
    return spec.jitter_s if spec.distribution == "normal" else spec.jitter_s / sqrt(3)


def _delay(asked: Asked, sample: Sample) -> VerifiedLink:
    count = len(sample.age_ns)
    if count < _FEWEST:
        return unverifiable(asked, _too_few(count))
    measured = float(np.median(sample.age_ns)) / 1e9
    spread = _SIGMAS * 1.25 * deviation(asked.spec) / sqrt(count)  # of the median of so many
    slack = _DELAY_SLACK_S[asked.in_process] + _DELAY_SHARE * asked.value + spread
    return _found(asked, measured, slack, f"median of {count} {_probes(asked)}, one clock")


def _delay_by_round_trip(asked: Asked, sample: Sample, back: LinkSpec) -> VerifiedLink:
    """The shortest round trip, less what is asked of both ways: this link's part of the rest nobody can tell."""
    if not sample.round_trip_ns:
        return unverifiable(asked, "the two ends have different clocks, and no probe came back")
    home_s = 0.0 if asked.in_process else back.delay_s  # receipts are no messages: the shaper lets them pass
    rest = min(sample.round_trip_ns) / 1e9 - asked.value - home_s
    varies = _SIGMAS * (deviation(asked.spec) + (0.0 if asked.in_process else deviation(back)))
    slack = 2 * _DELAY_SLACK_S[asked.in_process] + _DELAY_SHARE * (asked.value + home_s) + varies
    how = f"shortest of {len(sample.round_trip_ns)} round trips: clocks differ, the way back is taken as asked"
    verdict = LinkVerdict.OK if abs(rest) <= slack else LinkVerdict.MISS
    return asked.found(verdict, asked.value + rest / 2, asked.value + min(rest, 0), asked.value + max(rest, 0), how)


def _jitter(asked: Asked, sample: Sample) -> VerifiedLink:
    count = len(sample.age_ns)
    if count < _FEWEST_OF_JITTER:
        return unverifiable(asked, _too_few(count))
    low, high = np.quantile(np.asarray(sample.age_ns, dtype=np.float64) / 1e9, (0.25, 0.75))
    measured = float(high - low) / _MIDDLE_HALF[asked.spec.distribution]
    slack = _JITTER_SLACK_S[asked.in_process] + _SIGMAS * _QUARTILES_ERROR * asked.value / sqrt(count)
    return _found(asked, measured, slack, f"middle half of {count} {_probes(asked)}, which a late one does not move")


def _loss(asked: Asked, sample: Sample) -> VerifiedLink:
    sent, came = sample.sent - sample.overrun, min(len(sample.arrival_ns), sample.sent)
    if sent < _FEWEST_OF_LOSS:
        return unverifiable(asked, _too_few(sent))
    lost = max(0, sent - came)
    low, high = exact_interval(lost, sent)
    verdict = LinkVerdict.OK if low <= asked.value <= high else LinkVerdict.MISS
    return asked.found(verdict, lost / sent, low, high, f"{lost} of {sent} datagrams lost")


def exact_interval(count: int, trials: int) -> tuple[float, float]:
    """Clopper and Pearson: where a probability lies that gave so many of so many, wrong once in 1 / FALSE_ALARM."""
    from scipy.special import betaincinv  # a tenth of a second that most runs never need

    low = betaincinv(count, trials - count + 1, FALSE_ALARM / 2) if count else 0.0
    high = betaincinv(count + 1, trials - count, 1 - FALSE_ALARM / 2) if count < trials else 1.0
    return float(low), float(high)


def _rate(asked: Asked, sample: Sample) -> VerifiedLink:
    arrivals = np.sort(np.asarray(sample.arrival_ns, dtype=np.int64))
    if not asked.in_process:
        offered = 8 * sample.bytes * sample.sent / sample.seconds if sample.seconds else 0.0
        if offered < _KEEPS_UP * asked.value and not sample.was_full:
            return unverifiable(asked, "the sender was too busy to fill the link")
        if arrivals.size < _FEWEST_OF_RATE:
            return unverifiable(asked, _too_few(arrivals.size))
        arrivals = arrivals[int(_SETTLING * arrivals.size) :]
    if arrivals.size < 2 or arrivals[-1] == arrivals[0]:
        return unverifiable(asked, _too_few(arrivals.size))
    gap = _usual_gap(arrivals / 1e9, 0.5 if asked.in_process else 0.25) * (1 - sample.lost_behind)
    if gap <= 0:
        return unverifiable(asked, "probes came at the same time, or none could come")
    measured = 8 * sample.bytes / gap
    wobble = asked.spec.jitter_s / gap if asked.in_process else 0.0
    slack = asked.value * (_RATE_SHARE[asked.in_process] + wobble)
    return _found(asked, measured, slack, f"{arrivals.size} {_probes(asked)} back to back")


def _usual_gap(arrivals: NDArray[np.float64], quantile: float) -> float:
    """Seconds from one to the next, in a quantile of some stretches: where a sender paused, the link was idle."""
    ends = np.linspace(0, arrivals.size - 1, min(arrivals.size, _STRETCHES + 1)).astype(int)
    return float(np.quantile(np.diff(arrivals[ends]) / np.diff(ends), quantile))


def _found(asked: Asked, measured: float, slack: float, how: str) -> VerifiedLink:
    verdict = LinkVerdict.OK if abs(measured - asked.value) <= slack else LinkVerdict.MISS
    return asked.found(verdict, measured, how=how)


def _probes(asked: Asked) -> str:
    return "messages" if asked.in_process else "datagrams"


def _too_few(count: int) -> str:
    return f"only {count} probes"
