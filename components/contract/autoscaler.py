"""Where the local autoscaler's kwok provider looks for its settings and its node groups.

The names are the provider's own defaults; cluster, supervisor and policies must mean the same objects.
"""

from typing import Final

NAMESPACE: Final = "kube-system"

CONFIG: Final = "kwok-provider-config"
"""ConfigMap of the settings, key ``config``."""

TEMPLATES: Final = "kwok-provider-templates"
"""ConfigMap of the node templates, one a group, key ``templates``."""
