"""A plan as text, one event per line, and back: exactly the same, floats included.

    {"number":0,"fault":"link-down","effect":{"kind":"cut","links":[[0,1],[1,0]]},"begin":30.0,"end":40.0,"unit":"seconds"}

An `end` of null is the end of the run. What stops a node at an iteration has one more key, `lasts`: for so many
seconds, null to the end of the run; its `end` is null. Reading is total: any text gives a plan, or a PlanError that
names the line.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import fields
from math import inf, isfinite
from typing import Any, get_args, get_type_hints

from pame.errors import PlanError
from pame.fault_effects import Effect, FaultEvent, Link, Plan, StoppingEffect, Window


def _kind(effect: type) -> str:
    """Its word: cut, container-kill."""
    return re.sub("(?<!^)(?=[A-Z])", "-", effect.__name__.removesuffix("Effect")).lower()


_EFFECTS: dict[str, type[Effect]] = {_kind(effect): effect for effect in get_args(Effect)}
_LARGEST_ID = 10**9
_KEYS = ("number", "fault", "effect", "begin", "end", "unit")
_LASTS = "lasts"
_AT_LEAST_1 = ("factor", "delay_factor")
_SHARES = ("share", "loss", "rate_factor")


class _Wrong(Exception):
    """Why a line is no event."""


def plan_lines(plan: Plan) -> list[str]:
    return [json.dumps(_plain(event), separators=(",", ":")) for event in plan]


def read_plan(text: str) -> Plan:
    """The plan that these lines are of; empty lines are passed over."""
    plan = []
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            try:
                plan.append(_event(line))
            except _Wrong as error:
                raise PlanError(number, str(error)) from None
    return tuple(plan)


def named_nodes(plan: Plan) -> Iterator[int]:
    """Every node that a plan names, some more than once."""
    for event in plan:
        yield from event.nodes
        for link in event.links:
            yield from link


def _plain(event: FaultEvent) -> dict[str, Any]:
    effect = {field.name: getattr(event.effect, field.name) for field in fields(event.effect)}
    window = event.window
    lasts = {} if window.lasts_s is None else {_LASTS: None if window.lasts_s == inf else window.lasts_s}
    return {
        "number": event.number,
        "fault": event.fault,
        "effect": {"kind": _kind(type(event.effect)), **effect},
        "begin": window.begin,
        "end": None if window.end == inf else window.end,
        "unit": window.unit,
        **lasts,
    }


def _event(line: str) -> FaultEvent:
    try:
        data = json.loads(line, object_pairs_hook=_without_doubles)
    except (ValueError, RecursionError):
        raise _Wrong("is not JSON") from None
    if not isinstance(data, dict) or set(data) - {_LASTS} != set(_KEYS):
        raise _Wrong(f"is not an object with the keys {', '.join(_KEYS)}")
    if not isinstance(data["fault"], str) or not data["fault"]:
        raise _Wrong(f"fault {_show(data['fault'])} is no word")
    if data["unit"] not in ("seconds", "iterations"):
        raise _Wrong(f"unit {_show(data['unit'])} is not seconds or iterations")
    effect, window = _effect(data["effect"]), _window(data)
    by_iteration = window.unit == "iterations" and type(effect) in get_args(StoppingEffect)
    if by_iteration != (window.lasts_s is not None):
        raise _Wrong(f"{_LASTS} is for what stops a node at an iteration (pause, kill, restart), and only for that")
    return FaultEvent(_id("number", data["number"]), data["fault"], effect, window)


def _window(data: dict[str, Any]) -> Window:
    begin = _number("begin", data["begin"])
    end = inf if data["end"] is None else _number("end", data["end"])
    if end <= begin:
        raise _Wrong(f"end {end} is not after begin {begin}")
    if _LASTS not in data:
        return Window(begin, end, data["unit"])
    lasts = inf if data[_LASTS] is None else _number(_LASTS, data[_LASTS])
    if not lasts or end != inf or not begin.is_integer():
        raise _Wrong(f"{_LASTS} {_show(data[_LASTS])} is not how long something lasts that begins with an iteration")
    return Window(begin, inf, data["unit"], lasts)


def _effect(data: Any) -> Effect:
    kind = data.get("kind") if isinstance(data, dict) else None
    effect = _EFFECTS.get(kind) if isinstance(kind, str) else None
    if effect is None:
        raise _Wrong(f"effect {_show(kind)} is not one of {', '.join(_EFFECTS)}")
    hints = get_type_hints(effect)
    if set(data) != {"kind", *hints}:
        raise _Wrong(f"effect {kind} does not have the keys {', '.join(hints)}")
    return effect(**{key: _value(key, data[key]) for key in hints})


def _value(key: str, value: Any) -> Any:
    if key in ("nodes", "links"):
        if not isinstance(value, list) or not value:
            raise _Wrong(f"{key} {_show(value)} is no list with something in it")
        return tuple(map(_link, value)) if key == "links" else tuple(_id("node", node) for node in value)
    number = _number(key, value)
    if (
        (key in _AT_LEAST_1 and number < 1.0)
        or (key in _SHARES and number > 1.0)
        or (key == "rate_factor" and not number)
    ):
        raise _Wrong(f"{key} {number} is out of range")
    return number


def _link(value: Any) -> Link:
    if not isinstance(value, list) or len(value) != 2:
        raise _Wrong(f"link {_show(value)} is no pair of nodes")
    sender, receiver = (_id("node", node) for node in value)
    if sender == receiver:
        raise _Wrong(f"link {_show(value)} leads from a node to itself")
    return sender, receiver


def _id(key: str, value: Any) -> int:
    if type(value) is not int or not 0 <= value <= _LARGEST_ID:
        raise _Wrong(f"{key} {_show(value)} is no whole number of at least 0")
    return value


def _number(key: str, value: Any) -> float:
    if type(value) not in (int, float) or not 0 <= value <= 1e300 or not isfinite(value):
        raise _Wrong(f"{key} {_show(value)} is no number of at least 0")
    return float(value)


def _without_doubles(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key is given twice")
    return found


def _show(value: Any) -> str:
    text = ascii(value)
    return text if len(text) <= 40 else f"{text[:37]}..."
