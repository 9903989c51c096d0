"""How many coordinates a sparsifier keeps."""

from pame.errors import ParameterError


def kept(share: float | int, n: int) -> int:
    """A share of n, rounded, at least 1; or the count itself, if it is an integer."""
    if not isinstance(share, int):
        return min(max(1, round(share * n)), n)
    if share > n:
        raise ParameterError(f"a compressor that keeps {share} does not fit a model with n = {n}: keep at most {n}")
    return share
