"""`destroy` on a stack in a cloud: what its users made in the cluster goes first, and what is left is named."""

import os
import time
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from workbench import stacks
from workbench.cli.cloud_run import AS_REFRESHED, CloudRun, changing
from workbench.cli.console import PLAIN, agree, errors, leave
from workbench.cli.guard import guard
from workbench.engine import INTERRUPTED
from workbench.engine.cluster_components import cluster_of, components_of_state, kubeconfig_of
from workbench.engine.destroying import (
    ATTEMPTS,
    PATIENCE,
    PAUSE,
    PAUSES,
    UNREACHABLE,
    deletion_blockers,
    objects_of,
)
from workbench.engine.error_classification import is_expired, is_in_use
from workbench.engine.in_cluster import ClusterContents, ClusterObject, Kubectl
from workbench.engine.kubectl import kubectl
from workbench.existing import Existing
from workbench.system.errors import UserError
from workbench.system.files import write_private

CLAIMS_OPTION = "--delete-claims"


def destroy(stack: stacks.Stack, *, hermetic: bool, yes: bool, delete_claims: bool, events: Path | None) -> None:
    """Delete everything that a stack made, in an order that the cloud accepts, and list what is left.

    Parameters
    ----------
    delete_claims
        Whether claims that users made go too, with all data on their volumes.

    Raises
    ------
    UserError
        Something keeps the stack from being destroyed; with all of it and the steps.
    typer.Exit
        The engine failed or was stopped; what is to be said about it is said.
    """
    with changing(stack, "destroy", hermetic=hermetic, events=events) as run:
        state = run.state()
        if state.get("resources"):
            state = run.refresh(state, fail_unreachable=False)
            _refuse_what_is_kept(run, state)  # first: the engine plans no destroy of what is protected
            guard(run.session, "destroy", *AS_REFRESHED)
            _empty(run, state, yes=yes, delete_claims=delete_claims)
            _refuse_lost_claims(run, state, delete_claims=delete_claims)
        code = _destroyed(run, ["--yes"] if yes else [])
        if run.existing:
            _give_back(run.existing, is_done=not code)
        else:
            _name_the_rest(run)
    if code:
        leave(code)


def _refuse_what_is_kept(run: CloudRun, state: dict[str, Any]) -> None:
    if found := deletion_blockers(state, run.stack.name):
        listed = "\n".join(map(str, found))
        raise UserError(f"'{run.stack.name}' is not destroyed as it is:\n{listed}", "Nothing was deleted.")


def _empty(run: CloudRun, state: dict[str, Any], *, yes: bool, delete_claims: bool) -> None:
    """Delete what users made in the cluster, where its end would leave the other half, or take data with it."""
    if not cluster_of(components_of_state(state)):
        return
    config = kubeconfig_of(state)
    if not config:
        errors.print("The stack never reached the cluster's API, so nobody looks into it.", **PLAIN)
        return
    with TemporaryDirectory(prefix="igz-clusters-kubeconfig-") as folder:
        file = Path(folder, "kubeconfig")
        write_private(file, config)
        access = Kubectl(kubectl(), file, run.session.whole_environment())
        try:
            found = access.contents(objects_of(state))
        except UserError as error:
            if os.environ.get(UNREACHABLE) != "true":
                raise UserError(f"{error.message} Nothing was deleted.", _lost(run)) from None
            errors.print(f"{error.message}\n{UNREACHABLE} is set: it is taken for lost.", **PLAIN)
            return
        _agree(found, yes=yes, delete_claims=delete_claims)
        access.delete((*found.load_balancers, *found.claims))
        _wait(access, found.to_delete)


def _refuse_lost_claims(run: CloudRun, state: dict[str, Any], *, delete_claims: bool) -> None:
    """Refuse to delete namespaces with claims that users made, in a cluster that stays."""
    if not run.existing or delete_claims:
        return
    ours = objects_of(state)
    to_delete = {name for kind, _, name in ours if kind == "namespace"}
    api = run.existing.api
    found = Kubectl(api.program, api.kubeconfig, api.environment, api.context).contents(ours).claims
    if lost := [claim for claim in found if claim.namespace in to_delete]:
        raise UserError(
            f"Claims in namespaces of this stack hold data that would be lost for ever:\n{_listed(lost)}\n"
            "Nothing was deleted.",
            f"Copy what is needed, then add {CLAIMS_OPTION}.",
        )


def _give_back(existing: Existing, *, is_done: bool) -> None:
    """Take our taints from the nodes, after the engine took our labels."""
    if is_done:
        for line in existing.drop_taints():
            errors.print(f"Changed {line}", **PLAIN)
        errors.print("Nodes, classes and namespaces of others are as they were before.", **PLAIN)


def _lost(run: CloudRun) -> str:
    return (
        "What is in it must go first, or its load balancers and volumes stay, or go with their data. Find a way to its "
        f"API: {run.cloud.ways_in}. If the cluster is lost for good, {UNREACHABLE}=true in front of this command "
        "destroys without looking; the end lists what is left."
    )


def _agree(found: ClusterContents, *, yes: bool, delete_claims: bool) -> None:
    """Name what users made, and go on only if they want it gone."""
    for volume in found.retained:
        errors.print(f"Stays, since its reclaim policy is Retain: volume {volume}.", **PLAIN)
    if found.claims and not delete_claims:
        raise UserError(
            f"Claims hold data that would be lost for ever:\n{_listed(found.claims)}\nNothing was deleted.",
            f"Copy what is needed, then add {CLAIMS_OPTION}. To keep a volume instead: `kubectl patch pv NAME -p "
            '\'{"spec":{"persistentVolumeReclaimPolicy":"Retain"}}\'`.',
        )
    if not (gone := (*found.load_balancers, *found.claims)):
        return
    errors.print(f"Users made these in the cluster; they are deleted first:\n{_listed(gone)}", **PLAIN)
    if yes:
        return
    agree("Delete them?", unchanged="nothing deleted")


def _listed(each: Sequence[ClusterObject]) -> str:
    return "\n".join(f"- {each}" for each in each)


def _wait(access: Kubectl, gone: Sequence[ClusterObject]) -> None:
    """Wait until the cluster's controllers have deleted in the cloud what these objects stood for."""
    deadline, told = time.monotonic() + PATIENCE, -1
    while gone:
        found = access.contents()
        left = [each for each in found.to_delete if each in gone]
        if not left:
            return
        if len(left) != told:
            told = len(left)
            errors.print(f"Waiting until their load balancers and volumes are gone: {told} left.", **PLAIN)
        if time.monotonic() > deadline:
            held = "\n".join(f"- {each}, held by {', '.join(each.finalizers) or 'nothing it names'}" for each in left)
            raise UserError(
                f"Not gone after {PATIENCE:.0f} s:\n{held}\nNothing else was deleted.",
                "A claim waits for the pods that use it: uninstall what runs there. A Service or an Ingress waits for "
                "its controller, a volume for its storage driver: `kubectl describe` says why. Then run this again.",
            )
        time.sleep(PAUSE)


def _destroyed(run: CloudRun, options: list[str]) -> int:
    """Let the engine delete; again, if the cloud still counts as used what was just deleted. Return its exit code."""
    for attempt in range(1, ATTEMPTS + 1):
        code, stream = run.engine("destroy", *options)
        if not code:
            return 0
        if code == INTERRUPTED:
            errors.print("Stopped. What was done is saved; the same command goes on from here.", style="bold", **PLAIN)
            return code
        if is_expired(stream.errors):
            raise UserError(f"The engine could not finish '{run.stack.name}'.", run.after_expiry)
        if not is_in_use(stream.errors) or attempt == ATTEMPTS:
            return code
        pause = PAUSES[attempt - 1]
        errors.print(
            f"{run.cloud.place} says that something is still used. Again in {pause:.0f} s, run {attempt + 1} of "
            f"{ATTEMPTS}.",
            **PLAIN,
        )
        time.sleep(pause)
        options = ["--yes", "--skip-preview"]  # the same plan, and somebody agreed to it
    raise AssertionError("the last attempt returns")


def _name_the_rest(run: CloudRun) -> None:
    """List what carries the stack's tags in its cloud."""
    name = run.stack.name
    try:
        left = run.left()
    except UserError as error:
        errors.print(f"What is left cannot be told: {error}", **PLAIN)
        return
    if left:
        listed = "\n".join(f"- {each}" for each in left)
        errors.print(f"Still there, by the tags of '{name}', each with how it goes:\n{listed}", **PLAIN)
    else:
        errors.print(f"Nothing carries the tags of '{name}' any more.", **PLAIN)
