"""`igz-clusters backup`: the backups of a cluster, and how to restore one."""

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from importlib.metadata import version
from typing import Annotated, Any, Final

import typer

from components.contract.backup import Backup
from workbench import stacks
from workbench.cli.access import access
from workbench.cli.console import PLAIN, errors, out
from workbench.cli.options import AsJson, Hermetic, StackName
from workbench.cli.verdicts import errors_are_no_verdict
from workbench.recovery.cloud import Account, open_account
from workbench.recovery.cloud.recovery_point import RecoveryPoint
from workbench.report.events import STACK_TYPE
from workbench.stacks import Stack
from workbench.system.errors import UserError
from workbench.system.paths import APP

app = typer.Typer(help="List the backups and restores of a cluster; print how to restore one.", no_args_is_help=True)

LATE: Final = 2
"""Intervals after which the newest complete backup is too old: one was missed."""

PARTIAL: Final = "PARTIAL"
"""State of a backup that lacks volumes, in every cloud."""


@app.command("list")
@errors_are_no_verdict()
def list_(stack: StackName, *, as_json: AsJson = False) -> None:
    """List the backups and restores of a cluster, newest first.

    Queries the cloud, with the credentials of `igz-clusters up`, and changes nothing. Includes backups of an earlier
    cluster of the same stack and name. Exit code 0: the newest complete backup is younger than two intervals; 1: it is
    not, there is none, the cloud has stopped making them, or the stack file asks for none; 3: the cloud could not be
    asked.
    """
    found = stacks.find(stack)
    account = _account(found)
    points, unprotected, jobs = account.recovery_points(), account.backup_problem(), account.restore_jobs()
    now = datetime.now(UTC)
    problem = unprotected or _problem(points, getattr(found.config.cluster, "backup", None), now)
    if as_json:
        about = {"stack": stack, "stackDigest": found.digest, "release": version(APP), "made": now.isoformat()}
        listed = {"backups": [each.as_json() for each in points], "restores": [each.as_json() for each in jobs]}
        out.print_json(json.dumps({**about, "problem": problem, **listed}))
    else:
        for each in points:
            out.print("\n".join((str(each), f"  {each.id}", *(f"  {v.of}: {v.id}" for v in each.volumes))), **PLAIN)
        for job in jobs:
            out.print(f"{job}\n  {job.id}", **PLAIN)
    if problem:
        errors.print(problem, **PLAIN)
    raise typer.Exit(1 if problem else 0)


@app.command()
def restore(
    stack: StackName,
    point: Annotated[str, typer.Argument(help="Id of a backup, as `backup list` shows it.", metavar="BACKUP")],
    *,
    namespaces: Annotated[
        list[str] | None,
        typer.Option("--namespace", help="A namespace to restore; on EKS up to 5. Default: all.", metavar="NAME"),
    ] = None,
    zone: Annotated[
        str,
        typer.Option(
            help="Letter of the zone for a volume. Default: that of the old one, if that exists.", metavar="LETTER"
        ),
    ] = "",
    hermetic: Hermetic = False,
) -> None:
    """Print the command that restores a backup, whole or in part.

    For a cluster, some of its namespaces, a volume or a file system. Starts nothing: docs/backup.md says what to do
    before and after. What exists is never overwritten.
    """
    found = stacks.find(stack)
    account = _account(found)
    points = account.recovery_points()
    known = {each.id: each for outer in points for each in (outer, *outer.volumes)}
    chosen = known.get(point)
    if chosen is None:
        raise UserError(
            f"'{stack}' has no backup {point}.",
            f"`igz-clusters backup list {stack}` lists the {len(known)} existing ones.",
        )
    wanted = namespaces or []
    _require_sense(found, chosen, wanted, zone, account)
    if not chosen.is_whole:
        errors.print(f"note: the backup is {chosen.state}: it lacks volumes or objects.", **PLAIN)
    role = _recorded_role(found, hermetic=hermetic) if account.restores_by_role else ""
    out.print(account.restore_command(chosen, role, namespaces=wanted, zone=zone), **PLAIN)


def _account(stack: Stack) -> Account:
    cluster = stack.config.cluster
    if "backup" not in type(cluster).model_fields:
        raise UserError(
            f"'{stack.name}' is a cluster of kind '{cluster.kind}', of which this package makes no backups.",
            "docs/backup.md lists the kinds with backups.",
        )
    return open_account(stack.name, cluster)


def _problem(points: Sequence[RecoveryPoint], choices: Backup | None, now: datetime) -> str:
    """Return why the cluster is not backed up as the stack file says; empty if it is."""
    if not choices:
        return "The stack file asks for no backups: add `backup: {}` to its cluster (docs/backup.md)."
    hours = ", ".join(f"{hour:02}:00" for hour in choices.hours)
    newest = next((each for each in points if each.is_whole), None)
    if newest is None:
        return f"There is no complete backup yet; they begin at {hours} UTC."
    if now - newest.made > timedelta(hours=LATE * choices.every.hours):
        return f"The newest complete backup is of {newest.made:%Y-%m-%d %H:%M} UTC, but they begin at {hours} UTC."
    return ""


def _require_sense(stack: Stack, point: RecoveryPoint, namespaces: Sequence[str], zone: str, account: Account) -> None:
    """Refuse options and backups that the cloud would refuse; all at once."""
    most = account.namespaces_max
    is_volume = point.of != getattr(stack.config.cluster, "name", "")
    zones = getattr(stack.config.cluster, "zones", ())
    wrong = []
    if not (point.is_whole or (account.restores_partial and point.state == PARTIAL)):
        wrong.append(f"the backup is {point.state}; only a COMPLETED one can be restored")
    if namespaces and is_volume:
        wrong.append("--namespace: is for the backup of a cluster; a volume is in no namespace")
    if len(set(namespaces)) < len(namespaces):
        wrong.append("--namespace: names a namespace twice")
    if len(namespaces) > most:
        wrong.append(f"--namespace: given {len(namespaces)}, at most {most} are allowed in one restore")
    if zone and not is_volume:
        wrong.append("--zone: is for a volume; the volumes of a cluster are restored in their former zones")
    elif zone and zone not in zones:
        wrong.append(f"--zone: '{zone}' is not a zone of the cluster; allowed: {', '.join(zones)}")
    if wrong:
        raise UserError("\n".join(wrong))


def _recorded_role(stack: Stack, *, hermetic: bool) -> str:
    """Return the role for restores, as the last `up` recorded it."""
    for each in access(stack, hermetic=hermetic).deployment.get("resources") or ():
        if each["type"] == STACK_TYPE:
            cluster: Mapping[str, Any] = (each.get("outputs") or {}).get("cluster") or {}
            if role := (cluster.get("backup") or {}).get("restoreRoleArn"):
                return str(role)
    raise UserError(
        f"The state of '{stack.name}' records no role for restores.",
        f"Add `backup` to the cluster of its stack file, and run `igz-clusters up {stack.name}`.",
    )
