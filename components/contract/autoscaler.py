"""Names of the Cluster Autoscaler, and of its discovery tags and ConfigMaps.

Shared by cluster, supervisor and policies. Those of the local cluster are the kwok provider's own
defaults.
"""

from typing import Final

from components.contract.taints import Taint

NAME: Final = "cluster-autoscaler"
"""Name of its Deployment, its service account and its lease."""

NAMESPACE: Final = "kube-system"

DISCOVERY_FLAG: Final = "node-group-auto-discovery"
"""On AWS: the tag of the Auto Scaling groups that it may scale, ``asg:tag=KEY=VALUE``."""

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
