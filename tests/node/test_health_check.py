"""The small health client against real gRPC servers, and against whoever is none."""

import asyncio
import socket
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from threading import Thread

import pytest

from contract.ports.health_server import HealthServer, NoHealthPort
from node.health_check import is_serving, main


async def asked(port: int) -> bool:
    return await asyncio.to_thread(is_serving, "127.0.0.1", port)


async def test_it_says_what_the_server_says() -> None:
    vitals = HealthServer(0)
    await vitals.open()
    assert vitals.port
    assert not await asked(vitals.port)
    for serving in (True, False, True):
        await vitals.say(serving)
        assert await asked(vitals.port) == serving
    await vitals.close()


async def test_without_a_port_nothing_is_served() -> None:
    vitals = HealthServer(None)
    await vitals.open()
    await vitals.say(serving=True)
    await vitals.close()
    assert vitals.port is None


async def test_a_taken_port_is_one_clear_line() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other, pytest.raises(NoHealthPort, match="give another port"):
        await HealthServer(other.getsockname()[1]).open()


@pytest.mark.parametrize("answer", [b"", b"HTTP/1.1 400 Bad Request\r\n\r\n", b"\xff" * 100, bytes(9 * 200)])
def test_whoever_does_not_speak_http2_does_not_serve(answer: bytes) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:

        def reply() -> None:
            connection, _ = server.accept()
            with connection:
                connection.recv(4096)
                connection.sendall(answer)

        thread = Thread(target=reply, daemon=True)
        thread.start()
        with suppress(OSError):  # cut off is fine, too
            assert not is_serving("127.0.0.1", server.getsockname()[1])
        thread.join(10)


def test_the_command_has_exit_codes_and_needs_no_grpc() -> None:
    assert main(["nonsense"]) == 2
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    assert main([f"127.0.0.1:{port}"]) == 1
    program = "import sys, node.health_check; print([m for m in ('grpc', 'numpy', 'asyncio') if m in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, cwd=Path(__file__).parents[2], timeout=30
    )
    assert done.stdout.strip() == "[]"
