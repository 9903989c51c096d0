"""Specs (algorithms, problems) as plain values and back: how an experiment's parameters reach a node.

A spec is a frozen dataclass whose `kind` names it. `plain` makes of it what JSON can hold; `revive` makes the
spec again and refuses whatever such a dataclass would not hold.
"""

from collections.abc import Mapping
from dataclasses import asdict, fields, is_dataclass
from types import UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from pame.errors import ParameterError

Spec = TypeVar("Spec")


def plain(spec: Any) -> dict[str, Any]:
    """The fields of a spec, nested specs as mappings."""
    return asdict(spec)


def revive(specs: Mapping[str, type[Spec]], value: object) -> Spec:
    """The spec that `plain` made this of."""
    kind = value.get("kind") if isinstance(value, dict) else None
    if not isinstance(value, dict) or not isinstance(kind, str) or kind not in specs:
        raise ParameterError(f"not a spec of one of the kinds {', '.join(specs)}: {str(value)[:80]!r}")
    return _dataclass(specs[kind], value)


def _dataclass(kind: type[Spec], value: Mapping[str, Any]) -> Spec:
    hints = get_type_hints(kind)
    names = {field.name for field in fields(kind)}  # type: ignore[arg-type]
    if set(value) != names:
        raise ParameterError(f"{kind.__name__} has the fields {sorted(names)}, not {sorted(map(str, value))}")
    return kind(**{name: _value(hints[name], value[name], f"{kind.__name__}.{name}") for name in names})


def _value(hint: Any, value: Any, where: str) -> Any:
    options = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
    for option in options:
        if is_dataclass(option):
            if isinstance(value, dict) and value.get("kind") in get_args(get_type_hints(option)["kind"]):
                return _dataclass(option, value)  # type: ignore[arg-type]
        elif value in get_args(option) if get_origin(option) is Literal else type(value) is option:
            return value
    if type(value) is int and float in options:
        return float(value)
    raise ParameterError(f"{where} cannot be {str(value)[:80]!r}")
