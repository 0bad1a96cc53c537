"""`igz-clusters doctor`: check that this machine is ready."""

import shutil
import sys
from collections.abc import Callable
from importlib.metadata import version

import typer
from rich.table import Table

from workbench.cli.console import out
from workbench.local import Instance, instances
from workbench.system.errors import UserError
from workbench.system.installation import is_from_wheel
from workbench.system.paths import APP, PROJECT_ROOT, cache_dir, data_dir
from workbench.toolchain import check_prerequisites, status


def doctor() -> None:
    """Check that this machine has everything the package needs.

    Exit code 1 if something is missing.
    """
    table = Table()
    for heading in ("check", "result", "detail"):
        table.add_column(heading, overflow="fold")
    healthy = True
    for name, check in CHECKS.items():
        try:
            detail = check()
        except UserError as error:
            healthy = False
            table.add_row(name, "[bold red]missing", str(error))
        else:
            table.add_row(name, "[green]ok", detail)
    out.print(table)
    raise typer.Exit(0 if healthy else 1)


def _package() -> str:
    return f"{version(APP)}, {'a wheel' if is_from_wheel() else 'a checkout'}: {PROJECT_ROOT}"


def _python() -> str:
    return f"{sys.version.split()[0]}"


def _tools() -> str:
    rows = status()
    missing = [row.name for row in rows if not row.built]
    if missing:
        check_prerequisites()
        return f"{len(missing)} of {len(rows)} not built yet: run `igz-clusters toolchain build`"
    return f"all {len(rows)} built"


def _disk() -> str:
    free = {folder: shutil.disk_usage(folder).free / 1e9 for folder in (cache_dir(), data_dir())}
    return ", ".join(f"{folder}: {gigabytes:.0f} GB free" for folder, gigabytes in free.items())


def _control_planes() -> str:
    states = [f"{name} ({'running' if Instance(name).status().running else 'stopped'})" for name in instances()]
    return ", ".join(states) or "none"


CHECKS: dict[str, Callable[[], str]] = {
    "igz-clusters": _package,
    "Python": _python,
    "toolchain": _tools,
    "disk": _disk,
    "local control planes": _control_planes,
}
