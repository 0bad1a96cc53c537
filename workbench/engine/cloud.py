"""A stack in a cloud: backend, login and credentials are the user's own; program, packs and stack file are ours."""

from pathlib import Path
from typing import Any

from workbench.engine import pending
from workbench.engine.session import Session, policy_packs
from workbench.errors import UserError
from workbench.policy.overrides import attached
from workbench.stacks import Stack
from workbench.toolchain import Toolchain, environment

TOOLS = ("pulumi",)
"""What it takes of the toolchain; the engine gets the clouds' plug-ins itself."""


def cloud_session(stack: Stack, toolchain: Toolchain) -> Session:
    """Return a session that leaves the user's backend, home, passphrase and credentials as they are."""
    packs = attached(stack.name, policy_packs())
    return Session(stack, toolchain.pulumi, {**variables(stack.name, stack.file, toolchain), **packs})


def variables(stack: str, file: Path, toolchain: Toolchain) -> dict[str, str]:
    """Return what a run on a stack in the user's backend needs beside the user's own variables, no packs attached."""
    return {
        **environment(toolchain, local=False),
        "PULUMI_STACK": stack,
        "PULUMI_OPTION_CONFIG_FILE": str(file),
    }


def refuse_pending_operations(session: Session) -> dict[str, Any]:
    """Refuse a stack that a killed run left with operations under way: the engine would only warn. Return its state.

    Raises
    ------
    UserError
        There are some, or the backend does not give the stack.
    """
    name = session.stack.name
    try:
        exported: dict[str, Any] = session.query("stack", "export")
    except UserError as error:
        way = f"`pulumi login` once, `pulumi stack init {name}` once a stack; docs/eks.md tells the steps."
        raise UserError(error.message, way) from None
    if under_way := pending.operations(exported.get("deployment") or {}):
        raise UserError(
            f"A run on '{name}' was killed while it was {', '.join(under_way)}.",
            "Look in the cloud whether these exist. What exists: `pulumi import` it. Then run "
            "`pulumi refresh --clear-pending-creates`, and this again. An update now would make them a second time.",
        )
    return exported
