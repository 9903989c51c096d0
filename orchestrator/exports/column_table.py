"""A table as columns of one length, by name: what frames, CSV and Parquet are made of."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Column = NDArray[Any]


@dataclass(frozen=True)
class ColumnTable:
    columns: Mapping[str, Column]

    def __len__(self) -> int:
        return next((column.size for column in self.columns.values()), 0)

    def labelled(self, **labels: Any) -> "ColumnTable":
        """With further columns before its own, each of one value; a column that it has already stays."""
        new = {name: column([value] * len(self)) for name, value in labels.items() if name not in self.columns}
        return ColumnTable({**new, **self.columns})

    def where(self, chosen: NDArray[np.bool_]) -> "ColumnTable":
        return ColumnTable({name: values[chosen] for name, values in self.columns.items()})


def table_of(rows: Sequence[Mapping[str, Any]], first: Iterable[str] = ()) -> ColumnTable:
    """From rows; a column for every name that occurs, those that are named `first` before the others."""
    names = list(dict.fromkeys([*first, *(name for row in rows for name in row)]))
    return ColumnTable({name: column([row.get(name) for row in rows]) for name in names})


def stacked(tables: Sequence[ColumnTable]) -> ColumnTable:
    """One below the other; what a table lacks is missing."""
    names = list(dict.fromkeys(name for table in tables for name in table.columns))
    return ColumnTable({name: _joined([_part(table, name) for table in tables]) for name in names})


def column(values: Sequence[Any]) -> Column:
    """Whole numbers, numbers with NaN for what is missing, truth values, or objects with None for what is missing."""
    known = [value for value in values if value is not None]
    if known and all(isinstance(value, bool) for value in known):
        return np.array(values, np.bool_ if len(known) == len(values) else object)
    if any(isinstance(value, bool) or not isinstance(value, int | float) for value in known):
        return _objects(values)
    if len(known) == len(values) and all(isinstance(value, int) and abs(value) < 2**63 for value in known):
        return np.array(values, np.int64)
    return np.array([np.nan if value is None else value for value in values], np.float64)


def plain(value: Any) -> Any:
    """A cell as Python has it; None: missing."""
    value = value.item() if isinstance(value, np.generic) else value
    return None if isinstance(value, float) and np.isnan(value) else value


def _part(table: ColumnTable, name: str) -> Column:
    return table.columns.get(name, np.full(len(table), np.nan))


def _joined(parts: Sequence[Column]) -> Column:
    """Of one kind if they are; objects else."""
    if any(part.dtype == object for part in parts) or len({part.dtype == np.bool_ for part in parts}) > 1:
        return _objects([plain(value) for part in parts for value in part])
    return np.concatenate(parts) if parts else np.zeros(0)


def _objects(values: Sequence[Any]) -> Column:
    found = np.empty(len(values), object)
    found[:] = values
    return found
