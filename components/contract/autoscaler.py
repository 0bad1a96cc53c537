"""Names of the Cluster Autoscaler, and of its discovery tags and ConfigMaps.

Shared by cluster, supervisor and policies. The names of the local cluster are the kwok
provider's own defaults.
"""

from typing import Final

from components.contract.labels import LabelKey, WellKnownLabel
from components.contract.taints import Taint

NAME: Final = "cluster-autoscaler"
"""Name of its Deployment, its service account and its lease."""

NAMESPACE: Final = "kube-system"

STATUS: Final = "cluster-autoscaler-status"
"""ConfigMap with its report, key ``status``."""

DISCOVERY_FLAG: Final = "node-group-auto-discovery"
"""On AWS: the tag of the Auto Scaling groups that it may scale, ``asg:tag=KEY=VALUE``."""

BALANCING_LABELS: Final = (LabelKey.POOL.value, WellKnownLabel.INSTANCE_TYPE.value)
"""Labels that groups share if they are to grow alike: those of one pool and shape in several zones.

The autoscaler's default comparison treats every label that it does not know as a difference. On EKS these are
``eks.amazonaws.com/sourceLaunchTemplateId`` and ``-Version``, because each group has its own launch template, and
``topology.k8s.aws/zone-id``. An empty group, known by its tags only, also differs from one with nodes. Both have the
labels here, and the type separates the shapes of a pool: Cluster Autoscaler, ``processors/nodegroupset``,
``compare_nodegroups.go``, ``aws_nodegroups.go`` and ``label_nodegroups.go``.
"""

SCALING: Final = {
    # Choose the group that leaves the least unused, so that a small pod does not start a large machine.
    "expander": "least-waste",
    "balance-similar-node-groups": "true",
    "enforce-node-group-min-size": "true",
}
"""Flags that a stack sets for the autoscaler that it deploys itself; all others have their defaults.

https://github.com/kubernetes/autoscaler/blob/master/cluster-autoscaler/FAQ.md
"""

TAG_PREFIX: Final = "k8s.io/cluster-autoscaler/"
"""Prefix of the tags of Auto Scaling groups that the autoscaler reads.

https://github.com/kubernetes/autoscaler/blob/master/cluster-autoscaler/cloudprovider/aws/README.md
"""

CONFIG: Final = "kwok-provider-config"
"""ConfigMap of the settings, key ``config``."""

TEMPLATES: Final = "kwok-provider-templates"
"""ConfigMap of the node templates, one per group, key ``templates``."""


def label_tag(key: str, value: str) -> tuple[str, str]:
    """Return key and value of the Auto Scaling group tag from which the autoscaler learns a label of empty groups."""
    return f"{TAG_PREFIX}node-template/label/{key}", value


def taint_tag(taint: Taint) -> tuple[str, str]:
    """Return key and value of the tag for a taint."""
    return f"{TAG_PREFIX}node-template/taint/{taint.key}", f"{taint.value}:{taint.effect}"


def resource_tag(name: str, quantity: str) -> tuple[str, str]:
    """Return key and value of the tag for a resource that a node offers besides CPU and memory."""
    return f"{TAG_PREFIX}node-template/resources/{name}", quantity
