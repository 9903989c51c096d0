"""The orchestrator's own live page: the network as it is now, for whoever has a browser and no Grafana.

    page.py         the server: routes, open and close      recorder.py     follows the run under way
    run_record.py   what is kept of a run, in bounded memory downsampled_curve.py    a curve of it
    state.py        one look at a run, as plain values      flows.py        link totals -> bytes per second
    nodes.py        each node: its state in a word, http_sd folders.py      run folders, and no file beside them
    fault_windows.py      the plan: past, now, next      happenings.py   events and node log, in order of time
    cached_answers.py     made once, sent to many, in time  http_security.py   headers, names, token, origin
    page_connections.py   bounded; nonsense is counted      assets.py       the page itself, from static/
    actions.py      what it does for the token              proposals.py    an experiment, checked before it begins
    fault_offers.py what a node or link can suffer          run_archive.py  a run folder as a ZIP
    run_source.py   where it finds runs: `Submissions` of an orchestrator that serves, or those of a command:
    shown_command.py, command_runs.py, page_thread.py       simulated_run.py, campaign_progress.py

Nobody who looks can hold up a run: an answer is made at most once in a while however many ask, and a client that does
not read is cut off. May import: `orchestrator.control`, `orchestrator.results`, `orchestrator.report` (its
style, and where faults lie on axes), `contract`, `pame`; aiohttp.
"""

from orchestrator.live.page import LivePage
from orchestrator.live.shown_command import ShownCommand

__all__ = ["LivePage", "ShownCommand"]
