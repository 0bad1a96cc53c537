"""Images of our own manifests: which version, from where."""

from collections.abc import Mapping
from typing import Final

AUTOSCALER_VERSIONS: Final = {"1.34": "v1.34.4", "1.35": "v1.35.1", "1.36": "v1.36.0"}
"""Cluster Autoscaler by the cluster's minor version, since it holds a copy of that version's scheduler.

https://github.com/kubernetes/autoscaler/blob/master/cluster-autoscaler/README.md#releases. The patch versions are
those that kOps installs (``pkg/model/components/clusterautoscaler.go``, read in November 2026).
"""

DEVICE_PLUGIN_VERSION: Final = "v0.19.3"
"""NVIDIA's device plug-in: https://github.com/NVIDIA/k8s-device-plugin/releases."""


def image(registry: str, path: str, version: str, mirrors: Mapping[str, str]) -> str:
    """Return the reference of an image, from the mirror of its registry if there is one."""
    return f"{mirrors.get(registry, registry)}/{path}:{version}"


def autoscaler_image(kubernetes_version: str, mirrors: Mapping[str, str]) -> str:
    """Return the autoscaler's image for a cluster of ``kubernetes_version``, such as ``1.35``."""
    return image("registry.k8s.io", "autoscaling/cluster-autoscaler", AUTOSCALER_VERSIONS[kubernetes_version], mirrors)


def device_plugin_image(mirrors: Mapping[str, str]) -> str:
    """Return the image of NVIDIA's device plug-in."""
    return image("nvcr.io", "nvidia/k8s-device-plugin", DEVICE_PLUGIN_VERSION, mirrors)
