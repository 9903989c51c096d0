"""Comparisons: several algorithms on one experiment, tuned alike, then measured on fresh seeds.

    file           the comparison file                         grid       views, cells, what is tuned, edges of a grid
    jobs           cells -> runs, each once                    run, real  a run in the simulator, on real nodes
    measure        a curve -> what it took to each target      tune       the best of the settings tried
    verdict        medians and ranges; who needs the fewest    conduct    all of it, into a folder
    report         the page, with charts and tables            screen     what one sees meanwhile, and at the end

May import: everything in `orchestrator` but the command line, and `pame`.
"""

from orchestrator.campaigns.compare.file import Comparison, load_comparison

__all__ = ["Comparison", "load_comparison"]
