"""The compressors, one file each: `compress(vector, key)` is a pure function of both and gives a payload.

`key` is `Key(seed, Purpose.COMPRESSION, node, iteration)`; a second vector of the same message takes another `peer`.
A new one is a file and a place in `CompressorSpec`; a new kind of payload also has its coding in `pame.codec`.
May import: the standard library, numpy, annotated-types, `pame.exchange`, `pame.randomness`, `pame.sampling`,
`pame.errors`.
"""

from typing import Protocol, get_args

from pame.compressors.adaptive import AdaptiveQuantizer
from pame.compressors.payload import (
    FormName,
    Levels,
    Payload,
    Quantized,
    Signs,
    Sparse,
    expand,
    form_of,
    rounded,
)
from pame.compressors.quantize import Quantize
from pame.compressors.random_k import RandomK
from pame.compressors.sign import Sign
from pame.compressors.top_k import TopK
from pame.exchange import Vector
from pame.randomness import Key


class Compressor(Protocol):
    """A compressor's parameters, as they stand in an experiment file."""

    @property
    def kind(self) -> str:
        """The name the compressor is registered under."""

    @property
    def form(self) -> FormName:
        """How its payload travels."""

    def compress(self, vector: Vector, key: Key) -> Payload:
        """The payload of a vector; Diverged if that is not finite."""


CompressorSpec = TopK | RandomK | Quantize | AdaptiveQuantizer | Sign

SPECS: dict[str, type[Compressor]] = {spec.kind: spec for spec in get_args(CompressorSpec)}
"""Every compressor by its name in an experiment file."""

__all__ = [
    "SPECS",
    "AdaptiveQuantizer",
    "Compressor",
    "CompressorSpec",
    "FormName",
    "Levels",
    "Payload",
    "Quantize",
    "Quantized",
    "RandomK",
    "Sign",
    "Signs",
    "Sparse",
    "TopK",
    "expand",
    "form_of",
    "rounded",
]
