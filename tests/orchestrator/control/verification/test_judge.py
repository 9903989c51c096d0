"""Samples with a known answer get it: as asked, not as asked, or nothing to be said."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binomtest

from orchestrator.control.verification.findings import Asked, LinkVerdict, complaint, summed_up
from orchestrator.control.verification.judge import FALSE_ALARM, Sample, exact_interval, judge
from orchestrator.results.network_summary import VerifiedLink
from pame.links import LinkSpec

SPEC = LinkSpec(delay_s=0.05, jitter_s=0.01, loss=0.1, rate_bps=1e7)
VALUES = {"delay": 0.05, "jitter": 0.01, "loss": 0.1, "rate": 1e7}
RANDOM = np.random.default_rng(5)
BACK = LinkSpec(delay_s=0.02)


def asked(what: str, mechanism: str = "netem", spec: LinkSpec = SPEC) -> Asked:
    return Asked((0, 1), what, VALUES[what], mechanism, spec)


def found(
    what: str, sample: Sample, mechanism: str = "netem", one_clock: bool = True, spec: LinkSpec = SPEC
) -> VerifiedLink:
    return judge(asked(what, mechanism, spec), sample, BACK, one_clock)


def ages(centre_s: float, jitter_s: float, count: int) -> Sample:
    age = (centre_s + jitter_s * RANDOM.uniform(-1, 1, count)) * 1e9
    return Sample(sent=count, age_ns=[int(one) for one in age], arrival_ns=list(range(count)))


@pytest.mark.parametrize(
    ("centre_s", "verdict"),
    [(0.05, LinkVerdict.OK), (0.052, LinkVerdict.OK), (0.07, LinkVerdict.MISS), (0.03, LinkVerdict.MISS)],
)
def test_a_delay_is_the_median_age(centre_s: float, verdict: LinkVerdict) -> None:
    finding = found("delay", ages(centre_s, 0.001, 100), spec=replace(SPEC, jitter_s=0.001))
    assert finding.verdict is verdict
    assert finding.measured == pytest.approx(centre_s, abs=5e-4)


def test_a_few_late_probes_of_a_busy_machine_move_neither_delay_nor_jitter() -> None:
    sample = ages(0.05, 0.01, 100)
    late = replace(sample, age_ns=[*sample.age_ns[:90], *[10**9] * 10])
    assert found("delay", late).verdict is LinkVerdict.OK
    assert found("jitter", late).verdict is LinkVerdict.OK


@pytest.mark.parametrize(
    ("jitter_s", "verdict"), [(0.01, LinkVerdict.OK), (0.03, LinkVerdict.MISS), (0.0, LinkVerdict.MISS)]
)
def test_a_jitter_is_the_middle_half_of_the_ages(jitter_s: float, verdict: LinkVerdict) -> None:
    assert found("jitter", ages(0.05, jitter_s, 400)).verdict is verdict


def test_a_normal_jitter_is_its_standard_deviation() -> None:
    age = 0.05 + 0.01 * RANDOM.standard_normal(400)
    sample = Sample(sent=400, age_ns=[int(one * 1e9) for one in age])
    finding = found("jitter", sample, spec=replace(SPEC, distribution="normal"))
    assert finding.verdict is LinkVerdict.OK
    assert finding.measured == pytest.approx(0.01, rel=0.2)


@pytest.mark.parametrize(("came", "verdict"), [(450, LinkVerdict.OK), (500, LinkVerdict.MISS), (350, LinkVerdict.MISS)])
def test_a_loss_lies_in_the_binomial_interval_or_is_a_miss(came: int, verdict: LinkVerdict) -> None:
    finding = found("loss", Sample(sent=500, arrival_ns=range(came)))
    assert finding.verdict is verdict
    assert finding.measured == pytest.approx((500 - came) / 500)
    assert finding.low is not None
    assert finding.high is not None
    assert finding.low <= (500 - came) / 500 <= finding.high


@pytest.mark.parametrize(("count", "trials"), [(0, 60), (60, 60), (7, 90), (412, 500)])
def test_the_interval_is_that_of_the_textbook(count: int, trials: int) -> None:
    textbook = binomtest(count, trials).proportion_ci(1 - FALSE_ALARM, method="exact")
    assert exact_interval(count, trials) == pytest.approx((textbook.low, textbook.high))


def test_right_losses_are_hardly_ever_called_a_miss() -> None:
    """The false-alarm rate is 1e-4 per link: of 2000 right ones at most 3 (probability of more: 6e-5)."""
    arrived = np.random.default_rng(11).binomial(300, 0.9, 2000)
    findings = [found("loss", Sample(sent=300, arrival_ns=range(count))) for count in arrived]
    assert sum(finding.verdict is LinkVerdict.MISS for finding in findings) <= 3


def test_what_the_receiving_machine_threw_away_is_no_loss_of_the_link() -> None:
    assert found("loss", Sample(sent=500, arrival_ns=range(350), overrun=100)).verdict is LinkVerdict.OK


def train(rate_bps: float, count: int = 300, size: int = 1242) -> Sample:
    gap = 8 * size / rate_bps * 1e9
    return Sample(
        sent=2 * count, bytes=size, seconds=0.2, arrival_ns=[int(place * gap) for place in range(count)], was_full=True
    )


@pytest.mark.parametrize(
    ("rate", "verdict"), [(1e7, LinkVerdict.OK), (1.05e7, LinkVerdict.OK), (2e7, LinkVerdict.MISS)]
)
def test_a_rate_is_the_pace_of_arrivals(rate: float, verdict: LinkVerdict) -> None:
    finding = found("rate", train(rate), "htb")
    assert finding.verdict is verdict
    assert finding.measured == pytest.approx(rate, rel=1e-3)


def test_a_pause_of_the_sender_makes_no_link_slower() -> None:
    sample = train(1e7)
    paused = [when + (200_000_000 if place > 150 else 0) for place, when in enumerate(sample.arrival_ns)]
    assert found("rate", replace(sample, arrival_ns=paused), "htb").verdict is LinkVerdict.OK


def test_packets_lost_behind_the_queue_had_their_time_on_the_link() -> None:
    sample = train(9e6)
    assert found("rate", replace(sample, lost_behind=0.1), "htb").measured == pytest.approx(1e7, rel=1e-3)


def test_a_sender_that_could_not_fill_the_link_says_nothing_of_it() -> None:
    idle = replace(train(5e6, 50), sent=50, was_full=False, seconds=1.0)
    assert found("rate", idle, "htb").verdict is LinkVerdict.UNVERIFIABLE


@pytest.mark.parametrize("what", ["delay", "jitter", "loss", "rate"])
@pytest.mark.parametrize("one_clock", [True, False])
def test_nothing_measured_is_never_a_pass(what: str, one_clock: bool) -> None:
    finding = found(what, Sample(), one_clock=one_clock)
    assert finding.verdict is LinkVerdict.UNVERIFIABLE
    assert finding.measured is None
    assert finding.how


@pytest.mark.parametrize(
    ("trip_s", "verdict"), [(0.0705, LinkVerdict.OK), (0.15, LinkVerdict.MISS), (0.02, LinkVerdict.MISS)]
)
def test_with_two_clocks_the_shortest_round_trip_tells_and_what_it_cannot_tell_is_its_interval(
    trip_s: float, verdict: LinkVerdict
) -> None:
    quiet = replace(SPEC, jitter_s=0.0)
    sample = Sample(round_trip_ns=[int(1e9 * (trip_s + more)) for more in (0.0, 0.01, 0.3)])
    finding = found("delay", sample, one_clock=False, spec=quiet)
    assert finding.verdict is verdict
    assert finding.low == pytest.approx(0.05 + min(0.0, trip_s - 0.07))
    assert finding.high == pytest.approx(0.05 + max(0.0, trip_s - 0.07))
    assert "clocks differ" in finding.how


def test_with_two_clocks_nothing_can_be_said_of_jitter() -> None:
    assert found("jitter", ages(0.05, 0.01, 100), one_clock=False).verdict is LinkVerdict.UNVERIFIABLE


def test_a_summary_says_how_much_was_looked_at_and_a_complaint_what_is_wrong_first() -> None:
    good = asked("delay").found(LinkVerdict.OK, 0.0501)
    bad = asked("rate", "htb").found(LinkVerdict.MISS, 2e7)
    verified = summed_up([good, bad], {"delay": 5, "rate": 1}, 1.5)
    assert verified.coverage == {"delay": (1, 5), "rate": (1, 1)}
    assert verified.verdicts == {"ok": 1, "miss": 1}
    assert "rate of link 0→1 is 2e+07 instead of 1e+07 (htb)" in complaint(verified)
