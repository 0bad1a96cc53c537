"""What the backends know about stacks: read by Pulumi's Automation API, for local stacks from files.

The Automation API runs the same program as we do, once for each query
(https://github.com/pulumi/pulumi/blob/v3.272.0/sdk/python/lib/pulumi/automation/_cmd.py).
"""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from workbench.engine.backend import CorruptStateError, StateFiles
from workbench.engine.cloud import TOOLS, bare_session
from workbench.engine.session import Session
from workbench.stacks import Stack
from workbench.system import temporary
from workbench.system.errors import UserError
from workbench.system.paths import PROJECT_ROOT
from workbench.toolchain import Toolchain

__all__ = ["TOOLS", "Known", "known"]


@dataclass(frozen=True)
class Known:
    """A stack in a backend.

    Parameters
    ----------
    name
        Its name, without organisation and project.
    updated
        When it was last updated; None if never.
    resources
        How many resources its state has; None if the backend does not say.
    is_changing
        Whether an update runs; None if the backend does not say.
    """

    name: str
    updated: datetime | None = None
    resources: int | None = None
    is_changing: bool | None = None


def known(found: Collection[Stack], toolchain: Toolchain | None) -> dict[str, Known]:
    """Return what the backends know: all stacks in the user's backend, and those local ones that have a state.

    Parameters
    ----------
    found
        The stacks.
    toolchain
        The engine. None if all stacks are local.

    Raises
    ------
    UserError
        The user's backend does not answer.
    """
    rows = dict[str, Known]()
    sessions = list[Session]()
    for stack in found:
        if stack.is_local:
            rows |= _local(stack.name)
        elif toolchain:
            sessions.append(bare_session(stack, toolchain))
    local = {each.name for each in found if each.is_local}
    asked = _asked(sessions[0]) if sessions else {}
    return rows | {name: each for name, each in asked.items() if name not in local}


def _local(name: str) -> dict[str, Known]:
    files = StateFiles(name)
    if not files.current.exists():
        return {}
    updated = datetime.fromtimestamp(files.current.stat().st_mtime, UTC)
    try:
        resources = len(files.deployment().get("resources") or ())
    except CorruptStateError:
        return {name: Known(name, updated)}
    return {name: Known(name, updated, resources)}


def _asked(session: Session) -> dict[str, Known]:
    # Imported here: it brings gRPC, and only this needs it.
    from pulumi.automation import CommandError, LocalWorkspace, PulumiCommand  # noqa: PLC0415

    with temporary.folder("automation") as (root, _):
        Path(root, "bin").symlink_to(session.pulumi.parent)  # where it looks for the program
        try:
            command = PulumiCommand(root=str(root))
            workspace = LocalWorkspace(
                work_dir=str(PROJECT_ROOT), env_vars=session.whole_environment(), pulumi_command=command
            )
            found = workspace.list_stacks()
        except CommandError as error:
            text = " ".join(str(error).partition("stderr:")[2].split())
            raise UserError(f"The backend does not list its stacks: {text}", "Run `pulumi login` once.") from None
    rows = (
        Known(each.name.rpartition("/")[2], _in_utc(each.last_update), each.resource_count, each.update_in_progress)
        for each in found
    )
    return {each.name: each for each in rows}


def _in_utc(moment: datetime | None) -> datetime | None:
    return moment.replace(tzinfo=UTC) if moment else None
