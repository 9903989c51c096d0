"""Follows the run under way, and says what the page shows of it, and of the last one."""

import asyncio
import time
from pathlib import Path
from typing import Any

from contract.tasks import cancelled
from orchestrator.control.run_phase import Phase
from orchestrator.live.nodes import idle_state
from orchestrator.live.run_record import RunRecord
from orchestrator.live.run_source import RunSource

_MOST_SPARES = 200


class Recorder:
    """Follows one run after the other."""

    def __init__(self, source: RunSource, out: Path) -> None:
        self._source = source
        self._out = out
        self._record: RunRecord | None = None
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        self._task = asyncio.create_task(self._follow())

    async def stop(self) -> None:
        await cancelled(self._task)
        if self._record is not None:
            await self._record.close()

    def state(self) -> dict[str, Any]:
        """All that the page shows and that changes."""
        if self._task is not None and self._task.done():
            self._task.result()  # a mistake of ours is an error for the page, not a picture that stands still
        record, members = self._record, self._source.members
        alive = members.alive()
        nodes = [] if record is None else record.nodes(self._source)
        taken = {node["member"] for node in nodes}
        spares = [{"member": m.name, "state": idle_state(m)} for m in alive if m.name not in taken]
        return {
            "time": time.time(),
            "phase": Phase.IDLE if record is None else record.phase,
            "notice": self._source.notice,
            "campaign": self._source.campaign(),
            "members": len(alive),
            "refused_joins": dict(members.refused),
            "nodes": nodes,
            "spares": spares[:_MOST_SPARES],
            "run": None if record is None else record.told(),
        }

    async def graph(self) -> dict[str, Any] | None:
        """Edges and positions of the run that is shown; None until they are on the disk."""
        record = self._record
        return None if record is None else await record.graph()

    async def happened(self) -> dict[str, Any] | None:
        """Events and node log of the run that is shown."""
        return None if self._record is None else self._record.happened()

    async def _follow(self) -> None:
        while True:
            broadcast = await self._source.find(0)
            if broadcast is None:
                return
            if self._record is not None:
                await self._record.close()
            self._record = RunRecord(broadcast, self._out / broadcast.folder)
            async for event in broadcast.watch():
                self._record.heard(event, self._source.run)
