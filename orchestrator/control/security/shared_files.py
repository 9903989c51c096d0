"""The folder where an orchestrator leaves what nodes and clients need: its authority's certificate, and the token.

The authority's key is not among it: it never leaves memory. The token stays over restarts, the certificate does not.
"""

import os
import secrets
from dataclasses import dataclass, field
from pathlib import Path

from contract.credentials import AUTHORITY_FILE, TOKEN_FILE
from orchestrator.errors import UnreadableFile, writing
from pame.errors import PameError

_GROUP_READS = 0o640
_TOKEN_BYTES = 16
_LONGEST = 200


class BadToken(PameError):
    """A token that could not be written down and read again."""


@dataclass(frozen=True)
class SharedFiles:
    authority: bytes
    """Certificate, PEM."""
    token: str = field(repr=False)


def read_vault(folder: Path) -> SharedFiles:
    try:
        return SharedFiles(
            (folder / AUTHORITY_FILE).read_bytes(), (folder / TOKEN_FILE).read_text(encoding="ascii").strip()
        )
    except (OSError, UnicodeDecodeError) as error:
        raise UnreadableFile(
            f"cannot read {AUTHORITY_FILE} and {TOKEN_FILE} in {folder} ({error}): copy the orchestrator's folder"
        ) from None


def keep_token(folder: Path, token: str = "") -> str:
    """The token there is: the given one, else that of a former time, else a new one. Left in the folder."""
    path = folder / TOKEN_FILE
    if token and (not token.isascii() or not token.isprintable() or token != token.strip() or len(token) > _LONGEST):
        raise BadToken(f"a token has at most {_LONGEST} printable ASCII characters, and no blank at its ends")
    if not token:
        try:
            token = path.read_text(encoding="ascii").strip()
        except (OSError, UnicodeDecodeError):
            token = ""
    token = token if 0 < len(token) <= _LONGEST else secrets.token_hex(_TOKEN_BYTES)
    _leave(path, token.encode("ascii") + b"\n")
    return token


def leave_authority(folder: Path, certificate: bytes) -> None:
    """So that nodes know whom to believe; to be done when they can be answered."""
    _leave(folder / AUTHORITY_FILE, certificate)


def _leave(path: Path, content: bytes) -> None:
    """All of it or nothing: a node may read at any moment."""
    with writing(path.parent):
        path.parent.mkdir(parents=True, exist_ok=True)
        draft = path.with_name(f".{path.name}.new")
        draft.unlink(missing_ok=True)
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _GROUP_READS)
        with os.fdopen(descriptor, "wb") as file:
            os.fchmod(file.fileno(), _GROUP_READS)
            file.write(content)
        draft.replace(path)
