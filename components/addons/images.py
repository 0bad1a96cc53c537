"""Image versions and registries of our manifests."""

from collections.abc import Mapping
from typing import Final

from components.contract.gpu_choices import GpuChoices
from components.contract.kubernetes_minors import autoscaler_release

DCGM_EXPORTER_VERSION: Final = "4.5.3-4.8.2-distroless"
"""NVIDIA's exporter of GPU metrics: NVIDIA/dcgm-exporter d5e5f510, ``deployment/values.yaml``."""

MIG_PARTED_VERSION: Final = "v0.12.1-ubi9"
"""NVIDIA's tool that divides GPUs: NVIDIA/mig-parted 0d9252a4, ``deployments/container``."""

EFA_PLUGIN_VERSION: Final = "v0.5.20"
"""AWS's device plug-in for EFA: aws/eks-charts 5239609, ``stable/aws-efa-k8s-device-plugin/Chart.yaml``."""

_EKS_ACCOUNT: Final = "602401143452"
_EKS_ACCOUNTS: Final = {
    "af-south-1": "877085696533",
    "ap-east-1": "800184023465",
    "ap-east-2": "533267051163",
    "ap-south-2": "900889452093",
    "ap-southeast-3": "296578399912",
    "ap-southeast-4": "491585149902",
    "ap-southeast-5": "151610086707",
    "ap-southeast-6": "333609536671",
    "ap-southeast-7": "121268973566",
    "ca-west-1": "761377655185",
    "eu-central-2": "900612956339",
    "eu-south-1": "590381155156",
    "eu-south-2": "455263428931",
    "il-central-1": "066635153087",
    "me-central-1": "759879836304",
    "me-south-1": "558608220178",
    "mx-central-1": "730335286997",
}
"""Accounts of EKS's own images in the regions that have another one.

https://docs.aws.amazon.com/eks/latest/userguide/add-ons-images.html
"""

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


def device_plugin_image(choices: GpuChoices, mirrors: Mapping[str, str]) -> str:
    """Return the image of NVIDIA's device plug-in."""
    return image("nvcr.io", "nvidia/k8s-device-plugin", choices.device_plugin, mirrors)


def gpu_metrics_image(mirrors: Mapping[str, str]) -> str:
    """Return the image of NVIDIA's DCGM exporter."""
    return image("nvcr.io", "nvidia/k8s/dcgm-exporter", DCGM_EXPORTER_VERSION, mirrors)


def efa_plugin_image(region: str) -> str:
    """Return the image of AWS's device plug-in for EFA, from EKS's own registry in the cluster's region."""
    registry = f"{_EKS_ACCOUNTS.get(region, _EKS_ACCOUNT)}.dkr.ecr.{region}.amazonaws.com"
    return image(registry, "eks/aws-efa-k8s-device-plugin", EFA_PLUGIN_VERSION, {})


def mig_parted_image(mirrors: Mapping[str, str]) -> str:
    """Return the image of NVIDIA's tool that divides GPUs."""
    return image("nvcr.io", "nvidia/cloud-native/k8s-mig-manager", MIG_PARTED_VERSION, mirrors)
