"""Campaigns: many runs and a judgement. One engine; a sweep, comparisons, studies and the claims stand on it.

    cell       cells, stages, runs: what a campaign is made of    conduct       stages one after another, to the report
    rows       a line per cell, taken up again after a break      make          a campaign from what its verb was given
    simulate   a cell in the simulator                            on_nodes      cells on nodes that stay for all of them
    run_left   what a run left, and its curve                     process_pool  runs in processes, one per core
    options    what their commands have in common                 yardstick     relative suboptimality, of data kept
    verdicts   questions about paired seeds, answered             report_parts  what their pages have in common

A campaign says its stages (a generator, answered with the runs of each), how it looks at a run, what it makes of all
runs, and its page: see `conduct.Campaign`.
May import: everything in `orchestrator` but the command line and the live page, and `pame`.
"""
