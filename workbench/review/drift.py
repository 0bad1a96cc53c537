"""A stack's state compared with what is live: the engine looks, and writes nothing.

No policy packs are attached: a refresh does not run the program, so there is no plan that rules could judge.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, Final

from workbench.engine import cloud
from workbench.engine.backend import CorruptStateError, StateFiles
from workbench.engine.cloud import cloud_session, require_nothing_pending
from workbench.engine.lock import held_by, names
from workbench.engine.recorded import Recorded, recorded_preview
from workbench.engine.session import Session, open_session
from workbench.existing import open_existing
from workbench.local import Instance
from workbench.recovery import state_findings
from workbench.stacks import Stack, stack_ownership
from workbench.system.errors import UserError
from workbench.toolchain import Toolchain

FAIL_UNREACHABLE: Final = {"PULUMI_K8S_DELETE_UNREACHABLE": "false", "PULUMI_K8S_SKIP_UPDATE_UNREACHABLE": "false"}
"""What a user may have set for another run: a cluster that does not answer would look empty, or unchanged."""


@dataclass(frozen=True)
class _Subject:
    """A stack that can be compared."""

    session: Session
    state: Callable[[], Any]
    """Reads the state, to see whether it stays the same."""


def tools_for(stack: Stack) -> tuple[str, ...] | None:
    """Return what a comparison needs of the toolchain; None for all of it."""
    return None if stack.is_local else cloud.TOOLS


def compared(stack: Stack, toolchain: Toolchain) -> Recorded:
    """Return what the engine said about the stack, compared with what is live.

    Raises
    ------
    UserError
        The stack cannot be compared now: it was never up, is being changed, was left half done, or does not run.
    """
    subject = _local(stack, toolchain) if stack.is_local else _cloud(stack, toolchain)
    before = subject.state()
    session = replace(subject.session, environment={**subject.session.environment, **FAIL_UNREACHABLE})
    result = recorded_preview(session, "refresh")
    if subject.state() != before:
        raise UserError(f"The stack '{stack.name}' was changed while it was compared.", "Run this again.")
    return result


def _local(stack: Stack, toolchain: Toolchain) -> _Subject:
    name, files = stack.name, StateFiles(stack.name)
    _refuse_while_changed(name)
    if found := state_findings(name):
        listed = " ".join(each.found for each in found)
        raise UserError(f"The stack '{name}' is not as a finished run leaves it: {listed}", _recover(name))
    if not files.deployment().get("resources"):
        raise UserError(f"The stack '{name}' is not up: there is nothing to compare.", _up(name))
    stack_ownership.claim(stack)
    instance = Instance(name)
    if not instance.status().ready:
        raise UserError(f"The control plane '{name}' is not running, so nobody can look at it.", _up(name))

    def state() -> Any:
        _refuse_while_changed(name)
        with suppress(CorruptStateError):
            return files.deployment()
        return None

    return _Subject(open_session(stack, toolchain, instance.kubeconfig), state)


def _refuse_while_changed(name: str) -> None:
    held = held_by(name)
    if held.is_running:
        raise UserError(
            f"The stack '{name}' is being changed by {held.run}: its state is in motion.",
            "Run this again when it ends.",
        )
    if held.processes:
        raise UserError(
            f"{held.run} was killed, and what it started still works on the stack '{name}': {names(held.processes)}.",
            _recover(name),
        )


def _cloud(stack: Stack, toolchain: Toolchain) -> _Subject:
    session = cloud_session(stack, toolchain)
    open_existing(stack, session.whole_environment())
    # Every save gives the manifest another time; of the rest, secrets may be encrypted anew by every export.
    return _Subject(session, lambda: (require_nothing_pending(session).get("deployment") or {}).get("manifest"))


def _recover(name: str) -> str:
    return f"`igz-clusters recover {name}` mends that."


def _up(name: str) -> str:
    return f"`igz-clusters up {name}` starts it."
