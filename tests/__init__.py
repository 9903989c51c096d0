"""The tests, as a package: helpers are imported by their full name.

BLAS chooses its kernels when it is loaded, and other kernels give other last bits. Containers and guests choose by the
processor, so whatever the environment asks for here is forgotten before numpy is imported.
"""

import os

for _name in ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE"):
    os.environ.pop(_name, None)
