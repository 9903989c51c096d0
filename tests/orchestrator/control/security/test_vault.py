"""The folder with authority and token: who may read it, and what happens to a bad one."""

import stat
from pathlib import Path

import pytest

from orchestrator.control.security import keep_token, leave_authority, read_vault
from orchestrator.control.security.shared_files import BadToken
from orchestrator.errors import CannotWrite, UnreadableFile


def test_a_token_stays_over_restarts_and_a_given_one_replaces_it(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "folder"
    first = keep_token(folder)
    assert len(first) == 32
    assert keep_token(folder) == first
    assert keep_token(folder, "given") == "given"
    assert keep_token(folder) == "given"
    assert keep_token(tmp_path / "other") != first


def test_what_is_left_is_for_owner_and_group_only(tmp_path: Path) -> None:
    keep_token(tmp_path)
    leave_authority(tmp_path, b"certificate")
    for name in ("token", "authority.pem"):
        assert stat.S_IMODE((tmp_path / name).stat().st_mode) == 0o640
    assert sorted(path.name for path in tmp_path.iterdir()) == ["authority.pem", "token"]


def test_a_client_reads_both_and_shows_neither(tmp_path: Path) -> None:
    token = keep_token(tmp_path)
    leave_authority(tmp_path, b"certificate")
    vault = read_vault(tmp_path)
    assert (vault.authority, vault.token) == (b"certificate", token)
    assert token not in repr(vault)


def test_a_folder_without_them_is_one_clear_line(tmp_path: Path) -> None:
    with pytest.raises(UnreadableFile, match="copy the orchestrator's folder"):
        read_vault(tmp_path)
    (tmp_path / "authority.pem").write_bytes(b"x")
    (tmp_path / "token").write_bytes(b"\xff\xfe")
    with pytest.raises(UnreadableFile):
        read_vault(tmp_path)


def test_an_empty_or_unreadable_token_is_replaced(tmp_path: Path) -> None:
    for content in (b"", b"\n", b"\xff\xfe"):
        (tmp_path / "token").write_bytes(content)
        assert len(keep_token(tmp_path)) == 32


@pytest.mark.parametrize("token", ["süß", " a", "a ", "a\nb", "x" * 201])
def test_a_token_that_could_not_be_read_again_is_refused(tmp_path: Path, token: str) -> None:
    with pytest.raises(BadToken, match="printable ASCII"):
        keep_token(tmp_path, token)
    assert not (tmp_path / "token").exists()


def test_a_folder_that_cannot_be_written_is_one_clear_line(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(CannotWrite):
        keep_token(tmp_path / "file")
