"""What stands between a change and what it would destroy: a look at its plan, and rows that approve it."""

import os
from collections.abc import Callable
from typing import Final

from components.contract.policy_guard import PolicyGuard
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

_UNTOUCHED: Final = "Nothing was changed."
_AGAIN: Final = "Try again, with --hermetic: that is the engine whose events this release knows."


def guard(
    session: Session,
    command: str,
    *options: str,
    judged: Callable[[Stream], None] | None = None,
    live_losses: Callable[[Stream], list[Changed]] | None = None,
) -> None:
    """Plan ``command`` and refuse it if it would destroy what nobody approved, as the stack's choices ask for.

    Parameters
    ----------
    session
        On the stack that is to be changed.
    command
        ``up`` or ``destroy``.
    options
        Of the engine, with which the change will be made.
    judged
        Examines the plan too, and raises ``UserError`` to refuse it. Default: none.
    live_losses
        Returns what the plan would end in the cluster, such as running pods. Default: none.

    Raises
    ------
    UserError
        It would, and the stack's ``policyGuard`` is ``required``; with the rows that would approve it.
    typer.Exit
        The engine cannot plan it; what it said is shown.
    """
    stack = session.stack
    is_off = stack.config.policy_guard is PolicyGuard.OFF
    if is_off and not judged:
        return
    rows = policy_overrides.read().approvals
    errors.print(f"Looking at what `{command}` would destroy.", **PLAIN)
    with errors.status("planning"):
        plan = recorded_preview(session, command, *options)
    stream = read(plan.events)
    lost = [each for each in changes_of(stream) if each.kind]
    if live_losses and not plan.code:
        lost += live_losses(stream)
    dangers = [Danger(change, kind, approval_of(change, stack.name, rows)) for change, kind in lost]
    for danger in dangers:
        errors.print(_line(danger), style="bold", **PLAIN)
        note = danger.approval or expired_approval_of(danger.change, stack.name, rows) or "nobody approved it"
        errors.print(f"    {note}", **PLAIN)
    if plan.code:
        if os.environ.get(VERBOSE_VARIABLE):
            errors.print(plan.display, end="", **PLAIN)
        else:
            summarise(stack, "preview", plan.code, stream, plan.display)
        leave(plan.code)
    if judged:
        judged(stream)
    if is_off:
        return
    _judge(session, [danger for danger in dangers if not danger.approval], stream.invalid_lines)


def _judge(session: Session, unapproved: list[Danger], invalid_lines: list[str]) -> None:
    name, guard = session.stack.name, session.stack.config.policy_guard
    if guard is PolicyGuard.WARN and (unapproved or invalid_lines):
        for damage in invalid_lines:
            errors.print(f"  What else would be lost cannot be told: {damage}.", **PLAIN)
        errors.print(f"policyGuard of '{name}' is 'warn': it goes on.", **PLAIN)
    elif invalid_lines:
        raise UserError(f"What '{name}' would lose cannot be told: {'; '.join(invalid_lines)}. {_UNTOUCHED}", _AGAIN)
    elif unapproved:
        way = f"If it is meant, add this to {policy_overrides.FILE} and have it reviewed:"
        raise UserError(
            f"'{name}' would lose what nobody approved. {_UNTOUCHED}", f"{way}\n{rows_for(unapproved, name)}"
        )


def _line(danger: Danger) -> str:
    change = danger.change
    lost = change.carries_state or "it"
    return f"  {change.operation} {danger.kind} {change.name} ({change.type}): {lost} would be lost"
