"""Names the load balancers that would remain if their controller lost its rights first."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from workbench.cli.cloud_run import CloudRun
from workbench.cli.console import PLAIN, errors
from workbench.engine.clouds.blocker import Blocker
from workbench.engine.cluster_components import cluster_of, components_of_state
from workbench.engine.in_cluster import recorded_cluster
from workbench.report.changes import changes_of
from workbench.report.events import Stream
from workbench.report.model import Operation
from workbench.report.words import DESTRUCTIVE
from workbench.system.errors import UserError

_RIGHTS: Final = "EksLoadBalancerRights$aws:eks/podIdentityAssociation:PodIdentityAssociation"
"""Type of the association that gives the AWS Load Balancer Controller its rights."""

_HELD: Final = ("ingress.k8s.aws/", "service.k8s.aws/")
"""In the finalizers of that controller.

kubernetes-sigs/aws-load-balancer-controller v3.5.0, ``pkg/shared_constants/finalizers.go``.
"""


def ingress_blockers(run: CloudRun, deployment: Mapping[str, Any], plan: Stream) -> Sequence[Blocker]:
    """Return why a plan must not remove `cluster.ingress` on EKS yet: load balancers that only the controller deletes.

    A cluster that is deleted or replaced is emptied first. One that does not answer is only noted: the engine fails on
    it too.

    Parameters
    ----------
    deployment
        The stack's state, which records how to reach the cluster.
    """
    changes = {each.change.urn: each.change.operation for each in changes_of(plan)}
    is_taken = any(_RIGHTS in urn and operation is Operation.DELETE for urn, operation in changes.items())
    cluster = cluster_of(components_of_state(deployment))
    if not is_taken or not cluster or changes.get(cluster.urn) in DESTRUCTIVE:
        return ()
    try:
        with recorded_cluster(deployment, run.session.whole_environment()) as access:
            found = access.contents().load_balancers if access else ()
    except UserError as error:
        errors.print(f"note: Ingresses could not be checked before removing cluster.ingress: {error.message}", **PLAIN)
        return ()
    held = [each for each in found if any(part in finalizer for part in _HELD for finalizer in each.finalizers)]
    if not held:
        return ()
    return (
        Blocker(
            "cluster.ingress",
            f"removed, but the AWS Load Balancer Controller still holds {', '.join(map(str, held))}",
            "it may be removed after them",
            "Delete these, wait until `kubectl get ingresses,services -A` no longer lists them, and run this again: "
            "without its rights the controller deletes no load balancer.",
        ),
    )
