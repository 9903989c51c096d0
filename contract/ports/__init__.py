"""The ports that nodes and the orchestrator open alike: bounded, and nonsense is counted.

    connections.py     bounded in number and time          refused_requests.py   counted by reason
    metrics_server.py  HTTP for Prometheus                 metric_families.py    what both tell it
    health_server.py   gRPC health, also on loopback       tls_failures.py       failed handshakes, from gRPC's log
    port_limits.py     options of every gRPC server

May import: `pame`, and of `contract` its names; grpc, prometheus_client.
"""
