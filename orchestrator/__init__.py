"""The control plane and the `pame` command: experiments, backends, collection, reports.

May import: `contract`, `pame`, and of `node` what starts or shapes one. Nothing imports `orchestrator`.
"""
