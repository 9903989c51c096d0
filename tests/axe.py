"""axe-core, which judges a page by the rules of accessibility; fetched once: `python -m tests.axe`."""

import sys
import tarfile
from pathlib import Path
from tempfile import TemporaryDirectory

from orchestrator.data.sources import NpmPackage, SourceFailed
from tests.conftest import AXE_ARCHIVE, AXE_VERSION

_SCRIPT = "package/axe.min.js"


def axe_script() -> str:
    with tarfile.open(AXE_ARCHIVE) as archive:
        file = archive.extractfile(_SCRIPT)
        assert file is not None
        return file.read().decode()


def fetch_axe() -> None:
    if AXE_ARCHIVE.is_file():
        return
    AXE_ARCHIVE.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=AXE_ARCHIVE.parent) as folder:
        NpmPackage("axe-core", AXE_VERSION).fetch(Path(folder), lambda _: None).replace(AXE_ARCHIVE)


if __name__ == "__main__":
    try:
        fetch_axe()
    except SourceFailed as error:
        sys.exit(f"axe-core could not be fetched: {error}")
