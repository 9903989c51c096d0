"""The files in the folder that the orchestrator shares with those who may join."""

AUTHORITY_FILE = "authority.pem"
TOKEN_FILE = "token"
