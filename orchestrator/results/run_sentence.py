"""What a run came to, in one sentence: how near the optimum, or how accurate; what that cost; what got in the way."""

from orchestrator.number_words import count, is_share, metric_title, number, of_metric, percent, reach_of_metric, volume
from orchestrator.results.files import finite
from orchestrator.results.health import State
from orchestrator.results.summary import RunSummary

_SHARES = {2: "half", 3: "a third", 4: "a quarter", 5: "a fifth", 10: "a tenth", 20: "a twentieth", 100: "a hundredth"}
_ALIKE = 0.03
"""A share so near to one of these, of itself, is called by its name."""
_LEAST = 1e-5
"""A share of f* below which nobody needs to know more."""


def run_sentence(summary: RunSummary, start: float | None) -> str:
    """Beginning with a capital; `start`: f before the first step. Of an unknown optimum nothing is said."""
    parts = [_reached(summary, start), _cost(summary), _missing(summary), _faults(summary), _health(summary)]
    said = "; ".join(filter(None, parts))
    return f"{said[:1].upper()}{said[1:]}." if said else ""


def _reached(summary: RunSummary, start: float | None) -> str:
    after = "" if summary.iterations is None else f"after {count(summary.iterations, 'iteration')}"
    if summary.health is not None and summary.health.state is State.BROKEN:
        return f"{f'broken {after}'.strip()}: its figures mean nothing"
    if summary.status == "diverged":
        return f"diverged {after}".strip()
    state = "" if summary.status == "finished" else summary.status
    accuracy, distance = _accuracy(summary), _distance(summary, start)
    first = " ".join(filter(None, (distance or accuracy or _fall(summary, start), after)))
    figures = f"{first}, {accuracy}" if distance and accuracy else first
    return f"{state}: {figures}" if state and figures else state or figures


def _distance(summary: RunSummary, start: float | None) -> str:
    """To the optimum, as a share of f* or, where that is next to nothing, of the way from the start."""
    final, least = summary.final.objective, summary.least
    if final is None or least is None:
        return ""
    gap = final - least
    if gap <= _LEAST * abs(least):
        return "at the optimum"
    if 0 < gap <= least:
        return f"within {_rounded(gap / least)} of the optimum"
    if start is None or start <= least:
        return ""
    if gap >= start - least:
        return "no nearer to the optimum than at the start"
    return f"{_rounded(gap / (start - least))} of the way to the optimum left"


def _accuracy(summary: RunSummary) -> str:
    name = summary.metric or ""
    reached = finite(summary.final.metrics.get(name))
    if reached is None or not is_share(name):
        return ""
    words, own = metric_title(name), summary.final.own
    said = f"{words[:1].lower()}{words[1:]} {of_metric(name, reached)}"
    mean, low, high = (finite(of.get(name)) for of in (own.metrics, own.lowest, own.highest)) if own else (None,) * 3
    if mean is None:
        return said
    return (
        f"{said} of the mean model and {of_metric(name, mean)} of the nodes' own ({reach_of_metric(name, low, high)})"
    )


def _fall(summary: RunSummary, start: float | None) -> str:
    final = summary.final.objective
    if final is None:
        return ""
    if start is None:
        return f"the objective is {number(final)}"
    return f"the objective went from {number(start)} to {number(final)}"


def _cost(summary: RunSummary) -> str:
    """Payload, beside whole models in as many messages; and what that was on a wire."""
    total, bits, wire = summary.bytes.total, summary.message_bits, summary.network.wire if summary.network else None
    if total is None:
        return ""
    parts = [f"{volume(total)} of payload"]
    if (on_wire := wire.model.get("total") if wire else None) is not None:
        parts.append(f"{volume(on_wire)} on the wire")
    if bits.sent and bits.dense:
        parts[0] += f", {share_words(bits.sent / bits.dense)} whole models"
    return ", and ".join(parts)


def share_words(share: float) -> str:
    """`a fifth of`, `30.5 % of`, `as much as`, `twice`: before the thing that it is a share of."""
    for parts, words in _SHARES.items():
        if abs(share * parts - 1) <= _ALIKE:
            return f"{words} of"
    if abs(share - 1) <= _ALIKE:
        return "as much as"
    if share > 1:
        return "twice" if abs(share / 2 - 1) <= _ALIKE else f"{number(float(f'{share:.2g}'))} times"
    return f"{percent(share)} of"


def _missing(summary: RunSummary) -> str:
    """What was not heard, of what was meant to be; `nothing lost` where all of it was counted and is 0."""
    met = summary.messages
    fates = {
        "lost on purpose": met.lost, "dropped from full queues": met.dropped,
        "evicted from full mailboxes": met.evicted, "too late to count": met.late,
    }  # fmt: skip
    known = [(int(times), fate) for fate, times in fates.items() if times]
    found = [f"{count(times, 'message')} {fate}" for times, fate in known[:1]]
    found += [f"{number(times)} {fate}" for times, fate in known[1:]]
    if met.starved:
        found.append(f"{count(int(met.starved), 'round')} in which nothing came")
    return ", ".join(found) or ("" if met.lost is None or met.late is None else "nothing lost")


def _faults(summary: RunSummary) -> str:
    found = summary.faults
    if found is None or not found.planned:
        return ""
    if found.happened < found.planned:
        return f"{found.planned - found.happened} of {count(found.planned, 'fault')} did not happen"
    return {1: "the planned fault happened", 2: "both planned faults happened"}.get(
        found.planned, f"all {number(found.planned)} planned faults happened"
    )


def _health(summary: RunSummary) -> str:
    return "but the run is degraded" if summary.health and summary.health.state is State.DEGRADED else ""


def _rounded(share: float) -> str:
    """Two digits: how near an optimum is, is known no better by anybody who reads a sentence."""
    return f"{number(float(f'{100 * share:.2g}'))} %"
