"""What `pame check` looks at in a plugin: every look is a line, ok or failed with its reason.

    look.py          one look, and what it found             rehearsal.py   small runs, simulated and on four real nodes
    algorithm.py     codec, descent, bits, loss, restart     problem.py     gradient, descent, bits
    surroundings.py  topologies and faults

May import: the backends, `orchestrator.experiment`, `contract` and `pame`.
"""
