"""What theory says a message costs, in bits, and what the naive average gets wrong.

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
    """log2 C(n, s) + 64 s."""
    return support_entropy_bits(n, s) + 64 * s


def paper_bits(n: int, s: int) -> int:
    """63 s + n: the paper's own count of a partial message."""
    return 63 * s + n


def flagged_bits(n: int, s: int) -> int:
    """64 s + n: the paper's message with a bit per coordinate that says whether a value follows."""
    return 64 * s + n


def dense_bits(n: int) -> int:
    """64 n: the whole model."""
    return 64 * n


def naive_average_bias(n: int, s: int, q: int) -> float:
    """By what factor the average of q partial messages shrinks if it divides by q, not by the coverage.

    Theorem 1: let each of q >= 1 senders draw s of n coordinates, and let lambda be the number of those messages that
    carry a coordinate. Where lambda > 0, the sum of the values divided by lambda has the mean of the q senders' values
    as its expectation: by symmetry each sender is equally likely to be among the lambda. Divided by q it has that mean
    times E[lambda / q | lambda > 0], and since lambda is binomial(q, p) with p = s/n, this factor is

        p / (1 - (1 - p)^q)

    1 for a single message, and down to p for many.
    """
    p = s / n
    return p / (1.0 - (1.0 - p) ** q)
