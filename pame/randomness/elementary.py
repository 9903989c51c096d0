"""Logarithm and exponential with the same bits on every machine: `np.log` and `np.exp` differ between processors.

log x:  x = f 2^e with f in [sqrt(1/2), sqrt(2));  log f = 2 artanh((f-1)/(f+1)) as a series
exp x:  x = k log 2 + r with |r| <= log(2)/2;      exp r as a series
"""

from math import factorial

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_LOG_2 = 0.6931471805599453
_LOG_2_HIGH = 0.693147180369123816490  # its upper bits: a multiple of it by a small integer is exact
_LOG_2_LOW = 1.90821492927058770002e-10
_ARTANH = tuple(1.0 / power for power in range(23, 0, -2))
_EXP = tuple(1.0 / factorial(power) for power in range(14, -1, -1))
_SMALLEST = -700.0  # exp of less is 0 here


def polynomial(coefficients: tuple[float, ...], x: Floats) -> Floats:
    """By Horner's rule; coefficients from the highest power down."""
    value = np.full_like(x, coefficients[0])
    for coefficient in coefficients[1:]:
        value *= x
        value += coefficient
    return value


def log(x: Floats) -> Floats:
    """Natural logarithm of positive numbers."""
    f, e = np.frexp(x)
    low = f < 0.7071067811865476
    f = np.where(low, 2.0 * f, f)
    exponent = (e - low).astype(np.float64)
    z = (f - 1.0) / (f + 1.0)
    return exponent * _LOG_2 + 2.0 * z * polynomial(_ARTANH, z * z)


def exp(x: Floats) -> Floats:
    """Exponential of numbers up to 700; below -700 it is 0."""
    bounded = np.maximum(x, _SMALLEST)
    k = np.rint(bounded / _LOG_2)
    r = (bounded - k * _LOG_2_HIGH) - k * _LOG_2_LOW
    return np.where(x < _SMALLEST, 0.0, np.ldexp(polynomial(_EXP, r), k.astype(np.int64)))
