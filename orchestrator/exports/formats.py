"""Tables as files: CSV with the standard library, Parquet with pyarrow."""

import csv
from pathlib import Path

from orchestrator.errors import writing
from orchestrator.exports.column_table import ColumnTable, plain
from orchestrator.exports.extra import needing_extra


def write_csv(table: ColumnTable, path: Path) -> None:
    """What is missing is an empty cell; numbers are written with all their digits."""
    with writing(path), path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(table.columns)
        columns = [map(plain, values) for values in table.columns.values()]
        writer.writerows(zip(*columns, strict=True))


def write_parquet(table: ColumnTable, path: Path) -> None:
    """What is missing is null; words that repeat take no room."""
    with needing_extra("Parquet files"):
        import pyarrow
        import pyarrow.parquet as parquet
    arrays = {}
    for name, values in table.columns.items():
        cells = [plain(value) for value in values]
        try:
            array = pyarrow.array(cells, pyarrow.float64() if values.dtype.kind == "f" else None)
        except pyarrow.ArrowException:  # of a line whose value was a number here and a word there
            array = pyarrow.array([None if cell is None else str(cell) for cell in cells])
        arrays[name] = array.dictionary_encode() if pyarrow.types.is_string(array.type) else array
    with writing(path):
        parquet.write_table(pyarrow.table(arrays), path)
