"""What single values cannot show: two settings of an experiment that contradict each other, and numbers without sense.

Numbers may be far larger than what makes sense, and are below what arithmetic cannot hold.
"""

from collections.abc import Iterator, Mapping
from math import inf
from typing import TYPE_CHECKING

from pydantic_core import PydanticCustomError

from orchestrator.experiment.errors import shorten
from orchestrator.experiment.faults.compile import contradictions as fault_contradictions
from pame.spec_json import LARGEST, LARGEST_WHOLE, SMALLEST, is_in_reach

if TYPE_CHECKING:
    from orchestrator.experiment.model import Experiment

_Path = tuple[str, ...]


def contradictions(experiment: "Experiment") -> dict[str, str]:
    """By dotted key: what does not fit, and the fix. Kinds without the attributes in question pass."""
    found = {}
    n, support = getattr(experiment.problem, "n", None), getattr(experiment.algorithm, "support", None)
    if isinstance(n, int) and isinstance(support, int) and support > n:
        found["algorithm.support"] = (
            f"{support} coordinates of a model with n = {n}; give at most {n}, or a share such as 0.2"
        )
    batch, samples = getattr(experiment.problem, "batch", None), getattr(experiment.problem, "samples", None)
    if isinstance(batch, int) and isinstance(samples, int) and batch > samples:
        found["problem.batch"] = (
            f"{batch} of {samples} samples; give at most {samples}, or leave it out to use all of them"
        )
    share = support if isinstance(support, float) else None
    if experiment.messages.support == "all" and support is not None and share != 1.0 and support != n:
        found["messages.support"] = "'all' needs a support of the whole model; give algorithm.support: 100%, or seed"
    if experiment.evaluate.when == "after" and (rule := rule_with_values(experiment)):
        found["evaluate.when"] = f"'after' knows no value of f during the run, which {rule} needs; give during"
    return found | fault_contradictions(experiment.faults or ())


def rule_with_values(experiment: "Experiment") -> str:
    """The key that can end a run by values of f; empty: none."""
    stop = experiment.stop
    given = (("stop.target", stop.target), ("stop.accuracy", stop.accuracy), ("stop.paper", stop.paper))
    return next((key for key, value in given if value is not None), "")


def beyond(experiment: "Experiment") -> dict[str, str]:
    """By dotted key: which number is too large or too small, and what is expected."""
    # the seed has a range of its own
    numbers = _numbers(experiment.model_dump(by_alias=True, warnings=False), ())
    return {".".join(path): why for path, value in numbers if (why := _why(value)) and path != ("seed",)}


def contradiction(found: Mapping[str, str]) -> PydanticCustomError:
    """The error to raise in a validator; `explain` makes one line of each item."""
    return PydanticCustomError("contradiction", "settings contradict each other", {"found": dict(found)})


def _why(value: float) -> str:
    if is_in_reach(value) or value == inf:  # which only a word of the file makes: see `pame.units.OrInfinite`
        return ""
    whole, other = f"a whole number of at most {LARGEST_WHOLE}", f"0, or {SMALLEST:g} to {LARGEST:g}"
    return f"got {shorten(repr(value))}, expected {whole if isinstance(value, int) else other}"


def _numbers(value: object, path: _Path) -> Iterator[tuple[_Path, float]]:
    """Of plain data; the items of a tuple are at its own place."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        yield path, value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from _numbers(inner, (*path, str(key)))
    elif isinstance(value, tuple | list):
        for place, inner in enumerate(value):
            yield from _numbers(inner, (*path, str(place)) if isinstance(value, list) else path)
