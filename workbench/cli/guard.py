"""What stands between a change and what it would destroy: a look at its plan, and rows that approve it."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any, Final

import typer

from components.contract.policy_guard import PolicyGuard
from workbench.cli.console import errors
from workbench.engine import INTERRUPTED, Session
from workbench.engine.recorded import recorded_preview
from workbench.errors import UserError
from workbench.policy import overrides
from workbench.policy.approvals import approval_of, expired_approval_of, rows_for
from workbench.report.dangers import carries_state, kind_of
from workbench.report.model import Change, Danger, Operation

_PLAIN: Final[dict[str, Any]] = {"soft_wrap": True, "markup": False, "highlight": False}


def guard(session: Session, command: str) -> None:
    """Plan ``command`` and refuse it if it would destroy what nobody approved, as the stack's choices ask for.

    Parameters
    ----------
    session
        On the stack that is to be changed.
    command
        ``up`` or ``destroy``.

    Raises
    ------
    UserError
        It would, and the stack's ``policyGuard`` is ``required``; with the rows that would approve it.
    typer.Exit
        The engine cannot plan it; what it said is shown.
    """
    stack = session.stack
    if stack.config.policy_guard is PolicyGuard.OFF:
        return
    rows = overrides.read().approvals
    errors.print(f"Looking at what `{command}` would destroy.", **_PLAIN)
    with errors.status("planning"):
        plan = recorded_preview(session, command)
    dangers = [replace(each, approval=approval_of(each.change, stack.name, rows)) for each in _dangers(plan.events)]
    for danger in dangers:
        errors.print(_line(danger), style="bold", **_PLAIN)
        note = danger.approval or expired_approval_of(danger.change, stack.name, rows) or "nobody approved it"
        errors.print(f"    {note}", **_PLAIN)
    if plan.code:
        errors.print(plan.display, end="", **_PLAIN)
        raise typer.Exit(INTERRUPTED if plan.code == INTERRUPTED else 1)
    _judge(session, [danger for danger in dangers if not danger.approval])


def _judge(session: Session, unapproved: list[Danger]) -> None:
    stack = session.stack
    if not unapproved:
        return
    if stack.config.policy_guard is PolicyGuard.WARN:
        errors.print(f"policyGuard of '{stack.name}' is 'warn': it goes on.", **_PLAIN)
        return
    raise UserError(
        f"'{stack.name}' would lose what nobody approved. Nothing was changed.",
        f"If it is meant, add this to {overrides.FILE} and have it reviewed:\n{rows_for(unapproved, stack.name).rstrip()}",
    )


def _line(danger: Danger) -> str:
    change = danger.change
    return f"  {change.operation} {danger.kind} {change.name} ({change.type}): {change.carries_state} would be lost"


_OPERATIONS: Final = {
    "delete": Operation.DELETE,
    "replace": Operation.REPLACE,
    "create-replacement": Operation.REPLACE,
    "delete-replaced": Operation.REPLACE,
}


def _dangers(events: bytes) -> Iterable[Danger]:
    found = {}
    for step in _steps(events):
        operation, old = _OPERATIONS.get(step["op"]), step.get("old") or {}
        name, inputs = step["urn"].split("::", 3)[3], old.get("inputs") or {}
        kind = kind_of(step["type"], name, inputs)
        if operation and kind:
            lost = carries_state(step["type"], inputs)
            found[step["urn"]] = Danger(Change(operation, step["urn"], step["type"], name, carries_state=lost), kind)
    return found.values()


def _steps(events: bytes) -> Iterator[dict[str, Any]]:
    for line in events.splitlines():
        if "resourcePreEvent" in (event := json.loads(line)):
            yield event["resourcePreEvent"]["metadata"]
