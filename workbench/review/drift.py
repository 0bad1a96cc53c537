"""Compares a stack's state with its live resources, without changing either.

No policy packs are attached: a refresh does not run the program, so there is no plan to evaluate.
"""

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, Final

from workbench.engine import cloud
from workbench.engine.backend import CorruptStateError, StateFiles
from workbench.engine.cloud import cloud_session, require_nothing_pending
from workbench.engine.lock import held_by, held_elsewhere, names
from workbench.engine.recorded import Recorded, recorded_preview
from workbench.engine.session import Session, open_session
from workbench.existing import open_existing
from workbench.local import Instance
from workbench.recovery import state_findings
from workbench.recovery.silence import api_sleep
from workbench.report.events import noted
from workbench.stacks import Stack
from workbench.system.errors import UserError
from workbench.toolchain import Toolchain

FAIL_UNREACHABLE: Final = {"PULUMI_K8S_DELETE_UNREACHABLE": "false", "PULUMI_K8S_SKIP_UPDATE_UNREACHABLE": "false"}
"""Overrides user settings with which an unreachable cluster would look empty or unchanged."""

SKIP_UNREACHABLE: Final = {**FAIL_UNREACHABLE, "PULUMI_K8S_SKIP_UPDATE_UNREACHABLE": "true"}
"""Leaves the objects of an unreachable cluster out of a comparison.

Source: pulumi/pulumi-kubernetes, ``provider/pkg/provider/provider.go``.
"""


@dataclass(frozen=True)
class _Subject:
    """A stack that can be compared."""

    session: Session
    state: Callable[[], Any]
    """Reads the state, to detect changes during the comparison."""
    environment: Mapping[str, str] = field(default_factory=lambda: FAIL_UNREACHABLE)
    left_out: str = ""
    """What is not compared, and why."""


def tools_for(stack: Stack) -> tuple[str, ...] | None:
    """Return the programs that a comparison needs; None for all."""
    return None if stack.is_local else cloud.TOOLS


def compared(stack: Stack, toolchain: Toolchain) -> Recorded:
    """Return the engine's comparison of the stack with its live resources; its events say what it left out.

    Raises
    ------
    UserError
        The stack cannot be compared: it was never deployed, is being changed, needs recovery, or is not running.
    """
    subject = _local(stack, toolchain) if stack.is_local else _cloud(stack, toolchain)
    before = subject.state()
    session = replace(subject.session, environment={**subject.session.environment, **subject.environment})
    result = recorded_preview(session, "refresh")
    if subject.state() != before:
        raise UserError(f"The stack '{stack.name}' was changed during the comparison.", "Run the command again.")
    return replace(result, events=noted(result.events, subject.left_out)) if subject.left_out else result


def _local(stack: Stack, toolchain: Toolchain) -> _Subject:
    name, files = stack.name, StateFiles(stack.name)
    _refuse_while_changed(name)
    if found := state_findings(name):
        listed = " ".join(each.found for each in found)
        raise UserError(f"The stack '{name}' needs recovery: {listed}", _recover(name))
    if not files.deployment().get("resources"):
        raise UserError(f"The stack '{name}' is not deployed; there is nothing to compare.", _up(name))
    instance = Instance(name)
    if not instance.status().ready:
        raise UserError(f"The control plane '{name}' is not running.", _up(name))

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
            f"The stack '{name}' is being changed by {held.run}.",
            "Run the command again when it ends.",
        )
    if held.processes:
        raise UserError(
            f"{held.run} was killed, but its processes still change the stack '{name}': {names(held.processes)}.",
            _recover(name),
        )
    if elsewhere := held_elsewhere(name):
        raise elsewhere


def _cloud(stack: Stack, toolchain: Toolchain) -> _Subject:
    session = cloud_session(stack, toolchain)
    open_existing(stack, session.whole_environment())

    def deployment() -> Mapping[str, Any]:
        return require_nothing_pending(session).get("deployment") or {}

    # The manifest's time changes with every save; everything else may be re-encrypted by every export.
    subject = _Subject(session, lambda: deployment().get("manifest"))
    if sleep := api_sleep(stack, deployment):
        return replace(subject, environment=SKIP_UNREACHABLE, left_out=f"{sleep.note} Objects in it are not compared.")
    return subject


def _recover(name: str) -> str:
    return f"`igz-clusters recover {name}` repairs it."


def _up(name: str) -> str:
    return f"`igz-clusters up {name}` starts it."
