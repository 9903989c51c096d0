"""One participant: gRPC service, links to neighbours, training loop, link shaping, metrics.

May import: `contract`, `pame`, and what a small process needs (grpcio, protobuf, prometheus-client).
"""
