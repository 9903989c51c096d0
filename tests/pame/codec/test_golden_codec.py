"""Bytes written down once: whoever changes the wire format must change these, and the version number."""

import json
from pathlib import Path
from typing import Any

import pytest

from pame.codec import Draw, StarCoding, SupportCoding, decode, encode
from pame.exchange import ValueType
from tests.pame.codec.oracle import message_of, same, slow_bytes

GOLDEN: list[dict[str, Any]] = json.loads((Path(__file__).parent / "golden.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("vector", GOLDEN, ids=[vector["name"] for vector in GOLDEN])
def test_a_golden_vector_is_decoded_and_encoded_to_the_same_bytes(vector: dict[str, Any]) -> None:
    data, n = bytes.fromhex(vector["hex"]), vector["n"]
    message = message_of(n, vector["support"], [float.fromhex(x) for x in vector["values"]])
    draw = Draw(*vector["draw"]) if vector["draw"] else None
    coding = SupportCoding[vector["coding"].upper()] if vector["coding"] else None
    values = ValueType[vector["values_as"].upper()]
    assert same(decode(data, n, draw), message)
    assert encode(message, coding=coding, values=values, draw=draw) == data
    assert slow_bytes(message, SupportCoding(data[0] >> 3 & 3), values) == data


def test_the_golden_vectors_cover_every_coding_star_coding_and_value_type() -> None:
    flags = [bytes.fromhex(vector["hex"])[0] for vector in GOLDEN]
    assert {(f >> 3 & 3, f >> 5 & 1) for f in flags} == {(c, t) for c in SupportCoding for t in ValueType}
    assert {f >> 6 for f in flags} == set(StarCoding)
