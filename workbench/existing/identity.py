"""Identity of the cluster behind a context, independent of its name."""

import json
from dataclasses import dataclass
from typing import Final

from components.contract.labels import AnnotationKey
from workbench.engine.kubectl import Api
from workbench.system.errors import UserError

NAMESPACE: Final = "kube-system"
"""Exists in every cluster from its start and cannot be deleted: its UID identifies the cluster."""


@dataclass(frozen=True)
class ClusterIdentity:
    """Identity of a cluster.

    Parameters
    ----------
    id
        UID of ``kube-system``.
    stack
        The stack that manages it; empty if none does.
    """

    id: str
    stack: str


def identify(api: Api) -> ClusterIdentity:
    """Return a cluster's identity, as queried from its API.

    Raises
    ------
    UserError
        The cluster does not answer.
    """
    metadata = json.loads(api.run("get", "namespace", NAMESPACE, "-o", "json"))["metadata"]
    return ClusterIdentity(metadata["uid"], (metadata.get("annotations") or {}).get(AnnotationKey.STACK.value, ""))


def require_same_cluster(actual: ClusterIdentity, *, expected: str, context: str, stack: str) -> None:
    """Refuse a cluster that is not the stack's, or that another stack manages.

    Raises
    ------
    UserError
        The cluster or the stack differs; shows both.
    """
    if actual.id != expected:
        raise UserError(
            f"The context '{context}' points to a different cluster than '{stack}' expects. Nothing was changed.\n"
            f"  cluster.clusterId in the stack file  {expected}\n  the context's cluster               {actual.id}",
            "Correct the kubeconfig or cluster.context. If the cluster was rebuilt: `igz-clusters existing identify "
            f"{context}` prints its id, and `pulumi stack rm --force {stack}` removes the old cluster's stack.",
        )
    if actual.stack not in ("", stack):
        raise UserError(
            f"The stack '{actual.stack}' manages this cluster; two would undo each other's changes. Nothing was "
            "changed.",
            f"Destroy '{actual.stack}' first. If that stack no longer exists: `kubectl --context={context} annotate "
            f"namespace {NAMESPACE} {AnnotationKey.STACK.value}-`.",
        )
