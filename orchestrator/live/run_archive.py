"""A whole run folder as a ZIP, piece by piece, so that it never lies in memory; nothing from beside the folder."""

import os
import stat
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path

from orchestrator.number_words import volume
from orchestrator.results.files import ReportError
from orchestrator.results.listing import read_entry

MOST_BYTES = 2 * 2**30
MOST_FILES = 20_000
_CHUNK = 1 << 18
_FAST = 1


def find_folder(out: Path, name: str) -> Path | None:
    """A run folder, or that of a campaign, right below `out`; None if there is none of that name."""
    try:
        root = (out / name).resolve(strict=True)
        if root.parent == out.resolve(strict=True) and root.name == name and root.is_dir():
            return root if read_entry(root, time.time()) is not None else None
    except (OSError, ValueError, RuntimeError):  # not there, no path at all, links in a circle
        pass
    return None


def files_of(root: Path) -> list[Path]:
    """The plain files in it, at any depth; ReportError if there is too much for one download."""
    found, size = [], 0
    for place, folders, names in os.walk(root):
        folders.sort()
        for name in sorted(names):
            path = Path(place) / name
            about = path.lstat()
            if stat.S_ISREG(about.st_mode):
                found.append(path)
                size += about.st_size
        if size > MOST_BYTES or len(found) > MOST_FILES:
            raise ReportError(f"{root.name} is larger than {volume(MOST_BYTES)}: copy the folder itself")
    return found


def zipped(root: Path, files: list[Path]) -> Iterator[bytes]:
    """The archive; reads files, so it belongs into a thread. One that is gone meanwhile is left out."""
    sink = _Sink()
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED, compresslevel=_FAST) as archive:  # type: ignore[call-overload]
        for path in files:
            try:
                descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
            except OSError:
                continue
            with os.fdopen(descriptor, "rb") as source:
                left = os.fstat(source.fileno()).st_size
                entry = zipfile.ZipInfo(f"{root.name}/{path.relative_to(root)}", _moment(path))
                entry.compress_type = zipfile.ZIP_DEFLATED
                entry.external_attr = 0o644 << 16
                with archive.open(entry, "w") as inside:
                    while left > 0 and (chunk := source.read(min(left, _CHUNK))):
                        inside.write(chunk)
                        left -= len(chunk)
                        yield sink.taken()
    yield sink.taken()


class _Sink:
    """What a ZIP is written to, and taken from as it grows; it cannot go back."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []

    def write(self, piece: bytes) -> int:
        self._pieces.append(bytes(piece))
        return len(piece)

    def flush(self) -> None:
        """Nothing is kept back."""

    def taken(self) -> bytes:
        pieces, self._pieces = self._pieces, []
        return b"".join(pieces)


def _moment(path: Path) -> tuple[int, int, int, int, int, int]:
    """When it was written; a ZIP knows no year before 1980."""
    year, month, day, hour, minute, second, *_ = time.localtime(max(path.lstat().st_mtime, 315_619_200.0))
    return year, month, day, hour, minute, second
