"""`pame nodes`: who has joined a served orchestrator."""

import json
from typing import Annotated, Any

import typer
from rich.markup import escape
from rich.table import Table

from contract.rpc import experiments_pb2 as pb
from orchestrator.cli.remote import DEFAULT_ADDRESS, On, Security, Token, client_of
from orchestrator.cli.tables import LINE_PER_ROW, print_table, table_of, wide_console
from orchestrator.number_words import count, duration


def nodes(
    on: On = DEFAULT_ADDRESS,
    token: Token = "",
    security: Security = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print a JSON list instead of a table.")] = False,
) -> None:
    """List the nodes that have joined an orchestrator."""
    with client_of(on, token, security) as client:
        found = client.nodes()
    if as_json:
        typer.echo(json.dumps([_plain(member) for member in found.members], indent=1))
        return
    console = wide_console(LINE_PER_ROW)
    if not found.members:
        start = f"PAME_TOKEN=... python -m node --orchestrator {on}"
        console.print(f"no node has joined yet: start some with `{escape(start)}`", soft_wrap=True)
        return
    print_table(_table(found.members), console)
    alive = sum(member.alive for member in found.members)
    doing = f"run {found.run} is under way" if found.run else "no run is under way"
    console.print(f"{count(alive, 'node')} alive; {doing}", soft_wrap=True)


def _table(members: Any) -> Table:
    headings = ("name", "index", "address", "alive", "iteration", "version", "joined")
    table = table_of(headings, right=("index", "iteration"))
    for member in members:
        table.add_row(
            escape(member.name),
            str(member.index) if member.HasField("index") else "–",
            escape(member.address),
            "[green]yes[/]" if member.alive else "[red]no[/]",
            str(member.iteration),
            escape(member.code_version),
            f"{duration(member.joined_seconds_ago)} ago",
        )
    return table


def _plain(member: pb.Member) -> dict[str, Any]:
    return {
        "name": member.name,
        "index": member.index if member.HasField("index") else None,
        "address": member.address,
        "metrics_address": member.metrics_address,
        "alive": member.alive,
        "iteration": member.iteration,
        "incarnation": member.incarnation,
        "version": member.code_version,
        "joined_seconds_ago": round(member.joined_seconds_ago, 3),
    }
