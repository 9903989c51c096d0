"""Campaigns: many runs and a judgement. A sweep, comparisons, studies, the claims.

    process_pool     runs in processes of their own, as many at once as there are cores
    partial_results  a line per run as it ends, and an end that keeps what there is
    verdicts         the words of a judgement

May import: everything in `orchestrator` but the command line and the live page, and `pame`.
"""
