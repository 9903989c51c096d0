"""How many pings a node sends over a link at the least; the orchestrator plans the time of a check by it."""

PINGS, PINGS_OF_JITTER = 6, 12
