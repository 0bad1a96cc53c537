"""`igz-clusters verify`: a running cluster against the contract."""

import json
from dataclasses import replace

import typer

from workbench import stacks
from workbench.cli.access import access
from workbench.cli.console import PLAIN, errors, out
from workbench.cli.options import AsJson, Hermetic, StackName
from workbench.cli.status import status_of
from workbench.cli.verdicts import errors_are_no_verdict
from workbench.engine.clouds.find import cloud_of
from workbench.engine.pool_status import Condition, declared_groups
from workbench.report import pools
from workbench.report.terminal import print_rows
from workbench.stacks import Stack
from workbench.verification.contract import Contract
from workbench.verification.deviation import Outcome, Verification
from workbench.verification.snapshot import take
from workbench.verification.verify import verify as verify_cluster


@errors_are_no_verdict()
def verify(stack: StackName = "local", *, as_json: AsJson = False, hermetic: Hermetic = False) -> None:
    """Compare a running cluster with what its stack demands.

    Compares every object of the last `up`, and facts that no object shows: nodes, priority classes, storage, the
    autoscaler, GPUs, admission, networks, and the settings of MLRun and Nuclio as they run. It reads only, and no
    values of Secrets. Exit code 0: no deviations, 1: deviations, 3: the cluster could not be read; docs/verify.md
    lists the checks.
    """
    found = verification_of(stacks.find(stack), hermetic=hermetic)
    if as_json:
        out.print_json(json.dumps(found.as_json()))
    else:
        _show(found)
    raise typer.Exit(1 if found.deviations else 0)


def verification_of(stack: Stack, *, hermetic: bool) -> Verification:
    """Verify the cluster of a stack.

    Parameters
    ----------
    stack
        The stack.
    hermetic
        Use the pinned engine even if ``pulumi`` is on PATH.

    Raises
    ------
    UserError
        The cluster or the state cannot be read.
    """
    entered = access(stack, hermetic=hermetic)
    api = entered.required(stack)
    if cloud_of(stack.name, stack.config).hours:
        status = status_of(stack, hermetic=hermetic, entered=entered)
        if status.condition is Condition.ASLEEP:
            return Verification(stack.name, {}, (f"{status.note} Nothing was verified.",))
    contract = Contract(stack.name, stack.config, entered.deployment)
    with errors.status(f"reading the cluster of '{stack.name}'"):
        snapshot = take(api, contract.declared.values(), stack.config.namespaces)
    found = verify_cluster(replace(contract, mutates=snapshot.mutates), snapshot)
    if pools.differences(contract.recorded, declared_groups(stack.config)):
        note = f"`up` has not applied all changes of the stack file; `igz-clusters status {stack.name}` lists them."
        return replace(found, notes=(note,))
    return found


def _show(found: Verification) -> None:
    count = len(found.deviations)
    out.print(f"{found.stack}: {count or 'no'} deviation{'' if count == 1 else 's'}\n", style="bold", **PLAIN)
    rows = ((name, outcome.looked_at or "-", _result(outcome)) for name, outcome in found.outcomes.items())
    print_rows(("check", "looked at", "result"), rows, out)
    for name, each in found.deviations:
        lines = (f"{name}: {each.place}", f"  {each.problem}; expected {each.expected}", f"  {each.action}")
        out.print("\n" + "\n".join(lines), **PLAIN)
    for note in found.notes:
        out.print(f"\nnote: {note}", **PLAIN)


def _result(outcome: Outcome) -> str:
    if outcome.absent:
        return outcome.absent
    count = len(outcome.deviations)
    return f"{count} deviation{'' if count == 1 else 's'}" if count else "ok"
