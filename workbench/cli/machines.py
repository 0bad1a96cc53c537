"""`igz-clusters machines`: the machine types that the pools' shapes select, and whether the stack file lists them."""

import json
from collections.abc import Mapping
from typing import Annotated, Any

import typer
from rich.table import Table

from workbench.cli.console import PLAIN, errors, out
from workbench.cli.machine_lists import MachineList, freeze, machine_lists
from workbench.cli.options import AsJson, StackName
from workbench.report.terminal import print_table
from workbench.system.errors import UserError

Write = Annotated[bool, typer.Option("--write", help="Write the selected types into the stack file.")]
Check = Annotated[bool, typer.Option("--check", help="Exit with 1 if the stack file lists other types.")]


def machines(
    stack: StackName,
    pool: Annotated[str, typer.Argument(help="Name of a pool. Default: all that have a shape.", metavar="POOL")] = "",
    *,
    write: Write = False,
    check: Check = False,
    as_json: AsJson = False,
) -> None:
    """List the machine types that the shapes of pools select.

    `pools.NAME.shape` says what a machine must have. The types come from the package's own facts; the list in
    `instanceTypes` decides, and stays as it is until --write replaces it. Prices are those of `igz-clusters prices`.
    Reads files only: no network, no credentials.
    """
    if write and check:
        raise UserError(
            "--write and --check cannot be combined.", "Use --check in pipelines, --write to change the file."
        )
    lists = machine_lists(stack, pool)
    if write:
        freeze(stack, lists)
    if as_json:
        out.print_json(json.dumps({"stack": stack, "pools": [_as_json(each) for each in lists]}))
    else:
        for each in lists:
            _print(each, is_written=write)
    differing = [each.pool for each in lists if not each.is_current]
    if differing and not write:
        names = ", ".join(differing)
        errors.print(f"{names}: `igz-clusters machines {stack} --write` writes the selected types", **PLAIN)
    raise typer.Exit(1 if check and differing else 0)


def _print(found: MachineList, *, is_written: bool) -> None:
    state = "written" if is_written and not found.is_current else "as listed" if found.is_current else "differs"
    out.print(f"{found.pool}: {state}", style="bold", **PLAIN)
    table = Table(box=None, header_style="bold", padding=(0, 2, 0, 0))
    for heading in ("", "machine type", "vCPUs", "memory GiB", "GPUs", "variants", "USD/h"):
        table.add_column(heading, justify="right" if heading in ("vCPUs", "memory GiB", "USD/h") else "left")
    for row in _rows(found):
        table.add_row(*map(str, row.values()))
    print_table(table, out)
    out.print()


def _rows(found: MachineList) -> list[dict[str, Any]]:
    """Return selected types, ``+`` if the stack file lacks them, then those that it lists besides them, with ``-``."""
    marks = {each: "" if each.name in found.listed else "+" for each in found.selected}
    marks |= dict.fromkeys(found.others, "-")
    return [
        {
            "mark": mark,
            "name": each.name,
            "vcpus": each.vcpus,
            "memoryGib": f"{each.memory_mib / 1024:g}",
            "gpus": f"{each.gpus} {each.gpu_model}" if each.gpus else "",
            "variants": " ".join(sorted(each.variants)),
            "usdPerHour": "unknown" if (usd := found.prices.get(each.name)) is None else f"{usd:.4f}",
        }
        for each, mark in marks.items()
    ]


def _as_json(found: MachineList) -> Mapping[str, Any]:
    return {
        "pool": found.pool,
        "listed": list(found.listed),
        "selected": [
            {
                "name": each.name,
                "vcpus": each.vcpus,
                "memoryMib": each.memory_mib,
                "architecture": each.architecture,
                "gpus": each.gpus,
                "gpuModel": each.gpu_model,
                "localNvmeGib": each.local_nvme_gib,
                "variants": sorted(each.variants),
                "usdPerHour": found.prices.get(each.name),
            }
            for each in found.selected
        ],
        "isCurrent": found.is_current,
    }
