"""The control plane and the `pame` command: experiments, backends, collection, reports.

May import everything below it: `node` and `pame`. Nothing imports `orchestrator`.
"""
