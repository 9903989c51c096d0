"""Sweeps: a list of plain values where one value belongs makes a run of each; several lists, of each combination."""

from collections.abc import Iterator
from itertools import product
from math import prod

from orchestrator.experiment.text import Data

LARGEST = 1000
"""Runs of one file."""

Path = tuple[str, ...]


class TooLarge(Exception):
    """The sweep has more combinations than anybody wants to run."""


def swept(data: Data, path: Path = ()) -> dict[Path, list[Data]]:
    """Where the lists of plain values are, in file order. An empty list is one of them."""
    if isinstance(data, dict):
        return {where: values for key, inner in data.items() for where, values in swept(inner, (*path, key)).items()}
    if isinstance(data, list) and not any(isinstance(item, list | dict) for item in data):
        return {path: data}
    return {}


def combinations(axes: dict[Path, list[Data]]) -> Iterator[dict[Path, Data]]:
    """One value for each list, the last list varying fastest; raises TooLarge before it makes too many."""
    runs = prod(len(values) for values in axes.values())
    if runs > LARGEST:
        lengths = " x ".join(f"{'.'.join(path)}: {len(values)}" for path, values in axes.items())
        raise TooLarge(f"the sweep has {runs} runs ({lengths}); at most {LARGEST} fit in one file: shorten a list")
    return (dict(zip(axes, values, strict=True)) for values in product(*axes.values()))


def chosen(data: Data, choice: dict[Path, Data], path: Path = ()) -> Data:
    """The data with each list replaced by its chosen value."""
    if path in choice:
        return choice[path]
    if isinstance(data, dict):
        return {key: chosen(inner, choice, (*path, key)) for key, inner in data.items()}
    return data
