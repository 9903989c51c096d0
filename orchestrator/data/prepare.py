"""From a source to a folder of `contract.data_store`: all of it or nothing."""

import fcntl
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from contract.data_store import (
    DamagedData,
    DataNotPrepared,
    StoredData,
    check_data,
    data_folder,
    find_data,
    is_data_name,
    save_data_set,
)
from orchestrator.data.catalogue import CATALOGUE, TABLE, KnownData
from orchestrator.data.files import opened
from orchestrator.data.reading import Contents, DataRefused, Tell
from orchestrator.data.sources import Source, SourceFailed
from orchestrator.data.tables import SPLIT, read_table
from orchestrator.errors import MachineFault, writing
from pame.data_set import DataSet, facts_of

Say = Callable[[str, float | None], None]
"""Is told what is being done, and how much of it, from 0 to 1; None: nobody knows."""


class NoSource(MachineFault):
    """No source of a data set can be had here; a line for each."""


def stored_name(kind: str, given: Path | None, name: str | None) -> str:
    """The name under which it will be prepared; the mistakes that can be seen at once."""
    if kind not in CATALOGUE and kind != TABLE:
        raise DataRefused(
            f"there is no data set {kind[:80]!r}: {', '.join(CATALOGUE)} are known; your own file: "
            "`pame data prepare table --from FILE --name NAME`"
        )
    if kind == TABLE and given is None:
        raise DataRefused("a table is your own file: `pame data prepare table --from FILE` (.npz or .csv)")
    if kind != TABLE and name is not None:
        raise DataRefused(f"{kind} keeps its name: --name is for a table")
    chosen = kind if given is None or kind != TABLE else name or given.stem
    if not is_data_name(chosen):
        raise DataRefused(f"{chosen[:80]!r} cannot be a name: use letters, digits, dots and dashes (--name)")
    if kind == TABLE and (chosen in CATALOGUE or chosen == TABLE):
        raise DataRefused(f"{chosen} is the name of another data set: choose one of your own with --name")
    return chosen


def already(name: str) -> StoredData | None:
    """The data set if it is there and whole: all of it is read."""
    try:
        return check_data(name)
    except (DataNotPrepared, DamagedData):
        return None


def prepare(kind: str, given: Path | None, name: str | None, say: Say) -> StoredData:
    """Prepare a data set anew, and say what was stored."""
    chosen = stored_name(kind, given, name)
    with _temporary(data_folder(), chosen) as folder:
        if kind == TABLE:
            assert given is not None  # stored_name has looked
            contents, is_split = read_table(given)
            data = DataSet(
                facts_of(chosen, contents.classes or (), contents.train, contents.test), contents.train, contents.test
            )
            source = f"{given.resolve()}" + (f" ({SPLIT})" if is_split else "")
        else:
            data, source = _obtained(CATALOGUE[kind], given, folder, say)
        say("writing", 0.0)
        finished = folder / "finished"
        with writing(folder):
            finished.mkdir()
            save_data_set(finished, data, source, datetime.now(UTC).isoformat(timespec="seconds"))
            target = data_folder() / chosen
            if target.exists():
                shutil.rmtree(target)
            finished.rename(target)
        say("writing", 1.0)
    return find_data(chosen)


def _obtained(entry: KnownData, given: Path | None, folder: Path, say: Say) -> tuple[DataSet, str]:
    """From the path that was given; else from the first source that works."""
    if given is not None:
        contents = _read(entry, given, lambda share: say("reading", share))
        return _checked(entry, contents, str(given)), str(given.resolve())
    failures = []
    for number, source in enumerate(entry.sources):
        try:
            return _fetched(entry, source, folder / str(number), say), source.words
        except (SourceFailed, DataRefused) as failure:
            failures.append(f"{source.words}: {failure}")
    advice = f"{entry.name} cannot be had here; where you have it: `pame data prepare {entry.name} --from PATH`"
    raise NoSource("\n".join([*failures, advice]))


def _fetched(entry: KnownData, source: Source, folder: Path, say: Say) -> DataSet:
    with writing(folder):
        folder.mkdir()
    say(f"getting the {source.words}", None)
    path = source.fetch(folder, lambda share: say(f"getting the {source.words}", share))
    return _checked(entry, _read(entry, path, lambda share: say("reading", share)), "it")


def _read(entry: KnownData, path: Path, tell: Tell) -> Contents:
    with opened(path) as files:
        for reader in entry.readers:
            if reader.fits(files):
                contents: Contents = reader.read(files, len(entry.classes), tell)
                return contents
        if entry.refused is not None and entry.refused(files):
            raise DataRefused(
                f"{path} is the Python version of {entry.name}: pickles, which can run any code and are never loaded; "
                "give the binary version (.bin files)"
            )
        raise DataRefused(f"{path} has no files of {entry.name}: see docs/vision.md for what it may be")


def _checked(entry: KnownData, contents: Contents, source: str) -> DataSet:
    """With its facts; refused if it is not what is known under this name."""
    facts = facts_of(entry.name, contents.classes or entry.classes, contents.train, contents.test)
    if entry.sha256 is not None and facts.sha256 != entry.sha256:
        raise DataRefused(
            f"{source} is not {entry.name}: the sum of its contents is {facts.sha256[:16]}…, not {entry.sha256[:16]}…; "
            "nothing was kept"
        )
    return DataSet(facts, contents.train, contents.test)


@contextmanager
def _temporary(root: Path, name: str) -> Iterator[Path]:
    """A folder beside the target that is locked while it is used; what a killed process left is removed."""
    folder = root / f".{name}.preparing"
    with writing(root):
        root.mkdir(parents=True, exist_ok=True)
        folder.mkdir(exist_ok=True)
        lock = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise DataRefused(f"{name} is being prepared by another process: wait for it") from None
        try:
            with writing(folder):
                _empty(folder)
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)
    finally:
        os.close(lock)


def _empty(folder: Path) -> None:
    for path in folder.iterdir():
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink()
