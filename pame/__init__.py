"""The science of PaME: sampling, exchange, codec, algorithms, problems, topology, theory, simulator.

Arrays in, arrays out. Nothing in here opens a socket or a file, reads a clock or the environment.
May import: the standard library, numpy, scipy, networkx, annotated-types. Never `node` or `orchestrator`.
"""
