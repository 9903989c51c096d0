"""The generated stubs of proto/pame/v1 (`make stubs`): never edited by hand, and committed.

May import: grpc, protobuf.
"""
