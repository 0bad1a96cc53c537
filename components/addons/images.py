"""Image versions and registries of our manifests."""

from collections.abc import Mapping
from typing import Final

from components.contract.kubernetes_minors import autoscaler_release

DEVICE_PLUGIN_VERSION: Final = "v0.19.3"
"""NVIDIA's device plug-in: https://github.com/NVIDIA/k8s-device-plugin/releases."""

MIG_PARTED_VERSION: Final = "v0.12.1-ubi9"
"""Its tool that divides GPUs: NVIDIA/mig-parted 0d9252a4, ``deployments/container``."""


PAUSE_VERSION: Final = "3.10.2"
"""The container that does nothing: kubernetes v1.36.3, ``cmd/kubeadm/app/constants/constants.go``."""


def image(registry: str, path: str, version: str, mirrors: Mapping[str, str]) -> str:
    """Return the reference of an image, from the mirror of its registry if there is one."""
    return f"{mirrors.get(registry, registry)}/{path}:{version}"


def autoscaler_image(kubernetes_version: str, mirrors: Mapping[str, str]) -> str:
    """Return the autoscaler's image for a cluster of ``kubernetes_version``, such as ``1.35``."""
    return image("registry.k8s.io", "autoscaling/cluster-autoscaler", autoscaler_release(kubernetes_version), mirrors)


def pause_image(mirrors: Mapping[str, str]) -> str:
    """Return the image of the container that does nothing."""
    return image("registry.k8s.io", "pause", PAUSE_VERSION, mirrors)


def device_plugin_image(mirrors: Mapping[str, str]) -> str:
    """Return the image of NVIDIA's device plug-in."""
    return image("nvcr.io", "nvidia/k8s-device-plugin", DEVICE_PLUGIN_VERSION, mirrors)


def mig_parted_image(mirrors: Mapping[str, str]) -> str:
    """Return the image of NVIDIA's tool that divides GPUs."""
    return image("nvcr.io", "nvidia/cloud-native/k8s-mig-manager", MIG_PARTED_VERSION, mirrors)
