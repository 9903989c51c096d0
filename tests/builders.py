"""Hypothesis strategies of specs, from the types and bounds of their fields alone."""

from dataclasses import MISSING, fields
from math import inf
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from annotated_types import Ge, GroupedMetadata, Gt, Le, Lt, MultipleOf
from hypothesis import strategies as st

from pame.units import OrInfinite


def reals(low: float, high: float, exclude_min: bool = False, exclude_max: bool = False) -> st.SearchStrategy[float]:
    """Neither too large nor too small for an experiment."""
    found = st.floats(low, high, exclude_min=exclude_min, exclude_max=exclude_max)
    return found.filter(lambda value: value == 0 or abs(value) >= 1e-100)


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
        ends = {
            "exclude_min": any(isinstance(b, Gt) for b in metadata),
            "exclude_max": any(isinstance(b, Lt) for b in metadata),
        }
        finite = reals(low, high, **ends)
        return finite | st.just(inf) if any(isinstance(b, OrInfinite) for b in metadata) else finite
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
