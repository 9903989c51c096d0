"""Specs (algorithms, problems, rules) as plain values and back: how an experiment's parameters reach a node.

A spec is a frozen dataclass. `plain` makes of it what JSON can hold; `revive` makes the spec again and refuses whatever
such a dataclass would not hold: other types, and numbers out of their bounds. Where there are several, its `kind` names
it.
"""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, fields, is_dataclass
from functools import cache
from math import inf
from types import UnionType
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from annotated_types import Ge, GroupedMetadata, Gt, Le, Lt, MultipleOf

from pame.errors import ParameterError
from pame.units import OrInfinite

LARGEST_WHOLE = 10**9
LARGEST, SMALLEST = 1e15, 1e-100
"""Of any parameter; a number may also be 0."""

Spec = TypeVar("Spec")


def plain(spec: Any) -> dict[str, Any]:
    return asdict(spec)


def revive(specs: Mapping[str, type[Spec]], value: object) -> Spec:
    """The spec that `plain` made this of, of the kind that it names."""
    kind = value.get("kind") if isinstance(value, dict) else None
    if not isinstance(value, dict) or not isinstance(kind, str) or kind not in specs:
        raise ParameterError(f"not a spec of one of the kinds {', '.join(specs)}: {str(value)[:80]!r}")
    return revive_as(specs[kind], value)


def revive_as(spec: type[Spec], value: object) -> Spec:
    """The same of one spec, which needs no kind."""
    if not isinstance(value, dict):
        raise ParameterError(f"{spec.__name__} cannot be {str(value)[:80]!r}")
    known: Any = spec
    hints = _hints(known)
    if value.keys() != hints.keys():
        raise ParameterError(f"{spec.__name__} has the fields {sorted(hints)}, not {sorted(map(str, value))}")
    return spec(**{name: _value(hint, value[name], f"{spec.__name__}.{name}") for name, hint in hints.items()})


@cache
def _hints(spec: Any) -> Mapping[str, Any]:
    hints = get_type_hints(spec, include_extras=True)
    return {field.name: hints[field.name] for field in fields(spec)}


def _value(hint: Any, value: Any, where: str) -> Any:
    options = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
    if value is None and type(None) in options:
        return None
    spellings = (value, float(value)) if type(value) is int and is_in_reach(value) else (value,)
    for spelling in spellings:  # a whole number is a float only where it cannot be an int
        for option in options:
            if (found := _option(option, spelling)) is not None:
                return found
    raise ParameterError(f"{where} cannot be {str(value)[:80]!r}")


def _option(option: Any, value: Any) -> Any:
    """The value as this type has it; None if it is none."""
    plain, *bounds = get_args(option) if get_origin(option) is Annotated else (option,)
    if is_dataclass(plain):
        return _nested(plain, value)
    if get_origin(plain) is Literal:
        return value if any(type(value) is type(word) and value == word for word in get_args(plain)) else None
    if value == inf and any(isinstance(bound, OrInfinite) for bound in bounds):
        return value
    if type(value) in (int, float) and not is_in_reach(value):
        return None
    return value if type(value) is plain and all(_is_within(value, bound) for bound in _flat(bounds)) else None


def _nested(spec: Any, value: Any) -> Any:
    kinds = get_args(_hints(spec).get("kind"))
    is_meant = isinstance(value, dict) and (not kinds or value.get("kind") in kinds)
    return revive_as(spec, value) if is_meant else None


def is_in_reach(value: float) -> bool:
    return abs(value) <= LARGEST_WHOLE if isinstance(value, int) else value == 0 or SMALLEST <= abs(value) <= LARGEST


def _flat(bounds: Iterable[Any]) -> list[Any]:
    return [one for bound in bounds for one in (bound if isinstance(bound, GroupedMetadata) else (bound,))]


def _is_within(value: Any, bound: Any) -> bool:
    match bound:
        case Ge(ge=least):
            return bool(value >= least)
        case Gt(gt=below):
            return bool(value > below)
        case Le(le=most):
            return bool(value <= most)
        case Lt(lt=above):
            return bool(value < above)
        case MultipleOf(multiple_of=unit):
            return bool(value % unit == 0)
    return True
