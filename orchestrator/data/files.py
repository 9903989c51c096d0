"""A folder, a tar or a zip as files by name. Archives are read member by member and never unpacked."""

import tarfile
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import IO

from orchestrator.data.reading import DataRefused, Files, Item

LARGEST = 1 << 30
"""Bytes of one file: no known data set has a larger one."""
MOST = 1_000_000
"""Files of one source."""
_TARS = (".tar", ".tar.gz", ".tgz")


@contextmanager
def opened(path: Path) -> Iterator[Files]:
    """The files of a folder or an archive, by how its name ends."""
    try:
        if path.is_dir():
            yield Folder(path)
        elif path.name.endswith(_TARS):
            with tarfile.open(path) as tar:
                yield Tar(str(path), tar)
        elif path.suffix == ".zip":
            with zipfile.ZipFile(path) as archive:
                yield Zip(str(path), archive)
        elif path.exists():
            raise DataRefused(f"{path} is neither a folder nor a .tar, .tar.gz, .tgz or .zip: give one of these")
        else:
            raise DataRefused(f"{path} is not there: give the path of the data")
    except OSError as error:
        if isinstance(error, tarfile.TarError) or error.strerror is None:
            raise DataRefused(f"{path} is damaged: get it anew") from None
        raise DataRefused(f"{path} cannot be read: {error.strerror}") from None
    except (tarfile.TarError, zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError):
        raise DataRefused(f"{path} is damaged or not what its name says: get it anew") from None


class Folder:
    def __init__(self, root: Path) -> None:
        self.place = str(root)
        self._root = root
        self._names: list[str] = []

    def names(self) -> Sequence[str]:
        if not self._names:
            files = (path for path in self._root.rglob("*") if path.is_file())
            few = _few(files, self.place, "give the folder of the data alone")
            self._names = sorted(path.relative_to(self._root).as_posix() for path in few)
        return self._names

    def read(self, name: str) -> bytes:
        with (self._root / name).open("rb") as file:
            return bounded(file, f"{self.place}/{name}")


class Tar:
    def __init__(self, place: str, tar: tarfile.TarFile) -> None:
        self.place = place
        self._tar = tar
        self._members: dict[str, tarfile.TarInfo] = {}

    def names(self) -> Sequence[str]:
        if not self._members:
            regular = (member for member in self._tar if member.isreg())
            self._members = {member.name: member for member in _few(regular, self.place, "it is no data set")}
        return list(self._members)

    def read(self, name: str) -> bytes:
        self.names()
        file = self._tar.extractfile(self._members[name])
        assert file is not None  # only regular files are listed
        with file:
            return bounded(file, f"{self.place}: {name}")


class Zip:
    def __init__(self, place: str, archive: zipfile.ZipFile) -> None:
        self.place = place
        self._archive = archive

    def names(self) -> Sequence[str]:
        names = (entry.filename for entry in self._archive.infolist() if not entry.is_dir())
        return _few(names, self.place, "it is no data set")

    def read(self, name: str) -> bytes:
        with self._archive.open(name) as file:
            return bounded(file, f"{self.place}: {name}")


def _few(found: Iterable[Item], place: str, advice: str) -> list[Item]:
    """All of them, unless there are absurdly many."""
    few = list(islice(found, MOST + 1))
    if len(few) > MOST:
        raise DataRefused(f"{place} has more than {MOST} files: {advice}")
    return few


def bounded(file: IO[bytes], name: str) -> bytes:
    """All of a file, unless it is absurdly large, whatever its header says."""
    content = file.read(LARGEST + 1)
    if len(content) > LARGEST:
        raise DataRefused(f"{name} is larger than {LARGEST >> 20} MiB: it is no part of a data set")
    return content
