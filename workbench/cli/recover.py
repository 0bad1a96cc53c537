"""The command that mends what killed runs left."""

import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import Annotated

import typer

from workbench import stacks
from workbench.cli.console import out
from workbench.engine.lock import stack_lock
from workbench.errors import UserError
from workbench.recovery import Finding, leftovers, orphans, state_findings
from workbench.stacks import StackFileError

Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]


def recover(
    stack: Annotated[str, typer.Argument(help="Name of the stack.", metavar="STACK")] = "local", *, yes: Yes = False
) -> None:
    """Mend what a killed run left: processes, locks, half-done operations, a damaged state file.

    Says what it found and what it will do, and asks. Nothing is thrown away: a damaged file is kept under another
    name. Running it on a stack in order changes nothing. Afterwards, `up` brings the stack to what its file says.
    """
    if stack not in stacks.stack_files():
        stacks.find(stack)  # says which ones there are
    _refuse_clouds(stack)
    left = _mend(orphans(stack), yes=yes)
    with stack_lock(stack, "recover"):
        left += _mend(leftovers(), yes=yes)
        # Twice: what is pending can be read only from a state that is whole.
        for _ in range(2):
            stuck = _mend(state_findings(stack), yes=yes)
        left += stuck
    _say_the_end(stack, left)


def _refuse_clouds(stack: str) -> None:
    with suppress(StackFileError):  # whatever its file says now, what a killed run left on this machine can be mended
        if not stacks.find(stack).is_local:
            raise UserError(
                f"The state of '{stack}' is in your own backend; this command mends stacks on this machine.",
                "There, `pulumi cancel` drops a stale lock, and `igz-clusters up` refuses what must be looked at.",
            )


def refuse_unless_in_order(stack: str) -> None:
    """Refuse to change a stack on which a killed run left something; the caller holds the stack's lock.

    Raises
    ------
    UserError
        Lists everything that was found.
    """
    if found := state_findings(stack):
        listed = "\n".join(f"- {each.found}" for each in found)
        raise UserError(
            f"The stack '{stack}' is not as a finished run leaves it:\n{listed}",
            f"`igz-clusters recover {stack}` says what it will do about it, and does it.",
        )


def _mend(found: Sequence[Finding], *, yes: bool) -> int:
    """Show, ask, mend; return how many could not be mended."""
    if not found:
        return 0
    for finding in found:
        out.print(f"- {finding.found}", markup=False, highlight=False, soft_wrap=True)
        out.print(f"  {finding.remedy}", markup=False, highlight=False, soft_wrap=True, style="dim")
    mends = [finding.mend for finding in found if finding.mend]
    if mends and not yes:
        if not sys.stdin.isatty():
            raise UserError("Nothing was changed: there is nobody to ask.", "Run it again with --yes.")
        typer.confirm("Do that?", abort=True)
    for mend in mends:
        mend()
    return len(found) - len(mends)


def _say_the_end(stack: str, left: int) -> None:
    if left:
        raise UserError(f"{left} of these must be mended by hand.", "Do what is said there, then run this again.")
    out.print(
        f"The stack '{stack}' is in order; `igz-clusters up {stack}` brings it to what its file says.", soft_wrap=True
    )
