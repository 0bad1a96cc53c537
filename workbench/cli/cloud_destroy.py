"""`destroy` for a stack in a cloud: deletes what users created in the cluster first, and lists what is left."""

import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from workbench import stacks
from workbench.cli.cloud_run import AS_REFRESHED, CloudRun, changing
from workbench.cli.console import PLAIN, agree, errors, leave
from workbench.cli.guard import guard
from workbench.engine import INTERRUPTED
from workbench.engine.cluster_components import cluster_of, components_of_state
from workbench.engine.destroying import (
    PATIENCE,
    PAUSE,
    UNREACHABLE,
    deletion_blockers,
    objects_of,
)
from workbench.engine.error_classification import is_expired
from workbench.engine.in_cluster import ClusterContents, ClusterObject, Kubectl, recorded_cluster
from workbench.engine.passing import STILL_IN_USE
from workbench.existing import Existing
from workbench.system.errors import UserError

CLAIMS_OPTION = "--delete-claims"


def destroy(stack: stacks.Stack, *, hermetic: bool, yes: bool, delete_claims: bool, events: Path | None) -> None:
    """Delete everything that a stack created, in an order that the cloud accepts, and list what is left.

    Parameters
    ----------
    delete_claims
        Whether to delete volume claims of users too, with all data on their volumes.

    Raises
    ------
    UserError
        Something blocks the deletion; lists everything that does, and the steps.
    typer.Exit
        The engine failed or was stopped, and its messages are printed.
    """
    with changing(stack, "destroy", hermetic=hermetic, events=events) as run:
        state = run.state()
        if state.get("resources"):
            state = run.refresh(state, fail_unreachable=False)
            _refuse_what_is_kept(run, state)  # first: the engine cannot plan the deletion of protected resources
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
    if found := [*deletion_blockers(state, run.stack.name), *run.foreign_resources(state)]:
        listed = "\n".join(map(str, found))
        raise UserError(f"'{run.stack.name}' cannot be destroyed yet:\n{listed}", "Nothing was deleted.")


def _empty(run: CloudRun, state: dict[str, Any], *, yes: bool, delete_claims: bool) -> None:
    """Delete what users created in the cluster and what would otherwise leave cloud resources behind or lose data."""
    if not cluster_of(components_of_state(state)):
        return
    with recorded_cluster(state, run.session.whole_environment()) as access:
        if not access:
            errors.print("The state records no kubeconfig: objects in the cluster are not checked.", **PLAIN)
            return
        try:
            found = access.contents(objects_of(state))
        except UserError as error:
            if os.environ.get(UNREACHABLE) != "true":
                raise UserError(f"{error.message} Nothing was deleted.", _lost(run)) from None
            errors.print(f"{error.message}\n{UNREACHABLE} is set: the cluster counts as lost.", **PLAIN)
            return
        _agree(found, yes=yes, delete_claims=delete_claims)
        access.delete((*found.load_balancers, *found.claims))
        _wait(access, found.to_delete)


def _refuse_lost_claims(run: CloudRun, state: dict[str, Any], *, delete_claims: bool) -> None:
    """Refuse to delete namespaces with volume claims of users in a cluster that stays."""
    if not run.existing or delete_claims:
        return
    ours = objects_of(state)
    to_delete = {name for kind, _, name in ours if kind == "namespace"}
    api = run.existing.api
    found = Kubectl(api.program, api.kubeconfig, api.environment, api.context).contents(ours).claims
    if lost := [claim for claim in found if claim.namespace in to_delete]:
        raise UserError(
            f"Volume claims in namespaces of this stack hold data that would be lost:\n{_listed(lost)}\n"
            "Nothing was deleted.",
            f"Back up the data you need, then add {CLAIMS_OPTION}.",
        )


def _give_back(existing: Existing, *, is_done: bool) -> None:
    """Remove our taints from the nodes, after the engine removed our labels."""
    if is_done:
        for line in existing.drop_taints():
            errors.print(f"Changed {line}", **PLAIN)
        errors.print("Nodes, classes and namespaces of other owners are unchanged.", **PLAIN)


def _lost(run: CloudRun) -> str:
    return (
        "Objects in the cluster must be deleted first, or load balancers and volumes are left behind, or data is lost. "
        f"Restore access to its API: {run.cloud.ways_in}. If the cluster is lost for good, set {UNREACHABLE}=true: the "
        "command then destroys without this check and lists what is left."
    )


def _agree(found: ClusterContents, *, yes: bool, delete_claims: bool) -> None:
    """List what users created, and return only if it may be deleted."""
    for volume in found.retained:
        errors.print(f"Keeping volume {volume}: its reclaim policy is Retain.", **PLAIN)
    if found.claims and not delete_claims:
        raise UserError(
            f"Volume claims hold data that would be lost:\n{_listed(found.claims)}\nNothing was deleted.",
            f"Back up the data you need, then add {CLAIMS_OPTION}. To keep a volume instead: `kubectl patch pv NAME -p "
            '\'{"spec":{"persistentVolumeReclaimPolicy":"Retain"}}\'`.',
        )
    if not (gone := (*found.load_balancers, *found.claims)):
        return
    errors.print(f"Users created these objects in the cluster; they are deleted first:\n{_listed(gone)}", **PLAIN)
    if yes:
        return
    agree("Delete them?", unchanged="nothing deleted")


def _listed(each: Sequence[ClusterObject]) -> str:
    return "\n".join(f"- {each}" for each in each)


def _wait(access: Kubectl, gone: Sequence[ClusterObject]) -> None:
    """Wait until the cluster's controllers have deleted the cloud resources of these objects."""
    deadline, shown = time.monotonic() + PATIENCE, -1
    while gone:
        found = access.contents()
        left = [each for each in found.to_delete if each in gone]
        if not left:
            return
        if len(left) != shown:
            shown = len(left)
            errors.print(f"Waiting for the deletion of load balancers and volumes: {shown} left.", **PLAIN)
        if time.monotonic() > deadline:
            held = "\n".join(f"- {each}, held by {', '.join(each.finalizers) or 'no finalizer'}" for each in left)
            raise UserError(
                f"Not deleted after {PATIENCE:.0f} s:\n{held}\nNothing else was deleted.",
                "A claim waits for the pods that use it: uninstall what runs there. A Service or an Ingress waits for "
                "its controller, a volume for its storage driver: see `kubectl describe`. Then run this again.",
            )
        time.sleep(PAUSE)


def _destroyed(run: CloudRun, options: list[str]) -> int:
    """Let the engine delete, and return its exit code."""
    code, stream = run.engine_again(STILL_IN_USE, "destroy", *options)
    if code == INTERRUPTED:
        errors.print("Stopped. Completed work is saved; the same command continues.", style="bold", **PLAIN)
    elif code and is_expired(stream.errors):
        raise UserError(f"The engine could not finish '{run.stack.name}'.", run.after_expiry)
    return code


def _name_the_rest(run: CloudRun) -> None:
    """List everything in the cloud that still has the stack's tags."""
    name = run.stack.name
    try:
        left = run.left()
    except UserError as error:
        errors.print(f"Cannot check what is left: {error}", **PLAIN)
        return
    if left:
        listed = "\n".join(f"- {each}" for each in left)
        errors.print(f"Resources left with the tags of '{name}', and how to delete each:\n{listed}", **PLAIN)
    else:
        errors.print(f"No resource with the tags of '{name}' is left.", **PLAIN)
