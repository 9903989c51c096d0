"""Log lines: one event with its fields per line, as text or as JSON, and tracebacks only where they were asked for."""

import json
import logging
import re
import sys
from collections.abc import Iterator

import pytest

from contract.logs import log_event, log_mistake, log_to_stderr, log_to_terminal

LOG = logging.getLogger("node.somewhere")
PACKAGES = [logging.getLogger(name) for name in ("contract", "node", "orchestrator")]


@pytest.fixture(autouse=True)
def _as_it_was() -> Iterator[None]:
    before = [(logger, logger.level, logger.handlers, logger.propagate) for logger in PACKAGES]
    yield
    for logger, level, handlers, propagate in before:
        logger.setLevel(level)
        logger.handlers, logger.propagate = handlers, propagate


def test_a_line_of_text_has_level_logger_event_and_fields_and_quotes_what_is_no_word(
    capsys: pytest.CaptureFixture[str],
) -> None:
    log_to_stderr(member="node-3")
    log_event(LOG, "joined", orchestrator="127.0.0.1:4750", trying_s=0.5)
    log_event(LOG, "refused", logging.WARNING, reason="no\nsuch thing", empty="")
    assert capsys.readouterr().err == (
        "INFO node.somewhere: joined member=node-3 orchestrator=127.0.0.1:4750 trying_s=0.5\n"
        'WARNING node.somewhere: refused member=node-3 reason="no\\nsuch thing" empty=""\n'
    )


def test_a_line_of_json_has_the_same_and_the_time(capsys: pytest.CaptureFixture[str]) -> None:
    log_to_stderr(as_json=True)
    log_event(LOG, "listening", address="127.0.0.1:1", page=None, tls=False)
    found = json.loads(capsys.readouterr().err)
    assert found.pop("time").endswith("+00:00")
    about = {"level": "INFO", "logger": "node.somewhere", "event": "listening"}
    assert found == {**about, "address": "127.0.0.1:1", "page": None, "tls": False}


def test_a_terminal_gets_a_line_for_people_and_a_pipe_the_json(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    log_to_terminal()
    log_event(LOG, "member_joined", member="node-3")
    assert json.loads(capsys.readouterr().err)["event"] == "member_joined"
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    log_to_terminal()
    log_event(LOG, "member_joined", member="node-3", page=None, took_s=0.123456)
    log_event(LOG, "left")
    log_event(LOG, "http_refused", logging.WARNING, reason="odd\x1b[31m\nthing")
    lines = [line.partition("  ") for line in capsys.readouterr().err.splitlines()]
    assert all(re.fullmatch(r"\d\d:\d\d:\d\d", at) for at, _, _ in lines)
    assert [words for _, _, words in lines] == [
        "member joined: member node-3, took s 0.1235",
        "left",
        "warning: http refused: reason odd [31m thing",
    ]


@pytest.mark.parametrize("as_json", [False, True])
def test_a_traceback_is_there_when_it_is_asked_for(as_json: bool, capsys: pytest.CaptureFixture[str]) -> None:
    log_to_stderr(as_json)
    try:
        raise LookupError("nothing there")
    except LookupError as error:
        log_event(LOG, "mistake", logging.ERROR)
        assert "Traceback" not in capsys.readouterr().err
        log_mistake(LOG, "mistake", error)
    said = capsys.readouterr().err
    assert "Traceback" in (json.loads(said)["trace"] if as_json else said)
    assert "LookupError: nothing there" in said
