"""A stack in a cloud: backend, login and credentials are the user's own; program, packs and stack file are ours."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote

from components.contract.existing.config import ExistingConfig
from workbench.engine import pending
from workbench.engine.clouds.find import cloud_of
from workbench.engine.session import Session, policy_packs
from workbench.stacks import Stack
from workbench.stacks.policy_overrides import attached
from workbench.system.errors import UserError
from workbench.system.paths import PROJECT_ROOT
from workbench.toolchain import Toolchain, environment, status

TOOLS = ("pulumi",)
"""What it takes of the toolchain; the engine gets the clouds' plug-ins itself."""

_FILE: Final = "file://"
_PLUG_IN: Final = "pulumi-resource-kubernetes"


def cloud_session(stack: Stack, toolchain: Toolchain, lock: int | None = None) -> Session:
    """Return a session that leaves the user's backend, home, passphrase and credentials as they are.

    Parameters
    ----------
    stack, toolchain
        What is run, and with what.
    lock
        Descriptor of the stack's lock. Default: the session changes nothing.
    """
    packs = attached(stack.name, policy_packs())
    return Session(stack, toolchain.pulumi, {**_variables(stack, toolchain), **packs}, lock)


def bare_session(stack: Stack, toolchain: Toolchain, lock: int | None = None) -> Session:
    """Return the same session without policy packs, for runs that change nothing in the cloud."""
    return Session(stack, toolchain.pulumi, _variables(stack, toolchain), lock)


def _variables(stack: Stack, toolchain: Toolchain) -> dict[str, str]:
    found = variables(stack.name, stack.file, toolchain)
    if isinstance(stack.config.cluster, ExistingConfig):
        # Such a cluster is often where nothing can be downloaded. The engine takes plug-ins from PATH first.
        built = [row.path.parent for row in status() if row.built and row.name == _PLUG_IN]
        found["PATH"] = os.pathsep.join([*map(str, built), found["PATH"]])
    return found


def variables(stack: str, file: Path, toolchain: Toolchain) -> dict[str, str]:
    """Return what a run on a stack in the user's backend needs beside the user's own variables, no packs attached."""
    return {
        **environment(toolchain, local=False),
        "PULUMI_STACK": stack,
        "PULUMI_OPTION_CONFIG_FILE": str(file),
    }


def state_of(session: Session) -> dict[str, Any]:
    """Return a stack's state as the backend exports it.

    Raises
    ------
    UserError
        The backend does not give the stack.
    """
    name = session.stack.name
    try:
        exported: dict[str, Any] = session.query("stack", "export")
    except UserError as error:
        page = cloud_of(name, session.stack.config).page
        way = (
            f"`pulumi login` once, `pulumi stack init {name}` once a stack; {page} tells the steps. "
            f"Is its state damaged, `igz-clusters recover {name}` puts back the last whole copy."
        )
        raise UserError(error.message, way) from None
    return exported


def refuse_pending_operations(session: Session) -> dict[str, Any]:
    """Refuse a stack whose state says that a run is under way: the engine would only warn. Return the state.

    Raises
    ------
    UserError
        There are some, or the backend does not give the stack.
    """
    name, exported = session.stack.name, state_of(session)
    if under_way := pending.operations(exported.get("deployment") or {}):
        raise UserError(
            f"{in_the_middle(name, under_way)} An update now would make what is being made a second time.",
            f"{is_it_alive(name)} If none does, `igz-clusters recover {name}` looks what came of it and mends that.",
        )
    return exported


def in_the_middle(stack: str, operations: Sequence[str]) -> str:
    """Return what pending operations may mean: a state cannot tell a killed run from one on another machine."""
    return f"By its state, a run on '{stack}' is {', '.join(operations)}: it was killed, or still works elsewhere."


def is_it_alive(stack: str) -> str:
    """Return how one tells the two apart."""
    return (
        "Look first whether a run works elsewhere, such as a pipeline's, and if so wait for it: in Pulumi Cloud "
        f"`pulumi stack history --stack {stack}` shows it, in any other backend the locks below .pulumi/locks do."
    )


def file_backend(session: Session) -> Path | None:
    """Return the folder of the user's backend, None if it is none on this machine."""
    address = str(session.query("whoami", "--json").get("url") or "")
    if not address.startswith(_FILE):
        return None
    # The engine runs in our folder, so that is where a relative address begins.
    return PROJECT_ROOT / Path(unquote(address.removeprefix(_FILE).partition("?")[0])).expanduser()
