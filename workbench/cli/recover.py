"""The command that mends what killed runs left."""

import sys
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from typing import Annotated

import typer

from workbench import stacks
from workbench.cli.console import PLAIN, errors, out
from workbench.engine import cloud
from workbench.engine.lock import stack_lock
from workbench.existing import open_existing
from workbench.recovery import Finding, leftovers, orphans, state_findings
from workbench.stacks import Stack, StackFileError
from workbench.system.errors import UserError
from workbench.toolchain import ensure
from workbench.toolchain.console import progress

Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]
Hermetic = Annotated[bool, typer.Option("--hermetic", help="Use the pinned engine even if `pulumi` is on PATH.")]

_ROUNDS = 5
"""Looks at what the state does not know: what lies inside something is looked for when that is known."""


def recover(
    stack: Annotated[str, typer.Argument(help="Name of the stack.", metavar="STACK")] = "local",
    *,
    yes: Yes = False,
    hermetic: Hermetic = False,
) -> None:
    """Mend what a killed run left: processes, locks, half-done operations, a damaged state file.

    Says what it found and what it will do, and asks. Nothing is thrown away: a damaged file is kept under another
    name, and nothing in a cloud is changed or deleted. Running it on a stack in order changes nothing. Afterwards, `up`
    brings the stack to what its file says. In a cloud it uses your Pulumi login and credentials.
    """
    if stack not in stacks.stack_files():
        stacks.find(stack)  # says which ones there are
    if found := _in_a_cloud(stack):
        left = _recover_in_the_cloud(found, yes=yes, hermetic=hermetic)
    else:
        left = _recover_on_this_machine(stack, yes=yes)
    _say_the_end(stack, left)


def _recover_on_this_machine(stack: str, *, yes: bool) -> int:
    left = _mend(orphans(stack), yes=yes)
    with stack_lock(stack, "recover"):
        left += _mend(leftovers(), yes=yes)
        # Twice: what is pending can be read only from a state that is whole.
        for _ in range(2):
            stuck = _mend(state_findings(stack), yes=yes)
        return left + stuck


def _in_a_cloud(stack: str) -> Stack | None:
    with suppress(StackFileError):  # whatever its file says now, what a killed run left on this machine can be mended
        found = stacks.find(stack)
        return None if found.is_local else found
    return None


def _recover_in_the_cloud(stack: Stack, *, yes: bool, hermetic: bool) -> int:
    from workbench.recovery.cloud import CloudRecovery, open_account  # noqa: PLC0415 the cloud's SDK is for its stacks

    _mend(orphans(stack.name, stack.file), yes=yes)
    with stack_lock(stack.name, "recover", stack.file) as lock:
        with progress(errors) as report:
            toolchain = ensure(cloud.TOOLS, hermetic=hermetic, progress=report)
        session = cloud.bare_session(stack, toolchain, lock)
        open_existing(stack, session.whole_environment())  # a cluster that somebody else built must be the right one
        recovery = CloudRecovery(
            session, open_account(stack.name, stack.config.cluster), partial(errors.print, **PLAIN)
        )
        if left := _mend(recovery.files(), yes=yes):
            return left
        left = _mend(recovery.pending(), yes=yes)
        for _ in range(_ROUNDS):
            if not (found := recovery.unknown_to_the_state()):
                break
            left += _mend(found, yes=yes)
        return left + _mend(recovery.leftovers(), yes=yes)


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
