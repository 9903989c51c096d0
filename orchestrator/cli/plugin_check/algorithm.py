"""Whether an algorithm keeps to the seam: what it sends arrives, it descends, real nodes end in the same bits, and
what a network does to it does not break its state."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from orchestrator.cli.plugin_check.look import NotRight, PluginLook, look, place_of
from orchestrator.cli.plugin_check.rehearsal import NODES, Rehearsal, Rehearsed, same_bits
from orchestrator.number_words import count, number, percent
from pame.errors import MessageRefused
from pame.problems import Problem

_LEFT = 0.1
"""How much of the descent may be missing after a trouble that is over."""
_CLOCK: dict[str, Any] = {"compute": {"step": "10ms"}}
_LOST = {"kind": "message-loss", "loss": "30%", "at": {"iteration": 5}, "for": {"iterations": 30}}
_KILLED = {"kind": "kill", "nodes": [1], "at": {"iteration": 20}, "back_after": "100ms"}


def look_at_algorithm(rehearsal: Rehearsal) -> Iterator[PluginLook]:
    """The first failure of a small run is all there is to say about that plugin."""
    kept: list[Rehearsed] = []
    first = look("messages", lambda: _messages(rehearsal, kept))
    yield first
    if not first.is_right:
        return
    quiet = kept[0]
    yield look("one step", lambda: _step(rehearsal))
    yield look("the same bits", lambda: same_bits(quiet, rehearsal.on_nodes()))
    yield look("lost messages", lambda: _after_loss(quiet, rehearsal.simulated(faults=[_LOST])))
    yield look("a restart", lambda: _after_restart(rehearsal))


def _messages(rehearsal: Rehearsal, kept: list[Rehearsed]) -> str:
    """Every driver encodes and decodes messages as real nodes do."""
    setting = rehearsal.setting()
    node = setting.nodes()[0]
    try:
        kept.append(rehearsal.simulated())
    except MessageRefused as refused:
        raise NotRight(f"{refused} ({place_of(type(node), 'message')})") from None
    vectors = ", ".join(f"{name} {form.value}" for name, form in node.vectors.items())
    return f"encoded and decoded as on a network, they arrive as they were sent: {vectors}"


def _step(rehearsal: Rehearsal) -> str:
    """From w^0 on, with a step that is no larger than the data allow."""
    setting = rehearsal.setting(stop={"iterations": 1}, period=1)
    after = rehearsal.simulated(stop={"iterations": 1}, period=1)
    before, now = setting.problem.objective(setting.start), _mean_objective(setting.problem, after)
    if not now < before:
        where = place_of(type(setting.nodes()[0]), "step")
        smooth = max(setting.problem.local(node).smoothness() or 0.0 for node in range(NODES))
        bound = f", and eta is below {2 / smooth:.3g}" if smooth else ""
        raise NotRight(
            f"f goes from {number(before)} to {number(now)}: look whether step subtracts the gradient{bound} ({where})"
        )
    return f"f goes from {number(before)} to {number(now)}"


def _after_loss(quiet: Rehearsed, lossy: Rehearsed) -> str:
    words = _recovered(quiet, lossy, "the loss")
    told = f"; {number(lossy.desynchronised)} found missing by itself" if lossy.desynchronised else ""
    return f"{count(lossy.lost, 'message')} lost on purpose, {words}{told}"


def _after_restart(rehearsal: Rehearsal) -> str:
    """Under a virtual clock; the node comes back with its last snapshot."""
    quiet, struck = rehearsal.simulated(**_CLOCK), rehearsal.simulated(**_CLOCK, faults=[_KILLED])
    return f"a node was killed and came back, {_recovered(quiet, struck, 'its absence')}"


def _recovered(quiet: Rehearsed, troubled: Rehearsed, what: str) -> str:
    """Against the same run without the trouble."""
    begin, end, reached = quiet.objectives[0], quiet.objectives[-1], troubled.objectives[-1]
    if not np.isfinite(troubled.models).all():
        raise NotRight(f"models are no longer finite after {what}")
    descent = begin - end
    missing = (reached - end) / descent if descent > 0 else 0.0 if reached <= begin else 1.0
    if missing > _LEFT:
        raise NotRight(
            f"f ends at {number(reached)} long after {what} is over, and at {number(end)} without it: it keeps "
            "something of its neighbours that is never mended; use `missed`, `greet`, or Delivery.IN_ORDER"
        )
    return f"and {percent(min(1.0, 1.0 - missing))} of the descent is there again"


def _mean_objective(problem: Problem, run: Rehearsed) -> float:
    return float(np.mean([problem.objective(model) for model in run.models]))
