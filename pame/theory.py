"""What theory says a message costs, in bits.

For a model of n coordinates, s of them revealed in float64:

    entropy floor   log2 C(n, s) + 64 s    no lossless coding of a uniform support and arbitrary values needs less
    the paper       63 s + n               as printed; it cannot be decoded, and lies below the floor for s/n > 0.227
    with a flag     64 s + n               the same with the flag bit per coordinate that makes it decodable
    dense           64 n
"""

from math import lgamma, log


def support_entropy_bits(n: int, s: int) -> float:
    """log2 C(n, s): the entropy of a support drawn uniformly."""
    return (lgamma(n + 1) - lgamma(s + 1) - lgamma(n - s + 1)) / log(2)


def entropy_floor_bits(n: int, s: int) -> float:
    return support_entropy_bits(n, s) + 64 * s


def paper_bits(n: int, s: int) -> int:
    """63 s + n: the paper's own count of a partial message."""
    return 63 * s + n


def flagged_bits(n: int, s: int) -> int:
    """64 s + n: the paper's message with a bit per coordinate that says whether a value follows."""
    return 64 * s + n


def dense_bits(n: int) -> int:
    return 64 * n
