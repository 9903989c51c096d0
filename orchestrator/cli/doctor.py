"""`pame doctor`: what works on this machine, what is missing, and the fix."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Annotated

import typer
from rich.markup import escape

from orchestrator.cli.exit_codes import ExitCode
from orchestrator.cli.machine_check import DoctorFinding, MachineFacts, backends, judge, look
from orchestrator.cli.tables import print_table, table_of, wide_console


def doctor(
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
    strict: Annotated[bool, typer.Option("--strict", help="Exit with 1 if anything is missing.")] = False,
) -> None:
    """Say what works on this machine, what is missing, and how to get it."""
    facts = look()
    findings = judge(facts)
    if as_json:
        typer.echo(json.dumps(_plain(facts, findings), indent=1))
    else:
        _show(facts, findings)
    if strict and any(not finding.works and not finding.optional for finding in findings):
        raise typer.Exit(ExitCode.FAULT)


def _plain(facts: MachineFacts, findings: Sequence[DoctorFinding]) -> dict[str, object]:
    return {
        "distribution": facts.distribution.name,
        "kernel": facts.release,
        "backends": {name: {"works": not lacks, "missing": lacks} for name, lacks in backends(findings).items()},
        "findings": [asdict(finding) for finding in findings],
    }


def _show(facts: MachineFacts, findings: Sequence[DoctorFinding]) -> None:
    console = wide_console()
    console.print(f"[bold]{escape(facts.distribution.name)}[/], Linux {escape(facts.release)}", soft_wrap=True)
    table = table_of(("", "what", "found", "needed for"), wraps=("found", "needed for"))
    for finding in findings:
        needed_for = finding.needed_for + (" (optional)" if finding.optional else "")
        table.add_row(_mark(finding), *map(escape, (finding.name, finding.found, needed_for)))
    print_table(table, console)
    if any(finding.fix for finding in findings):
        console.print("\n[bold]what would mend it[/]")
    for finding in findings:
        if finding.fix:
            console.print(f"[cyan]{escape(finding.name)}:[/] {escape(finding.fix)}", soft_wrap=True)
    console.print("\n[bold]backends[/]")
    for backend, lacks in backends(findings).items():
        words = f"[yellow]lacks {escape(', '.join(lacks))}[/]" if lacks else "[green]runs here[/]"
        console.print(f"{backend}: {words}", soft_wrap=True)


def _mark(finding: DoctorFinding) -> str:
    if finding.works:
        return "[green]works[/]"
    return "[dim]missing[/]" if finding.optional else "[yellow]missing[/]"
