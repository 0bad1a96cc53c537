"""Which cluster a context leads to, whatever it is called."""

import json
from dataclasses import dataclass
from typing import Final

from components.contract.labels import AnnotationKey
from workbench.engine.kubectl import Api
from workbench.system.errors import UserError

NAMESPACE: Final = "kube-system"
"""Every cluster has it from its start, and nobody can delete it: its UID is the cluster's."""


@dataclass(frozen=True)
class ClusterIdentity:
    """Who a cluster is.

    Parameters
    ----------
    id
        UID of ``kube-system``.
    stack
        The stack that works in it; empty if none does.
    """

    id: str
    stack: str


def identify(api: Api) -> ClusterIdentity:
    """Ask the cluster who it is.

    Raises
    ------
    UserError
        It does not answer.
    """
    found = json.loads(api.run("get", "namespace", NAMESPACE, "-o", "json"))["metadata"]
    return ClusterIdentity(found["uid"], (found.get("annotations") or {}).get(AnnotationKey.STACK.value, ""))


def refuse_another(found: ClusterIdentity, *, wanted: str, context: str, stack: str) -> None:
    """Refuse a cluster that is not the stack's, or that another stack works in.

    Raises
    ------
    UserError
        It is not; with both identities.
    """
    if found.id != wanted:
        raise UserError(
            f"The context '{context}' leads to another cluster than '{stack}' is about. Nothing was changed.\n"
            f"  cluster.clusterId in the stack file  {wanted}\n  the context's cluster               {found.id}",
            "Mend the kubeconfig or cluster.context. If the cluster was made anew: `igz-clusters existing identify "
            f"{context}` prints its id; the stack of the old one goes with `pulumi stack rm --force {stack}`.",
        )
    if found.stack not in ("", stack):
        raise UserError(
            f"The stack '{found.stack}' works in this cluster; two would undo each other's work. Nothing was changed.",
            f"Destroy '{found.stack}' first. If it is gone without a trace: `kubectl --context={context} annotate "
            f"namespace {NAMESPACE} {AnnotationKey.STACK.value}-`.",
        )
