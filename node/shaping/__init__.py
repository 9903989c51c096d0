"""Link shaping by the kernel: what a node wants of its links, as `tc` and `nft` text, applied and read back.

    desired.py   what is wanted of every link          kernel.py   what this kernel can do, found by trying
    render.py    wanted → text, a pure function (tc_text.py, nft_text.py)
    apply.py     text → kernel, and what the kernel then holds (read_back.py reads it)
    shaper.py    the links and the faults of a run → what a node wants at each moment, applied as a change

A node shapes what it sends (delay counted at both ends would be counted twice), on its data interface, in its own
network namespace, with NET_ADMIN only. What the kernel cannot do is left to the in-process shaper; `mechanisms` says
which is which.
May import: `pame` and the standard library.
"""

from node.shaping.apply import ShapingRefused
from node.shaping.kernel import Kernel, probe
from node.shaping.render import Script, tree
from node.shaping.shaper import Shaper, wanted

__all__ = ["Kernel", "Script", "Shaper", "ShapingRefused", "probe", "tree", "wanted"]
