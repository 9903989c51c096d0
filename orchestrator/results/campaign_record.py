"""campaign.json: which command a campaign's folder belongs to, so that it is listed, resumed and reported anew."""

import fcntl
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from orchestrator.results.files import mapping, read_object_if_whole
from orchestrator.results.typed_json import from_json, write_json

FILE = "campaign.json"
ROWS = "rows.jsonl"
UNDER_WAY, FINISHED = "running", "finished"
_PART = 1 << 20


@dataclass(frozen=True)
class CampaignRecord:
    verb: str
    """Of `pame`."""
    command: str
    """As a user can repeat it."""
    arguments: Mapping[str, Any] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    """The SHA-256 of each file that it is made of, plugins and own networks among them, by its path as given."""
    data: Mapping[str, str] = field(default_factory=dict)
    """The SHA-256 of each data set that its runs have used, by its name."""
    status: str = UNDER_WAY
    seconds: float = 0.0
    """How long all of it took."""


def write_record(folder: Path, record: CampaignRecord) -> None:
    write_json(folder / FILE, record)


def read_record(folder: Path) -> CampaignRecord | None:
    """None: the folder is not that of a campaign."""
    told = read_object_if_whole(folder / FILE)
    found = from_json(CampaignRecord, told)
    # an argument that was not given is null, and belongs to the others
    return None if found is None else replace(found, arguments=mapping(mapping(told).get("arguments")))


def is_under_way(folder: Path) -> bool:
    """Whether a process writes its rows just now."""
    try:
        with (folder / ROWS).open(encoding="utf-8") as rows:
            fcntl.flock(rows, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        pass
    return False


def count_rows(folder: Path) -> int:
    """Whole ones."""
    try:
        with (folder / ROWS).open("rb") as rows:
            return sum(part.count(b"\n") for part in iter(lambda: rows.read(_PART), b""))
    except FileNotFoundError:
        return 0


def digest(path: Path) -> str:
    """Empty: it cannot be read."""
    try:
        return sha256(path.read_bytes()).hexdigest()
    except OSError:
        return ""
