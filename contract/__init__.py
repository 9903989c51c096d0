"""What node and orchestrator agree on: what they say to each other, and what they serve alike.

    rpc/                  generated stubs of proto/pame/v1           assignment.py   a run for one node <-> protobuf
    assignment_limits.py  what a node takes from an orchestrator     refusals.py     the names of refusals
    fault_reports.py      an effect begins or ends                   realised.py     what became of a link's property
    credentials.py        mutual TLS, the shared files               keypair.py      a key, a request to sign it
    versions.py           of the code                                fingerprint.py  whether two problems are the same
    run_name.py           a run in words                             tasks.py        how tasks and streams end
    plugins.py            a user's own kinds                         unexpected_errors.py   an exception in one line
    counters.py           the table of what nodes count              counter_reports.py     reports <-> protobuf
    data_store.py         data sets on this machine                  data_manifest.py   what stands beside their arrays
    logs.py               log lines: events with fields
    ports/                what both serve: metrics, health; bounded connections, refusals that are counted

May import: `pame`; grpc, protobuf, cryptography, prometheus_client. Neither `node` nor `orchestrator`.
"""
