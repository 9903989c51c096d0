"""A link whose neighbour is not there: bounded in messages and in patience."""

import asyncio
import socket
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from contract.counters import OutCounters
from node.link import OutLink
from node.link_queue import QUEUE_MESSAGES
from tests.node.builders import message
from tests.node.harness import link_to

PATIENCE_S = 0.3


@asynccontextmanager
async def link_to_nobody() -> AsyncIterator[tuple[OutLink, OutCounters]]:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound, never listening
        async with link_to(f"127.0.0.1:{taken.getsockname()[1]}") as linked:
            yield linked


async def test_a_queue_that_nobody_empties_drops_its_oldest_and_counts_them() -> None:
    async with link_to_nobody() as (link, account):
        dropped = [old.iteration for k in range(QUEUE_MESSAGES + 10) for old in link.push(message(k))]
        assert (account.queued, account.dropped) == (QUEUE_MESSAGES, 10)
        assert dropped == list(range(10))  # and their sender is told which


async def test_a_sender_waits_for_room_once_for_as_long_as_its_patience_and_then_no_more() -> None:
    async with link_to_nobody() as (link, account):
        for k in range(QUEUE_MESSAGES):
            await asyncio.wait_for(link.room(60.0), 30.0)
            link.push(message(k))
        assert account.dropped == 0
        before = time.monotonic()
        await asyncio.wait_for(link.room(PATIENCE_S), 30.0)
        assert time.monotonic() - before >= 0.9 * PATIENCE_S
        for k in range(3):  # of the others, two may be under way
            link.push(message(QUEUE_MESSAGES + k))
        assert 1 <= account.dropped <= 3
        await asyncio.wait_for(link.room(3600.0), 30.0)
