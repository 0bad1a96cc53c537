"""The add-ons that the emulator has: their versions, and which of them wait for nodes."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from components.contract.kubernetes_minors import calendar
from emulators.aws.server.eks import versions
from emulators.aws.server.eks.pages import page
from emulators.aws.server.eks.refusals import invalid_parameter
from emulators.aws.server.eks.store import Request


@dataclass(frozen=True)
class Offer:
    """One add-on.

    Parameters
    ----------
    newest
        What EKS installs where no version is named. A selection of November 2026, of which nothing but the form
        matters: AWS publishes several a month.
    kind
        As DescribeAddonVersions groups them.
    is_deployment
        Its pods need a node somewhere; those of a daemon set are well without any.
    follows_cluster
        Its minor version is one of Kubernetes, which must not be ahead of the control plane's.
    namespace
        Where its pods run.
    owner
        Who makes it: ``aws``, or ``community``, whose publisher is EKS too (assumed).
    """

    newest: str
    kind: str
    is_deployment: bool = False
    follows_cluster: bool = False
    namespace: str = "kube-system"
    owner: str = "aws"

    def newest_for(self, cluster_version: str) -> str:
        """Return the version that a cluster gets if it names none."""
        return f"v{cluster_version}.0-eksbuild.2" if self.follows_cluster else self.newest


OFFERS: Final[Mapping[str, Offer]] = {
    "aws-ebs-csi-driver": Offer("v1.56.0-eksbuild.1", "storage", is_deployment=True),
    "aws-efs-csi-driver": Offer("v2.1.15-eksbuild.1", "storage", is_deployment=True),
    "aws-fsx-csi-driver": Offer("v1.9.0-eksbuild.1", "storage", is_deployment=True),
    "aws-mountpoint-s3-csi-driver": Offer("v2.7.0-eksbuild.1", "storage", is_deployment=True),
    "coredns": Offer("v1.13.2-eksbuild.1", "networking", is_deployment=True),
    "eks-node-monitoring-agent": Offer("v1.7.0-eksbuild.1", "observability"),
    "eks-pod-identity-agent": Offer("v1.3.10-eksbuild.2", "security"),
    "external-dns": Offer(
        "v0.20.0-eksbuild.3", "networking", is_deployment=True, namespace="external-dns", owner="community"
    ),
    "kube-proxy": Offer("", "networking", follows_cluster=True),
    "metrics-server": Offer("v0.8.1-eksbuild.1", "observability", is_deployment=True),
    "vpc-cni": Offer("v1.21.1-eksbuild.3", "networking"),
}
"""https://docs.aws.amazon.com/eks/latest/userguide/workloads-add-ons-available-eks.html and community-addons.html; the
type of external-dns is assumed, and that the versions of the drivers for FSx and S3 are those of their charts
(kubernetes-sigs/aws-fsx-csi-driver and awslabs/mountpoint-s3-csi-driver, 2026), which have a controller each."""

_VERSION: Final = re.compile(r"v\d+\.(\d+)\.\d+-eksbuild\.\d+")


def offer(name: str) -> Offer:
    """Return an add-on or refuse (aws/containers-roadmap#1429)."""
    if name not in OFFERS:
        raise invalid_parameter("Addon specified is not supported")
    return OFFERS[name]


def check_version(name: str, version: str, cluster_version: str) -> None:
    """Refuse a version of the wrong form, or one that does not go with the cluster (aws/aws-sdk-go-v2#2554).

    Any other version is taken to exist.
    """
    read = _VERSION.fullmatch(version)
    behind = versions.minor(cluster_version) - int(read[1]) if read else 0
    if not read or (offer(name).follows_cluster and not 0 <= behind <= versions.SKEW_MAX):
        raise invalid_parameter("Addon version specified is not supported")


class AddonCatalogue:
    """DescribeAddonVersions."""

    def operations(self) -> Mapping[str, Callable[[Request], dict[str, Any]]]:
        """Return what handles each operation."""
        return {"DescribeAddonVersions": self.describe}

    def describe(self, request: Request) -> dict[str, Any]:
        """Return the add-ons with a version for each Kubernetes version."""
        name, types, wanted = request.get("addonName"), request.get("types"), request.get("kubernetesVersion")
        if name:
            offer(name)
        clusters = [wanted] if wanted else [each for each in calendar("eks") if versions.status(each) != "UNSUPPORTED"]
        found = [
            _described(each, known, clusters)
            for each, known in OFFERS.items()
            if name in (None, each) and (not types or known.kind in types)
        ]
        return page(request, "addons", found)


def _described(name: str, known: Offer, clusters: list[str]) -> dict[str, Any]:
    by_version: dict[str, list[str]] = {}
    for cluster in clusters:
        by_version.setdefault(known.newest_for(cluster), []).append(cluster)
    return {
        "addonName": name,
        "type": known.kind,
        "owner": known.owner,
        "publisher": "eks",
        "defaultNamespace": known.namespace,
        "addonVersions": [
            {
                "addonVersion": version,
                "architecture": ["amd64", "arm64"],
                "compatibilities": [
                    {"clusterVersion": cluster, "platformVersions": ["*"], "defaultVersion": True} for cluster in suited
                ],
                "requiresConfiguration": False,
            }
            for version, suited in by_version.items()
        ],
    }
