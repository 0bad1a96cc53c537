"""Names of the Cluster Autoscaler, and where it looks for the groups that it may size.

Cluster, supervisor and policies must mean the same objects. Those of the local cluster are the kwok provider's own
defaults.
"""

from typing import Final

NAME: Final = "cluster-autoscaler"
"""Of its Deployment, its service account and its lease."""

NAMESPACE: Final = "kube-system"

DISCOVERY_FLAG: Final = "node-group-auto-discovery"
"""On AWS: the tag of the Auto Scaling groups that it may size, ``asg:tag=KEY=VALUE``."""

CONFIG: Final = "kwok-provider-config"
"""ConfigMap of the settings, key ``config``."""

TEMPLATES: Final = "kwok-provider-templates"
"""ConfigMap of the node templates, one a group, key ``templates``."""
