"""Every experiment, dumped, is an experiment file that loads to an equal experiment."""

from dataclasses import MISSING, fields
from pathlib import Path
from tempfile import TemporaryDirectory
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

import yaml
from annotated_types import Ge, GroupedMetadata, Gt, Le, Lt, MultipleOf
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from orchestrator.experiment import Experiment, default_path, dump, load, to_yaml
from orchestrator.experiment.links import LinksSection
from orchestrator.experiment.model import (
    ComputeSection,
    Evaluate,
    ExchangeSection,
    Messages,
    PaperStop,
    Period,
    Simulate,
    Stop,
)
from pame.algorithms import SPECS as ALGORITHMS
from pame.problems import SPECS as PROBLEMS
from pame.topology import SPECS as TOPOLOGIES


def reals(low: float, high: float, exclude_min: bool = False, exclude_max: bool = False) -> st.SearchStrategy[float]:
    """Neither too large nor too small for an experiment."""
    return st.floats(low, high, exclude_min=exclude_min, exclude_max=exclude_max).filter(
        lambda value: value == 0 or abs(value) >= 1e-100
    )


POSITIVE = st.integers(1, 10**9)
SECONDS = reals(0, 1e6) | st.sampled_from([0.0, 0.02, 1.5, 120.0, 0.1 + 0.2])
RATES = reals(1e-9, 1e12) | st.sampled_from([1e8, 5e5])
SHARES = reals(0, 1)


def values(annotation: Any) -> st.SearchStrategy[Any]:
    """Values of a spec's field, from its type alone."""
    metadata: list[Any] = []
    if get_origin(annotation) is Annotated:
        annotation, *annotated = get_args(annotation)
        metadata = [bound for item in annotated for bound in (item if isinstance(item, GroupedMetadata) else [item])]
    if get_origin(annotation) is Literal:
        return st.sampled_from(get_args(annotation))
    if get_origin(annotation) in (Union, UnionType):
        return st.one_of([values(member) for member in get_args(annotation)])
    if annotation in (int, float):
        low: Any = next((b.ge if isinstance(b, Ge) else b.gt for b in metadata if isinstance(b, Ge | Gt)), -1000)
        high: Any = next((b.le if isinstance(b, Le) else b.lt for b in metadata if isinstance(b, Le | Lt)), 10**6)
        if annotation is int:
            factor: Any = next((b.multiple_of for b in metadata if isinstance(b, MultipleOf)), 1)
            return st.integers(-(-low // factor), high // factor).map(lambda number: number * factor)
        return reals(
            low, high,
            exclude_min=any(isinstance(b, Gt) for b in metadata), exclude_max=any(isinstance(b, Lt) for b in metadata),
        )  # fmt: skip
    simple = {bool: st.booleans(), str: st.text(st.characters(codec="utf-8"), max_size=20), NoneType: st.none()}
    return simple[annotation] if annotation in simple else specs(annotation)


def specs(spec: Any) -> st.SearchStrategy[Any]:
    hints = get_type_hints(spec, include_extras=True)
    required = {field.name for field in fields(spec) if field.default is MISSING}
    return st.fixed_dictionaries(
        {name: values(hints[name]) for name in required},
        optional={field.name: values(hints[field.name]) for field in fields(spec) if field.name not in required},
    ).map(lambda chosen: spec(**chosen))


def registered(registry: Any) -> st.SearchStrategy[Any]:
    return st.one_of([specs(spec) for spec in registry.values()])


def fits(choice: dict[str, Any]) -> bool:
    """No contradiction between the parts, worked out anew."""
    problem, support = choice["problem"], getattr(choice["algorithm"], "support", 0.5)
    count_fits = isinstance(support, float) or support <= problem.n
    batch_fits = problem.batch is None or problem.batch <= problem.samples
    partial = hasattr(choice["algorithm"], "support")
    whole = support == problem.n if isinstance(support, int) else support == 1.0
    coding_fits = choice["messages"].support != "all" or not partial or whole
    return bool(count_fits and batch_fits and coding_fits)


EXPERIMENTS = st.fixed_dictionaries({
    "name": st.from_regex(r"[A-Za-z0-9._-]{1,12}", fullmatch=True)
    | st.sampled_from(["1e3", "123", "null", "true", ".5", "on", "1.", "-", "0x1"]),
    "seed": st.integers(0, 2**63 - 1),
    "nodes": st.integers(2, 10**5),
    "topology": registered(TOPOLOGIES),
    "problem": registered(PROBLEMS),
    "algorithm": registered(ALGORITHMS),
    "period": st.tuples(POSITIVE, POSITIVE).map(lambda pair: Period(min=min(pair), max=max(pair))),
    "exchange": st.builds(
        ExchangeSection, mode=st.sampled_from(["rounds", "free"]), spare=st.integers(0, 99) | st.just("all"),
        max_lag=st.integers(0, 9), patience=SECONDS | st.just("adaptive"), exclude_after=POSITIVE,
    ),
    "messages": st.builds(
        Messages, support=st.sampled_from(["auto", "seed", "gaps", "bitmap", "all"]),
        values=st.sampled_from(["float64", "float32"]), loss=SHARES,
    ),
    "compute": st.none() | st.builds(
        ComputeSection, step=SECONDS, jitter=SHARES, stragglers=SHARES, slowdown=reals(1, 1e6)
    ),
    "links": st.none() | st.builds(LinksSection, delay=SECONDS, jitter=SECONDS, rate=RATES | st.just("unlimited")),
    "evaluate": st.builds(Evaluate, every=POSITIVE),
    "stop": st.builds(
        Stop, iterations=POSITIVE, target=st.none() | reals(-1e15, 1e15),
        objective=st.sampled_from(["mean", "sum"]),
        paper=st.none() | st.builds(PaperStop, tolerance=reals(0, 1), every=POSITIVE), seconds=st.none() | SECONDS,
    ),
    "simulate": st.builds(Simulate, driver=st.sampled_from(["auto", "lock-step", "vectorised", "virtual-time"])),
}).filter(fits).map(lambda choice: Experiment(**choice))  # fmt: skip


@settings(max_examples=100, suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow], deadline=None)
@given(EXPERIMENTS)
def test_a_dumped_experiment_is_a_file_that_loads_to_an_equal_one(experiment: Experiment) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "other-name.yaml"
        path.write_text(to_yaml(experiment), encoding="utf-8")
        (variant,) = load(path)
    assert variant.values == {}
    assert variant.experiment == experiment
    assert to_yaml(variant.experiment) == to_yaml(experiment)


def test_the_resolved_default_experiment_reads_as_a_person_would_write_it() -> None:
    experiment = load(default_path())[0].experiment
    dumped = dump(experiment)
    assert dumped["links"] == {"delay": "5ms", "jitter": "1ms", "rate": "100mbit"}
    assert dumped["compute"] == {"step": "10ms", "jitter": "0%", "stragglers": "0%", "slowdown": 10.0}
    assert dumped["exchange"] == {"mode": "rounds", "spare": 0, "max_lag": 0, "patience": "30s", "exclude_after": 3}
    assert list(dumped["topology"].items()) == [("kind", "random-regular"), ("degree", 4)]  # type: ignore[union-attr]
    assert yaml.safe_load(to_yaml(experiment)) == dumped
