"""`pame export`: what is written is what the tables hold, read back by other programs' means."""

import csv
import math
import struct
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest

from orchestrator.exports.column_table import ColumnTable, plain
from orchestrator.exports.formats import write_csv, write_parquet
from orchestrator.exports.run_tables import curve_table, records_table
from tests.command import mistake, told
from tests.orchestrator.exports.conftest import CallIn

POLYNOMIAL = 0x82F63B78
"""Of CRC-32C, its bits reversed."""


def checksum(data: bytes) -> int:
    """As TensorBoard wants it: CRC-32C, a bit at a time, then rotated and moved."""
    rest = 0xFFFFFFFF
    for byte in data:
        rest ^= byte
        for _ in range(8):
            rest = (rest >> 1) ^ (POLYNOMIAL if rest & 1 else 0)
    whole = rest ^ 0xFFFFFFFF
    return ((whole >> 15 | whole << 17) + 0xA282EAD8) & 0xFFFFFFFF


def payloads(data: bytes) -> Iterator[bytes]:
    """Of a file of records: length, its checksum, payload, its checksum."""
    while data:
        (length,) = struct.unpack("<Q", data[:8])
        body = data[12 : 12 + length]
        assert struct.unpack("<I", data[8:12])[0] == checksum(data[:8])
        assert struct.unpack("<I", data[12 + length : 16 + length])[0] == checksum(body)
        yield body
        data = data[16 + length :]


def scalars(folder: Path) -> dict[str, list[tuple[int, float]]]:
    """By tag: steps and values of the event file of a run."""
    from tensorboardX.proto.event_pb2 import Event

    [path] = folder.glob("events.out.tfevents.*")
    found: dict[str, list[tuple[int, float]]] = defaultdict(list)
    for payload in payloads(path.read_bytes()):
        event = Event.FromString(payload)
        for value in event.summary.value:
            found[value.tag].append((event.step, value.simple_value))
    return found


def cells(table: ColumnTable) -> list[list[object]]:
    return [[plain(cell) for cell in column] for column in table.columns.values()]


def test_csv_comes_back_to_the_last_digit(run: Path, tmp_path: Path) -> None:
    table = curve_table(run)
    write_csv(table, tmp_path / "curve.csv")
    rows = list(csv.reader((tmp_path / "curve.csv").read_text().splitlines()))
    assert rows[0] == list(table.columns)
    for name, values in zip(rows[0], zip(*rows[1:], strict=True), strict=True):
        expected = [plain(cell) for cell in table.columns[name]]
        assert [type(e)(v) if v else None for v, e in zip(values, expected, strict=True)] == expected


def test_parquet_comes_back_with_its_kinds_and_nulls(run: Path, tmp_path: Path) -> None:
    for table in (curve_table(run), records_table(run)):
        write_parquet(table, tmp_path / "table.parquet")
        frame = pd.read_parquet(tmp_path / "table.parquet")
        assert list(frame.columns) == list(table.columns)
        found = [[None if pd.isna(cell) else cell for cell in frame[name]] for name in frame.columns]
        assert found == cells(table)
        assert frame["bytes"].dtype == "int64"


def test_the_command_writes_every_table_that_has_rows_and_prints_the_paths(run: Path, pame_in: CallIn) -> None:
    said = told(pame_in(run.parents[1], "export", "last")).split()
    assert [Path(path).name for path in said] == ["curve.csv", "records.csv", "links.csv", "faults.csv", "summary.csv"]
    assert all(Path(path).parent == run / "export" for path in said)
    assert pd.read_csv(said[1])["bytes"].sum() == pd.read_csv(said[2])["bytes"].sum() > 0


def test_tensorboard_finds_a_folder_for_each_run_with_a_scalar_for_each_figure(
    sweep: Path, tmp_path: Path, pame_in: CallIn
) -> None:
    told(pame_in(sweep.parents[1], "export", "last", "--to", "tensorboard", "--out", tmp_path))
    runs = sorted((tmp_path / "tensorboard").iterdir())
    assert len(runs) == 4
    for folder in runs:
        table, found = curve_table(sweep / folder.name), scalars(folder)
        by_iteration = table.where(table.columns["by"] == "iteration")
        assert [step for step, _ in found["gap"]] == by_iteration.columns["iteration"].tolist()
        for (_, value), gap in zip(found["gap"], by_iteration.columns["gap"].tolist(), strict=True):
            assert math.isclose(value, gap, rel_tol=1e-6)  # they are single precision
        assert {"objective", "consensus", "test_mse", "by_time/gap"} <= set(found)
        assert not {"seed", "nodes", "f_star", "iteration"} & set(found)


def test_exported_again_a_curve_is_not_there_twice(run: Path, tmp_path: Path, pame_in: CallIn) -> None:
    for _ in range(2):
        told(pame_in(run.parents[1], "export", "last", "--to", "tensorboard", "--out", tmp_path))
    assert len(list(tmp_path.rglob("events.out.tfevents.*"))) == 1


def test_a_comparison_is_exported_as_tables_and_not_to_tensorboard(
    comparison: Path, tmp_path: Path, pame_in: CallIn
) -> None:
    said = told(pame_in(comparison.parents[1], "export", "last", "--to", "parquet", "--out", tmp_path)).split()
    assert [Path(path).name for path in said] == ["curve.parquet", "tuning.parquet", "summary.parquet"]
    assert set(pd.read_parquet(said[0])["algorithm"]) >= {"pame", "dpsgd"}
    done = pame_in(comparison.parents[1], "export", "last", "--to", "tensorboard")
    assert "keeps rows and no run folders: use --to csv or --to parquet" in mistake(done)


def test_a_run_that_is_not_there_is_told_in_one_line(tmp_path: Path, pame_in: CallIn) -> None:
    assert "there is no run 'nothing'" in mistake(pame_in(tmp_path, "export", "nothing"))


def test_without_the_extra_it_is_said_how_to_install_it(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pame_in: CallIn
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)  # Python's way to say that it is not there
    line = mistake(pame_in(run.parents[1], "export", "last", "--to", "parquet", "--out", tmp_path))
    assert "need pyarrow: install it with pip install 'pame-testbed[notebook]'" in line
