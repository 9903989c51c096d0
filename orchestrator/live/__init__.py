"""The orchestrator's own live page: the network as it is now, for whoever has a browser and no Grafana.

    page.py         the server: routes, open and close      recorder.py     follows the run under way, in bounded memory
    state.py        one look at a run, as plain values      flows.py        link totals -> bytes per second
    nodes.py        each node: its state in a word, http_sd folders.py      run folders, and no file beside them
    fault_windows.py      the plan: past, now, next      happenings.py   events and node log, in order of time
    cached_answers.py     made once, sent to many, in time  http_security.py   headers, names, token, origin
    page_connections.py   bounded; nonsense is counted      assets.py       the page itself, from static/

Nobody who looks can hold up a run: an answer is made at most once in a while however many ask, and a client that does
not read is cut off. May import: `orchestrator.control`, `orchestrator.results`, `orchestrator.report` (its
style, and where faults lie on axes), `contract`, `pame`; aiohttp.
"""

from orchestrator.live.page import LivePage

__all__ = ["LivePage"]
