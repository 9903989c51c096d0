"""What anybody can read during a run and after it: no number of the run, no secret, and every absurd value."""

import json
from pathlib import Path

import grpc

from contract.run_name import run_name
from node.link_stream import PUSH
from node.stream_proof import proof, shown
from orchestrator.control import NetworkRunState
from tests.orchestrator.backends.harness import forged, receipts
from tests.orchestrator.harness import summary_of
from tests.orchestrator.live.harness import Visited, long_run

NAMES = ["node-0", "node-1", "node-2"]
PAGES = ["/", "/api/live", "/api/graph", "/api/run", "/api/runs", "/sd/nodes"]


def forms(run: NetworkRunState) -> list[bytes]:
    """The number and the secret as somebody could write them."""
    number, secret = run.number, run.common.secret
    proofs = [proof(secret, member.address) for member in run.members.alive()]
    kept = [number.to_bytes(8, "little"), number.to_bytes(8, "big"), secret, *proofs]
    written = [str(number), f"{number:x}", f"{number:X}", *(each.hex() for each in kept)]
    return [*kept, *(each.encode() for each in written)]


async def public(visit: Visited) -> dict[str, bytes]:
    """Every public answer, by its address."""
    members, addresses = visit.world.control.members.alive(), [visit.url(page) for page in PAGES]
    addresses += [f"http://{member.metrics_address}/metrics" for member in members]
    addresses.append(f"http://{visit.world.control.metrics_address}/metrics")
    found = {}
    for address in addresses:
        async with visit.session.get(address) as answer:
            assert answer.status == 200, address
            found[address] = await answer.read()
    return found


async def test_nothing_public_and_nothing_in_the_folder_tells_the_number_or_the_secret(
    tmp_path: Path, visit: Visited
) -> None:
    async with visit.world.nodes(*NAMES):
        await visit.world.desk.submit(long_run(), Path())
        await visit.live_until(lambda live: live["run"] and live["run"].get("rate", 0) > 0)
        run = await visit.world.under_way()
        hidden, seen = forms(run), await public(visit)
        assert json.loads(seen[visit.url("/api/run")]) == {"run": run_name(run.number)}
        assert sum(run_name(run.number).encode() in text for text in seen.values()) == 3 + len(NAMES)
        visit.world.desk.cancel(0)
        await visit.world.desk.ending()
        seen |= {f"after: {address}": text for address, text in (await public(visit)).items()}
    files = [path for path in (tmp_path / "runs").rglob("*") if path.is_file()] + [tmp_path / "nodes.log"]
    assert len(files) > 5
    seen |= {str(path): path.read_bytes() for path in files}
    told = [where for where, text in seen.items() for form in hidden if form in text]
    assert told == []


async def test_huge_finite_values_of_a_member_are_counted_and_shown(tmp_path: Path, visit: Visited) -> None:
    async with visit.world.nodes(*NAMES):
        broadcast = await visit.world.desk.submit(long_run(), Path())
        await visit.live_until(lambda live: live["phase"] == "running" and live["run"].get("median", 0) > 3)
        run = await visit.world.under_way()
        receiver = run.indices.member(1)
        assert receiver is not None
        async with grpc.aio.insecure_channel(receiver.address) as channel:
            # long after this iteration: it waits in the mailbox, and harms nobody before the test is over
            lie = forged(run.setting, run.number, sender=2, receiver=1, value=1e100)
            told = await receipts(channel, PUSH, shown(run.common.secret, receiver.address), lie)
            assert [list(receipt.refused) for receipt in told] == [[]]
        live = await visit.live_until(lambda live: live["run"]["absurd"])
        assert live["run"]["absurd"] == 1
        async with visit.session.get(f"http://{receiver.metrics_address}/metrics") as answer:
            assert 'pame_link_absurd_messages_total{peer="2"} 1.0' in await answer.text()
        visit.world.desk.cancel(0)
        await visit.world.desk.ending()
    folder = tmp_path / "runs" / broadcast.folder
    summary = summary_of(folder)
    assert (summary["network"]["absurd"], summary["network"]["absurd_senders"]) == (1, [2])
    [warning] = [text for text in summary["warnings"] if "diverges or lies" in text]
    assert warning.startswith("1 messages carried values beyond ")
    assert "from nodes [2]" in warning
    page = (folder / "report.html").read_text()
    assert "with values beyond the problem" in page
    assert "diverges or lies" in page
