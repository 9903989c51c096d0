"""The committed stubs are what the proto files say, and the refusals of the codec have their codes."""

import sys
from pathlib import Path

from contract.rpc import refusal_pb2
from pame.codec import Refusal as CodecRefusal

ROOT = Path(__file__).parent.parent.parent


def test_the_committed_stubs_match_the_proto_files() -> None:
    sys.path.insert(0, str(ROOT / "proto"))
    try:
        from generate import STUBS, generate
    finally:
        sys.path.pop(0)
    committed = {path.name: path.read_text() for path in STUBS.iterdir() if "_pb2" in path.name}
    assert generate() == committed, "run `make stubs` and commit what it writes"


def test_every_refusal_of_the_codec_has_its_code_on_the_wire() -> None:
    names = {name.removeprefix("REFUSAL_").lower() for name, _ in refusal_pb2.Refusal.items()}
    assert {refusal.value for refusal in CodecRefusal} <= names
