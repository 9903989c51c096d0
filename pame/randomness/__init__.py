"""Every random number of a run, as a pure function of (seed, purpose, node, iteration, peer).

No generator is carried along, so the order of execution never matters and anyone can recompute any draw.
The integers are those of Philox4x64-10, a counter-based generator; the short algorithms on top of them are
ours, because NumPy promises the same `Generator` stream only within one version.
May import: the standard library and numpy.
"""

from pame.randomness.dirichlet import dirichlet
from pame.randomness.draws import integers, normals, permutation, uniforms
from pame.randomness.key import Key, Purpose, words
from pame.randomness.normal_quantile import normal_quantile
from pame.randomness.subsets import subset

__all__ = [
    "Key",
    "Purpose",
    "dirichlet",
    "integers",
    "normal_quantile",
    "normals",
    "permutation",
    "subset",
    "uniforms",
    "words",
]
