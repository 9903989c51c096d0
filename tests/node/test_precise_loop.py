"""The event loop of a node: short sleeps are short, and whatever else wakes a loop wakes it, too."""

import asyncio
import os
import time

import pytest

from node.precise_loop import run_precisely


def test_a_sleep_can_be_shorter_than_a_millisecond() -> None:
    """The shortest of many: a busy machine lengthens some; with epoll alone all take a millisecond or more."""
    taken = []

    async def sleep() -> None:
        for _ in range(200):
            start = time.monotonic()
            await asyncio.sleep(0.0002)
            taken.append(time.monotonic() - start)

    run_precisely(sleep())
    assert 0.0002 <= min(taken) < 0.0009


@pytest.mark.parametrize("most_files", [1024, 0])
def test_files_wake_it_before_its_time(monkeypatch: pytest.MonkeyPatch, most_files: int) -> None:
    """Also where its own file has too high a number for select(2)."""
    monkeypatch.setattr("node.precise_loop._MOST_FILES", most_files)
    came: list[bytes] = []

    async def wait() -> None:
        read, write = os.pipe()
        loop, done = asyncio.get_running_loop(), asyncio.Event()

        def take() -> None:
            came.append(os.read(read, 10))
            done.set()

        loop.add_reader(read, take)
        loop.call_later(0.01, os.write, write, b"news")
        async with asyncio.timeout(60):
            await done.wait()
        loop.remove_reader(read)
        os.close(read)
        os.close(write)

    run_precisely(wait())
    assert came == [b"news"]


def test_an_error_is_raised_as_asyncio_does() -> None:
    async def fail() -> None:
        raise ValueError("so it is")

    with pytest.raises(ValueError, match="so it is"):
        run_precisely(fail())
