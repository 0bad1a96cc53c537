"""The guard before a change: plans it, and refuses to destroy protected resources without an approval."""

import os
from collections.abc import Callable, Sequence
from typing import Final

from components.contract.policy_guard import PolicyGuard
from policies.waivers import Approval
from workbench.cli.console import PLAIN, errors, leave
from workbench.cli.engine_run import VERBOSE_VARIABLE, summarise
from workbench.engine import Session
from workbench.engine.recorded import recorded_preview
from workbench.report.approvals import approval_of, expired_approval_of, rows_for
from workbench.report.changes import Changed, changes_of
from workbench.report.events import Stream, read
from workbench.report.model import Danger
from workbench.stacks import policy_overrides
from workbench.system.errors import UserError

_UNTOUCHED: Final = "Nothing changed."
_AGAIN: Final = "Try again with --hermetic: this release supports the event format of the pinned engine."


def guard(
    session: Session,
    command: str,
    *options: str,
    judged: Callable[[Stream], None] | None = None,
    live_losses: Sequence[Changed] = (),
) -> str:
    """Plan ``command`` and refuse it if it would destroy something without an approval, depending on ``policyGuard``.

    Parameters
    ----------
    session
        On the stack that is to be changed.
    command
        ``up`` or ``destroy``.
    options
        The engine's options for the change.
    judged
        Examines the plan too, and raises ``UserError`` to refuse it. Default: none.
    live_losses
        What the change would end in the cluster, such as running pods; announced even where the guard is off.
        Default: nothing.

    Returns
    -------
    str
        What the engine displayed; empty if the guard is off and nothing examines the plan.

    Raises
    ------
    UserError
        It would destroy something without an approval, and ``policyGuard`` is ``required``; with the rows to add.
    typer.Exit
        The engine cannot plan it; its output is shown.
    """
    stack = session.stack
    is_off = stack.config.policy_guard is PolicyGuard.OFF
    rows = session.inputs.overrides.approvals
    if is_off and not judged:
        _announce(stack.name, _dangers(stack.name, live_losses, rows), rows)
        return ""
    errors.print(f"Checking what `{command}` would destroy.", **PLAIN)
    with errors.status("planning"):
        plan = recorded_preview(session, command, *options)
    stream = read(plan.events)
    dangers = _dangers(stack.name, [*changes_of(stream), *live_losses], rows)
    _announce(stack.name, dangers, rows)
    if plan.code:
        if os.environ.get(VERBOSE_VARIABLE):
            errors.print(plan.display, end="", **PLAIN)
        else:
            summarise(session, "preview", plan.code, stream, plan.display)
        leave(plan.code)
    if judged:
        judged(stream)
    if not is_off:
        _judge(session, [danger for danger in dangers if not danger.approval], stream.invalid_lines)
    return plan.display


def refuse_losses(session: Session, plan: Stream, live_losses: Sequence[Changed] = ()) -> None:
    """Refuse an existing plan as ``guard`` does; parameters and ``UserError`` as there."""
    rows = session.inputs.overrides.approvals
    dangers = _dangers(session.stack.name, [*changes_of(plan), *live_losses], rows)
    _announce(session.stack.name, dangers, rows)
    _judge(session, [danger for danger in dangers if not danger.approval], plan.invalid_lines)


def _dangers(stack: str, changes: Sequence[Changed], rows: Sequence[Approval]) -> list[Danger]:
    return [Danger(change, kind, approval_of(change, stack, rows)) for change, kind in changes if kind]


def _announce(stack: str, dangers: Sequence[Danger], rows: Sequence[Approval]) -> None:
    for danger in dangers:
        errors.print(_line(danger), style="bold", **PLAIN)
        note = danger.approval or expired_approval_of(danger.change, stack, rows) or "not approved"
        errors.print(f"    {note}", **PLAIN)


def _judge(session: Session, unapproved: list[Danger], invalid_lines: list[str]) -> None:
    name, guard = session.stack.name, session.stack.config.policy_guard
    if guard is PolicyGuard.WARN and (unapproved or invalid_lines):
        for damage in invalid_lines:
            errors.print(f"  The plan is incomplete: {damage}.", **PLAIN)
        errors.print(f"policyGuard of '{name}' is 'warn': continuing.", **PLAIN)
    elif invalid_lines:
        raise UserError(f"The plan of '{name}' is incomplete: {'; '.join(invalid_lines)}. {_UNTOUCHED}", _AGAIN)
    elif unapproved:
        way = f"To approve the loss, add this to {policy_overrides.FILE} and have it reviewed:"
        raise UserError(
            f"'{name}' would lose protected resources without an approval. {_UNTOUCHED}",
            f"{way}\n{rows_for(unapproved, name)}",
        )


def _line(danger: Danger) -> str:
    change = danger.change
    lost = change.carries_state or "the resource"
    return f"  {change.operation} {danger.kind} {change.name} ({change.type}): {lost} would be lost"
