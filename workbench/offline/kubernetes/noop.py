"""A no-op Kubernetes provider."""

from typing import Final

from workbench.offline.kubernetes.provider import OfflineKubernetes
from workbench.offline.noop import NoopProvider


class NoopKubernetes(NoopProvider, OfflineKubernetes):
    """Kubernetes without a cluster."""


PROVIDER: Final = NoopKubernetes
