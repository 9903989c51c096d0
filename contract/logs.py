"""Log lines of nodes and of an orchestrator that serves: one event with its fields per line, on standard error.

as text   INFO node.process: joined member=node-3 orchestrator=127.0.0.1:4750
as JSON   {"time": ..., "level": "INFO", "logger": ..., "event": "member_joined", "member": "node-3", ...}
at a terminal   20:15:03  member joined: member node-3, address 127.0.0.1:40112, alive 3
"""

import json
import logging
import sys
from datetime import UTC, datetime

_PACKAGES = ("contract", "node", "orchestrator")


def log_event(logger: logging.Logger, event: str, level: int = logging.INFO, **fields: object) -> None:
    logger.log(level, event, extra={"fields": fields})


def log_mistake(logger: logging.Logger, event: str, error: BaseException, **fields: object) -> None:
    logger.error(event, exc_info=error, extra={"fields": fields})


def log_to_stderr(as_json: bool = False, **fields: object) -> None:
    """At the edge of a process, once; `fields`: which every line has."""
    _log_as(_Json(fields) if as_json else _Text(fields))


def log_to_terminal() -> None:
    """For a person who looks on; JSON, if standard error is no terminal."""
    _log_as(_Readable({}) if sys.stderr.isatty() else _Json({}))


def _log_as(formatter: logging.Formatter) -> None:
    handler = _ToStandardError()
    handler.setFormatter(formatter)
    for name in _PACKAGES:
        logger = logging.getLogger(name)
        logger.setLevel(logging.INFO)
        logger.handlers, logger.propagate = [handler], False


class _ToStandardError(logging.Handler):
    """Wherever that is when a line is written: `TlsFailures` puts another in its place."""

    def emit(self, record: logging.LogRecord) -> None:
        print(self.format(record), file=sys.stderr, flush=True)


class _Fields(logging.Formatter):
    def __init__(self, fields: dict[str, object]) -> None:
        super().__init__()
        self._fields = fields

    def fields(self, record: logging.LogRecord) -> dict[str, object]:
        return {**self._fields, **getattr(record, "fields", {})}

    def trace(self, record: logging.LogRecord) -> str:
        return self.formatException(record.exc_info) if record.exc_info else ""


class _Text(_Fields):
    def format(self, record: logging.LogRecord) -> str:
        fields = "".join(f" {name}={_word(value)}" for name, value in self.fields(record).items())
        line = f"{record.levelname} {record.name}: {record.getMessage()}{fields}"
        return "\n".join(filter(None, (self.trace(record), line)))  # the last line is the one that says most


class _Readable(_Fields):
    def format(self, record: logging.LogRecord) -> str:
        at = datetime.fromtimestamp(record.created).strftime("%H:%M:%S")
        level = "" if record.levelno == logging.INFO else f"{record.levelname.lower()}: "
        told = {name: value for name, value in self.fields(record).items() if value not in (None, "")}
        fields = ", ".join(f"{name.replace('_', ' ')} {_plain(value)}" for name, value in told.items())
        event = record.getMessage().replace("_", " ")
        return "\n".join(filter(None, (self.trace(record), f"{at}  {level}{event}{f': {fields}' if fields else ''}")))


class _Json(_Fields):
    def format(self, record: logging.LogRecord) -> str:
        now = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        about = {"time": now, "level": record.levelname, "logger": record.name, "event": record.getMessage()}
        trace = {"trace": trace} if (trace := self.trace(record)) else {}
        return json.dumps({**about, **self.fields(record), **trace}, default=str)


def _plain(value: object) -> str:
    """On one line, whatever a stranger has put into it; a number as people write it."""
    text = f"{value:.4g}" if isinstance(value, float) else "yes" if value is True else str(value)
    return "".join(letter if letter.isprintable() else " " for letter in text)


def _word(value: object) -> str:
    text = str(value)
    plain = text.isprintable() and text and not any(letter in text for letter in ' "=')
    return text if plain else json.dumps(text, ensure_ascii=False)
