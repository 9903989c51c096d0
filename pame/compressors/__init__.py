"""The compressors, one file each: `compress(vector, key)` is a pure function of both and gives a payload, which travels
in the `form`; Diverged if the vector is not finite.

`key` is `Key(seed, Purpose.COMPRESSION, node, iteration)`; a second vector of the same message takes another `peer`.
A new one is a file and a place in `CompressorSpec`; a new kind of payload also has its coding in `pame.codec`.
May import: the standard library, numpy, annotated-types, `pame.exchange`, `pame.randomness`, `pame.sampling`,
`pame.errors`.
"""

from pame.compressors.adaptive import AdaptiveQuantizer
from pame.compressors.payload import FormName, Levels, Payload, Quantized, Signs, Sparse, expand, form_of, rounded
from pame.compressors.quantize import Quantize
from pame.compressors.random_k import RandomK
from pame.compressors.sign import Sign
from pame.compressors.top_k import TopK

CompressorSpec = TopK | RandomK | Quantize | AdaptiveQuantizer | Sign

__all__ = [
    "AdaptiveQuantizer",
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
