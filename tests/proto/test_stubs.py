"""The committed stubs are what the proto files say, and the refusals of the codec have their codes."""

import runpy
from pathlib import Path

from contract.rpc import refusal_pb2
from pame.codec import Refusal as CodecRefusal

ROOT = Path(__file__).parent.parent.parent


def test_the_committed_stubs_match_the_proto_files() -> None:
    made = runpy.run_path(str(ROOT / "proto" / "generate.py"))
    committed = {path.name: path.read_text() for path in made["STUBS"].iterdir() if "_pb2" in path.name}
    assert made["generate"]() == committed, "run `make stubs` and commit what it writes"


def test_every_refusal_of_the_codec_has_its_code_on_the_wire() -> None:
    names = {name.removeprefix("REFUSAL_").lower() for name, _ in refusal_pb2.Refusal.items()}
    assert {refusal.value for refusal in CodecRefusal} <= names
