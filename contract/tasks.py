"""How tasks and streams end: together, and with a reason."""

import asyncio
from collections.abc import Awaitable, Coroutine
from math import inf
from typing import Any

import grpc


async def cancelled(*tasks: "asyncio.Task[Any] | None") -> None:
    """Cancel those that there are, and wait until they have ended, however they do."""
    there = [task for task in tasks if task is not None]
    for task in there:
        task.cancel()
    await asyncio.gather(*there, return_exceptions=True)


async def until_one_ends(*works: Coroutine[Any, Any, None]) -> None:
    """All at once; the first one to end, well or not, ends the others."""
    tasks = [asyncio.create_task(work) for work in works]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            task.result()
    finally:
        await cancelled(*tasks)


async def is_set(event: asyncio.Event, within: float) -> bool:
    """Wait for an event, at most so many seconds; inf: for as long as it takes. Whether it is there."""
    try:
        async with asyncio.timeout(within if within < inf else None):
            return await event.wait()
    except TimeoutError:
        return False


async def end_of_stream(streaming: Awaitable[None]) -> str:
    """Why a stream over gRPC ended; only an end of this very task is raised."""
    try:
        await streaming
    except grpc.aio.AioRpcError as error:
        return error.code().name.lower()
    except asyncio.InvalidStateError:  # gRPC's word for writing to a stream that has just ended
        pass
    except asyncio.CancelledError:
        task = asyncio.current_task()
        if task is None or task.cancelling():
            raise
    return "it closed the connection"
