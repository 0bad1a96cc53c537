"""`igz-clusters recover`: repair what killed runs left behind."""

from collections.abc import Sequence
from functools import partial
from typing import Annotated

import typer

from workbench import stacks
from workbench.cli.console import PLAIN, agree, errors, out
from workbench.cli.options import Hermetic, Yes
from workbench.engine import cloud
from workbench.engine.lock import stack_lock
from workbench.existing import open_existing
from workbench.recovery import Finding, leftovers, orphans, state_findings
from workbench.stacks import Stack, StackFileError
from workbench.system.errors import UserError
from workbench.toolchain import ensure
from workbench.toolchain.console import progress

_ONLY_HERE = "Until the file is valid, only processes, locks and files on this machine are repaired."
_ROUNDS = 5
"""Number of searches for resources that the state lacks: parts of a resource are found only after the resource."""


def recover(
    stack: Annotated[str, typer.Argument(help="Name of the stack.", metavar="STACK")] = "local",
    *,
    yes: Yes = False,
    force: Annotated[
        bool, typer.Option("--force", help="First end a run of the stack that hangs; lists its processes and asks.")
    ] = False,
    hermetic: Hermetic = False,
) -> None:
    """Repair what a killed run left behind.

    Handles processes, locks, pending operations and a damaged state file. Shows what it found and what it will do, then
    asks. It keeps a damaged file under another name, and changes or deletes nothing in a cloud. On a healthy stack it
    changes nothing. Afterwards, `up` applies the stack file. For a cloud it uses your Pulumi login and credentials.
    """
    if stack not in stacks.stack_files():
        stacks.find(stack)  # raises, with the list of stacks
    found = _read(stack)
    if isinstance(found, Stack) and not found.is_local:
        left = _recover_in_the_cloud(found, yes=yes, force=force, hermetic=hermetic)
    else:
        left = _recover_on_this_machine(stack, yes=yes, force=force)
    if isinstance(found, StackFileError):
        errors.print(f"note: {found}\n{_ONLY_HERE}", **PLAIN)
    _say_the_end(stack, left)


def _recover_on_this_machine(stack: str, *, yes: bool, force: bool) -> int:
    left = _mend(orphans(stack, force=force), yes=yes)
    with stack_lock(stack, "recover"):
        left += _mend(leftovers(), yes=yes)
        # Twice: pending operations can be read only once the state file is intact.
        for _ in range(2):
            stuck = _mend(state_findings(stack), yes=yes)
        return left + stuck


def _read(stack: str) -> Stack | StackFileError:
    try:
        return stacks.find(stack)
    except StackFileError as error:  # a broken stack file must not keep this machine from being repaired
        return error


def _recover_in_the_cloud(stack: Stack, *, yes: bool, force: bool, hermetic: bool) -> int:
    from workbench.recovery.cloud import CloudRecovery, open_account  # noqa: PLC0415 the cloud's SDK is for its stacks

    _mend(orphans(stack.name, stack.file, force=force), yes=yes)
    with stack_lock(stack.name, "recover", stack.file) as lock:
        with progress(errors) as report:
            toolchain = ensure(cloud.TOOLS, hermetic=hermetic, progress=report)
        session = cloud.bare_session(stack, toolchain, lock)
        open_existing(stack, session.whole_environment())  # refuses the wrong cluster
        recovery = CloudRecovery(
            session, open_account(stack.name, stack.config.cluster), partial(errors.print, **PLAIN)
        )
        if left := _mend(recovery.files(), yes=yes):
            return left
        left = _mend(recovery.pending(), yes=yes)
        for _ in range(_ROUNDS):
            if not (found := recovery.missing_from_state()):
                break
            left += _mend(found, yes=yes)
        return left + _mend(recovery.leftovers(), yes=yes)


def refuse_unless_in_order(stack: str) -> None:
    """Refuse to change a stack that a killed run left damaged; the caller holds the stack's lock.

    Raises
    ------
    UserError
        The stack is damaged; the message lists everything that was found.
    """
    if found := state_findings(stack):
        listed = "\n".join(f"- {each.found}" for each in found)
        raise UserError(
            f"A killed run left the stack '{stack}' damaged:\n{listed}",
            f"`igz-clusters recover {stack}` shows the repair and asks before it starts.",
        )


def _mend(found: Sequence[Finding], *, yes: bool) -> int:
    """Show findings, ask, repair them; return how many need repair by hand."""
    if not found:
        return 0
    for finding in found:
        out.print(f"- {finding.found}", markup=False, highlight=False, soft_wrap=True)
        out.print(f"  {finding.remedy}", markup=False, highlight=False, soft_wrap=True, style="dim")
    repairs = [finding.repair for finding in found if finding.repair]
    if repairs and not yes:
        agree("Do that?")
    for repair in repairs:
        repair()
    return len(found) - len(repairs)


def _say_the_end(stack: str, left: int) -> None:
    if left:
        raise UserError(
            f"{left} of these must be repaired by hand.", "Follow the instructions above, then run this again."
        )
    out.print(f"The stack '{stack}' is in order; `igz-clusters up {stack}` applies its stack file.", soft_wrap=True)
