"""Stacks in a cloud: the user's own backend, login and credentials; our program, packs and stack file."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote

from components.contract.existing.config import ExistingConfig
from workbench.engine import pending
from workbench.engine.clouds.find import cloud_of
from workbench.engine.inputs import CONFIG_FILE, Inputs
from workbench.engine.session import Session, policy_packs
from workbench.stacks import Stack, policy_overrides
from workbench.system.errors import UserError
from workbench.system.installation import is_from_wheel
from workbench.system.paths import PROJECT_ROOT
from workbench.toolchain import Toolchain, environment, status

TOOLS = ("pulumi",)
"""Programs needed from the toolchain; the engine downloads the clouds' plug-ins itself."""

_FILE: Final = "file://"
_PLUG_IN: Final = "pulumi-resource-kubernetes"


def cloud_session(stack: Stack, toolchain: Toolchain, lock: int | None = None) -> Session:
    """Return a session that leaves the user's backend, home, passphrase and credentials as they are.

    Parameters
    ----------
    stack, toolchain
        The stack and the programs.
    lock
        Descriptor of the stack's lock. Default: None, for a session that changes nothing.
    """
    inputs = Inputs(stack.document, policy_packs(), policy_overrides.read())
    return Session(stack, toolchain.pulumi, _variables(stack, toolchain), lock, inputs)


def bare_session(stack: Stack, toolchain: Toolchain, lock: int | None = None) -> Session:
    """Return the same session without policy packs, for runs that change nothing in the cloud."""
    return Session(stack, toolchain.pulumi, _variables(stack, toolchain), lock)


def _variables(stack: Stack, toolchain: Toolchain) -> dict[str, str]:
    environment = variables(stack.name, stack.file, toolchain)
    if isinstance(stack.config.cluster, ExistingConfig):
        # Such clusters are often in networks without downloads. The engine takes plug-ins from PATH first.
        built = [row.path.parent for row in status() if row.built and row.name == _PLUG_IN]
        environment["PATH"] = os.pathsep.join([*map(str, built), environment["PATH"]])
    return environment


def variables(stack: str, file: Path, toolchain: Toolchain) -> dict[str, str]:
    """Return the variables for a run in the user's backend, added to the user's own; no packs attached.

    Raises
    ------
    UserError
        The backend would be a folder of the installed package.
    """
    url = os.environ.get("PULUMI_BACKEND_URL", "")
    # Only these are absolute: massageBlobPath, https://github.com/pulumi/pulumi/blob/v3.259.0/pkg/backend/diy/backend.go.
    if is_from_wheel() and url.startswith(_FILE) and not (path := url.removeprefix(_FILE)).startswith(("/", "~")):
        raise UserError(
            f"PULUMI_BACKEND_URL is {url}. The engine runs in the folder of the installed package, so the state would "
            f"be in {PROJECT_ROOT / path}, and lost with the environment.",
            f"Name the whole path, such as {_FILE}{Path.cwd() / path}.",
        )
    return {
        **environment(toolchain, local=False),
        "PULUMI_STACK": stack,
        CONFIG_FILE: str(file),
    }


def state_of(session: Session) -> dict[str, Any]:
    """Return a stack's state as the backend exports it.

    Raises
    ------
    UserError
        The backend does not return the stack.
    """
    name = session.stack.name
    try:
        exported: dict[str, Any] = session.query("stack", "export")
    except UserError as error:
        page = cloud_of(name, session.stack.config).page
        way = (
            f"Run `pulumi login` once, and `pulumi stack init {name}` once per stack ({page}). "
            f"If the state is damaged, `igz-clusters recover {name}` restores the last intact copy."
        )
        raise UserError(error.message, way) from None
    return exported


def deployment_of(session: Session) -> dict[str, Any]:
    """Return a stack's deployment, also one with pending operations; empty before the first `up`.

    Raises
    ------
    UserError
        The backend does not return the stack.
    """
    deployment: dict[str, Any] = state_of(session).get("deployment") or {}
    return deployment


def require_nothing_pending(session: Session) -> dict[str, Any]:
    """Return the state; fail if it contains pending operations, of which the engine would only warn.

    Raises
    ------
    UserError
        The state contains pending operations, or the backend does not return the stack.
    """
    name, exported = session.stack.name, state_of(session)
    if under_way := pending.operations(exported.get("deployment") or {}):
        raise UserError(
            f"{pending_run_message(name, under_way)} An update now could create the same resources twice.",
            f"{how_to_find_running(name)} If no run is active, `igz-clusters recover {name}` checks the outcome and "
            "repairs the state.",
        )
    return exported


def pending_run_message(stack: str, operations: Sequence[str]) -> str:
    """Return a message about pending operations: a killed run and an active one elsewhere leave the same state."""
    pending = ", ".join(operations)
    return f"The state of '{stack}' has pending operations: {pending}. That run was killed or is still active."


def how_to_find_running(stack: str) -> str:
    """Return how to check whether the run is still active."""
    return (
        "First check whether a run is active elsewhere, such as in a pipeline, and wait for it: Pulumi Cloud shows "
        f"it in `pulumi stack history --stack {stack}`, other backends by a lock in .pulumi/locks."
    )


def file_backend(session: Session) -> Path | None:
    """Return the folder of the user's file backend; None for any other backend."""
    address = str(session.query("whoami", "--json").get("url") or "")
    if not address.startswith(_FILE):
        return None
    # The engine runs in our folder, so a relative URL starts there.
    return PROJECT_ROOT / Path(unquote(address.removeprefix(_FILE).partition("?")[0])).expanduser()
