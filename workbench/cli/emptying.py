"""Deletes what users created in a cluster before the cluster itself is deleted: load balancers and volume claims."""

import os
import time
from collections.abc import Mapping, Sequence
from typing import Any

from workbench.cli.cloud_run import CloudRun
from workbench.cli.console import PLAIN, agree, errors
from workbench.engine.cluster_components import cluster_of, components_of_state
from workbench.engine.destroying import PATIENCE, PAUSE, UNREACHABLE, objects_of
from workbench.engine.in_cluster import ClusterContents, ClusterObject, Kubectl, recorded_cluster
from workbench.report.changes import changes_of
from workbench.report.events import Stream
from workbench.report.words import DESTRUCTIVE
from workbench.system.errors import UserError

CLAIMS_OPTION = "--delete-claims"


def empty_if_replaced(run: CloudRun, state: Mapping[str, Any], plan: Stream, *, yes: bool, delete_claims: bool) -> None:
    """Empty the cluster if a plan replaces or deletes it. Parameters and errors as of ``empty_cluster``.

    Raises
    ------
    UserError
        The cloud would refuse to delete the cluster.
    """
    cluster = cluster_of(components_of_state(state))
    lost = {each.change.urn for each in changes_of(plan) if each.change.operation in DESTRUCTIVE}
    if not cluster or cluster.urn not in lost:
        return
    if cluster.locks:
        blockers = "\n".join(map(str, cluster.locks))
        raise UserError(f"The {cluster} cannot be replaced yet:\n{blockers}", "Nothing was changed.")
    empty_cluster(run, state, yes=yes, delete_claims=delete_claims)


def empty_cluster(run: CloudRun, state: Mapping[str, Any], *, yes: bool, delete_claims: bool) -> None:
    """Delete what users created in the cluster and what would otherwise leave cloud resources behind or lose data.

    Parameters
    ----------
    run, state
        The command, and the stack's refreshed deployment.
    yes
        Whether to delete load balancers without asking.
    delete_claims
        Whether to delete volume claims too, with all data on their volumes.

    Raises
    ------
    UserError
        There are claims that may not be deleted, the API does not answer, or something is not deleted in time.
    """
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


def _agree(found: ClusterContents, *, yes: bool, delete_claims: bool) -> None:
    """List what users created, and return only if it may be deleted."""
    for volume in found.retained:
        errors.print(f"Keeping volume {volume}: its reclaim policy is Retain.", **PLAIN)
    if found.claims and not delete_claims:
        raise UserError(
            f"Volume claims hold data that would be lost:\n{listed(found.claims)}\nNothing was deleted.",
            f"Back up the data you need, then add {CLAIMS_OPTION}. To keep a volume instead: `kubectl patch pv NAME -p "
            '\'{"spec":{"persistentVolumeReclaimPolicy":"Retain"}}\'`.',
        )
    if not (gone := (*found.load_balancers, *found.claims)):
        return
    errors.print(f"Users created these objects in the cluster; they are deleted first:\n{listed(gone)}", **PLAIN)
    if yes:
        return
    agree("Delete them?", unchanged="nothing deleted")


def listed(objects: Sequence[ClusterObject]) -> str:
    """Return the objects, one per line."""
    return "\n".join(f"- {each}" for each in objects)


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
                "its controller, which on EKS has its rights from cluster.ingress; a volume waits for its storage "
                "driver: see `kubectl describe`. Then run this again.",
            )
        time.sleep(PAUSE)


def _lost(run: CloudRun) -> str:
    return (
        "Objects in the cluster must be deleted first, or load balancers and volumes are left behind, or data is lost. "
        f"Restore access to its API: {run.cloud.ways_in}. If the cluster is lost for good, set {UNREACHABLE}=true: the "
        "command then continues without this check."
    )
