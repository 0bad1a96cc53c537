"""A stack in a cloud: backend, login and credentials are the user's own; program, packs and stack file are ours."""

import os
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote

from components.contract.existing.choices import ExistingChoices
from workbench.engine import pending
from workbench.engine.session import Session, policy_packs
from workbench.errors import UserError
from workbench.paths import PROJECT_ROOT
from workbench.policy.overrides import attached
from workbench.stacks import Stack
from workbench.toolchain import Toolchain, environment, status

TOOLS = ("pulumi",)
"""What it takes of the toolchain; the engine gets the clouds' plug-ins itself."""

_FILE: Final = "file://"
_PLUG_IN: Final = "pulumi-resource-kubernetes"


def cloud_session(stack: Stack, toolchain: Toolchain) -> Session:
    """Return a session that leaves the user's backend, home, passphrase and credentials as they are."""
    packs = attached(stack.name, policy_packs())
    return Session(stack, toolchain.pulumi, {**_variables(stack, toolchain), **packs})


def bare_session(stack: Stack, toolchain: Toolchain) -> Session:
    """Return the same session without policy packs, for runs that change nothing."""
    return Session(stack, toolchain.pulumi, _variables(stack, toolchain))


def _variables(stack: Stack, toolchain: Toolchain) -> dict[str, str]:
    found = variables(stack.name, stack.file, toolchain)
    if isinstance(stack.config.cluster, ExistingChoices):
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
        way = f"`pulumi login` once, `pulumi stack init {name}` once a stack; docs/{_page(session)} tells the steps."
        raise UserError(error.message, way) from None
    return exported


def _page(session: Session) -> str:
    return "existing.md" if isinstance(session.stack.config.cluster, ExistingChoices) else "eks.md"


def refuse_pending_operations(session: Session) -> dict[str, Any]:
    """Refuse a stack that a killed run left with operations under way: the engine would only warn. Return its state.

    Raises
    ------
    UserError
        There are some, or the backend does not give the stack.
    """
    name, exported = session.stack.name, state_of(session)
    if under_way := pending.operations(exported.get("deployment") or {}):
        raise UserError(
            f"A run on '{name}' was killed while it was {', '.join(under_way)}.",
            f"`igz-clusters recover {name}` looks what came of it and mends the state. An update now would make what "
            "was being made a second time.",
        )
    return exported


def file_backend(session: Session) -> Path | None:
    """Return the folder of the user's backend, None if it is none on this machine."""
    address = str(session.query("whoami", "--json").get("url") or "")
    if not address.startswith(_FILE):
        return None
    # The engine runs in our folder, so that is where a relative address begins.
    return PROJECT_ROOT / Path(unquote(address.removeprefix(_FILE).partition("?")[0])).expanduser()
