"""The quantile function of the standard normal distribution, with the same bits on every machine.

Wichura's rational approximations (Algorithm AS 241, PPND16), good to about 1e-16 relative:

    |p - 1/2| <= 0.425:   x = q A(r)/B(r),   q = p - 1/2,  r = 0.425^2 - q^2
    otherwise:            r = sqrt(-log(min(p, 1-p)));  r <= 5: x = C(r - 1.6)/D(r - 1.6);  else E(r - 5)/F(r - 5)

The logarithm is our own: `np.log` differs in the last bit between processors.
"""

import numpy as np

from pame.randomness.elementary import Floats, log, polynomial

# Coefficients from the highest power down.
_A = (
    2509.0809287301226727, 33430.575583588128105, 67265.770927008700853, 45921.953931549871457,
    13731.693765509461125, 1971.5909503065514427, 133.14166789178437745, 3.387132872796366608,
)  # fmt: skip
_B = (
    5226.495278852854561, 28729.085735721942674, 39307.89580009271061, 21213.794301586595867,
    5394.1960214247511077, 687.1870074920579083, 42.313330701600911252, 1.0,
)  # fmt: skip
_C = (
    7.7454501427834140764e-4, 0.0227238449892691845833, 0.24178072517745061177, 1.27045825245236838258,
    3.64784832476320460504, 5.7694972214606914055, 4.6303378461565452959, 1.42343711074968357734,
)  # fmt: skip
_D = (
    1.05075007164441684324e-9, 5.475938084995344946e-4, 0.0151986665636164571966, 0.14810397642748007459,
    0.68976733498510000455, 1.6763848301838038494, 2.05319162663775882187, 1.0,
)  # fmt: skip
_E = (
    2.01033439929228813265e-7, 2.71155556874348757815e-5, 0.0012426609473880784386, 0.026532189526576123093,
    0.29656057182850489123, 1.7848265399172913358, 5.4637849111641143699, 6.6579046435011037772,
)  # fmt: skip
_F = (
    2.04426310338993978564e-15, 1.4215117583164458887e-7, 1.8463183175100546818e-5, 7.868691311456132591e-4,
    0.0148753612908506148525, 0.13692988092273580531, 0.59983220655588793769, 1.0,
)  # fmt: skip


def normal_quantile(p: Floats) -> Floats:
    q = p - 0.5
    r = 0.180625 - q * q
    x = q * polynomial(_A, r) / polynomial(_B, r)
    tail = np.flatnonzero(r < 0.0)
    if tail.size:
        x[tail] = np.copysign(_tail(np.minimum(p[tail], 1.0 - p[tail])), q[tail])
    return x


def _tail(p: Floats) -> Floats:
    r = np.sqrt(-log(p))
    x = polynomial(_C, r - 1.6) / polynomial(_D, r - 1.6)
    far = np.flatnonzero(r > 5.0)
    if far.size:
        beyond = r[far] - 5.0
        x[far] = polynomial(_E, beyond) / polynomial(_F, beyond)
    return x
