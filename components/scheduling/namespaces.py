"""User namespaces with their limits, quotas, network policies and Pod Security."""

from dataclasses import dataclass
from typing import Any, Final

import pulumi
from pulumi_kubernetes.core.v1 import LimitRange, Namespace, NamespacePatch, ResourceQuota
from pulumi_kubernetes.meta.v1 import ObjectMetaArgs
from pulumi_kubernetes.networking.v1 import NetworkPolicy

from components.base import PlatformComponent
from components.contract.egress import AllowedEgress
from components.contract.groups import NodeGroup
from components.contract.ingress import WaysIn
from components.contract.labels import TRUE, LabelKey, WellKnownLabel
from components.contract.namespaces import Quota, UserNamespace
from components.contract.pod_resources import PodResources
from components.contract.policy_choices import AdmissionMode
from components.contract.priorities import RESERVED_CLASSES, SystemPriority
from components.ownership import joined, owned

DNS_PORT = 53
NODE_LOCAL_DNS = "169.254.20.10"
"""Address for DNS queries if the cluster runs the node-local cache: https://kubernetes.io/docs/tasks/administer-cluster/nodelocaldns/."""

DEVICE_CLASSES: Final = ("gpu", "mig")
"""Device classes for GPUs and parts of them, before the vendor's domain, of drivers for dynamic resource allocation.

``gpu.amd.com`` (ROCm/k8s-gpu-dra-driver b52b585b ``helm-charts-k8s/templates/deviceclass.yaml``), ``gpu.nvidia.com``
(kubernetes-sigs/dra-driver-nvidia-gpu bccebfd6 ``demo/specs/node-allocatable-overhead/gpu-overhead-pod.yaml``);
``mig.nvidia.com`` is assumed. A quota for a class that does not exist has no effect.
"""

OF_A_CLASS: Final = "deviceclass.resource.k8s.io/devices"
"""Devices that claims request, in a quota after the class: ``ResourceClaimsPerClass`` of k8s.io/api v0.36.3."""


@dataclass(frozen=True, kw_only=True)
class UserNamespaceArgs:
    """Inputs of one user namespace."""

    choices: UserNamespace
    groups: tuple[NodeGroup, ...]
    pod_resources: PodResources
    admission: AdmissionMode = AdmissionMode.DENY
    """Whether Pod Security and the quota on system classes reject pods; if not, the rules warn."""
    egress: tuple[AllowedEgress, ...] = ()
    """What pods of every user namespace may reach outside the cluster."""
    ways_in: WaysIn | None = None
    """How requests from outside reach core services and notebooks. Default: only marked core services are reached."""
    gives_limits: bool = False
    """Whether the LimitRange sets limits too. Default: requests only, which cannot make a pod invalid."""
    is_adopted: bool = False
    """Whether the namespace already exists; it then gets our labels and is never deleted."""


class UserNamespaceObjects(PlatformComponent):
    """A namespace with limits, quotas, network policies and Pod Security; its name is the component's.

    Its pods can reach each other, core services, DNS, the API server and what the namespace's choices name; core
    services in the namespace can reach everything. Network policies have an effect only if the cluster's network
    plug-in enforces them. The local cluster has none: the API server checks and stores them, nothing more.
    """

    namespace: pulumi.Output[str]

    def __init__(self, name: str, args: UserNamespaceArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("igz-clusters:scheduling:UserNamespace", name, None, opts)
        marks = args.choices.marks(args.admission)
        namespace: Namespace | NamespacePatch = (
            NamespacePatch(name, metadata=joined(name, labels=marks), opts=self.child())
            if args.is_adopted
            else Namespace(name, metadata=owned(name, labels=marks), opts=self.child())
        )
        self._inside = self.child(depends_on=[namespace])
        self._name = name
        self._limits(args)
        self._quotas(args)
        self._network(args)
        self.namespace = namespace.metadata.name
        self.register_outputs({"namespace": self.namespace})

    def _metadata(self, object_name: str) -> ObjectMetaArgs:
        # The namespace's name is plain data, so that policies can judge these objects in a first preview.
        return owned(object_name, namespace=self._name)

    def _limits(self, args: UserNamespaceArgs) -> None:
        # No maxLimitRequestRatio: the API server would apply it to default limits too. RS-05 warns instead.
        limits: dict[str, Any] = {"type": "Container", "defaultRequest": args.pod_resources.requests.model_dump()}
        if args.gives_limits:
            limits["default"] = args.pod_resources.limits.model_dump()
        LimitRange(
            f"{self._name}-default-resources",
            metadata=self._metadata("default-resources"),
            spec={"limits": [limits]},
            opts=self._inside,
        )

    def _quotas(self, args: UserNamespaceArgs) -> None:
        if args.choices.quota:
            self._quota("requests", {"hard": _hard_limits(args.choices.quota, args.groups)})
        if args.admission is AdmissionMode.WARN:  # a quota cannot warn, but PR-05 does
            return
        refused = [*RESERVED_CLASSES, *(() if args.choices.core_services else [c.value for c in SystemPriority])]
        scope = {"scopeName": "PriorityClass", "operator": "In", "values": refused}
        self._quota("no-system-priority", {"hard": {"pods": "0"}, "scopeSelector": {"matchExpressions": [scope]}})

    def _quota(self, object_name: str, spec: dict[str, Any]) -> None:
        ResourceQuota(f"{self._name}-{object_name}", metadata=self._metadata(object_name), spec=spec, opts=self._inside)

    def _network(self, args: UserNamespaceArgs) -> None:
        choices = args.choices
        everything: dict[str, Any] = {"podSelector": {}}
        core_services = {
            "namespaceSelector": {"matchLabels": {LabelKey.USER_WORKLOADS.value: TRUE}},
            "podSelector": {"matchLabels": {LabelKey.CORE_SERVICE.value: TRUE}},
        }
        cluster_dns = {"namespaceSelector": {"matchLabels": {WellKnownLabel.NAMESPACE_NAME.value: "kube-system"}}}
        dns = {
            "to": [cluster_dns, {"ipBlock": {"cidr": f"{NODE_LOCAL_DNS}/32"}}],
            "ports": [{"port": DNS_PORT, "protocol": protocol} for protocol in ("UDP", "TCP")],
        }
        policies: dict[str, dict[str, Any]] = {
            "default-deny": {**everything, "policyTypes": ["Ingress", "Egress"]},
            "allow-dns": {**everything, "policyTypes": ["Egress"], "egress": [dns]},
            "allow-platform": {
                **everything,
                "policyTypes": ["Ingress", "Egress"],
                "ingress": [{"from": [everything, core_services]}],
                "egress": [{"to": [everything, core_services]}],
            },
        }
        if choices.core_services:
            # They serve users outside the cluster and call the API server, registries and stores.
            policies["allow-core-services"] = {
                "podSelector": core_services["podSelector"],
                "policyTypes": ["Ingress", "Egress"],
                "ingress": [{}],
                "egress": [{}],
            }
            if args.ways_in:
                policies |= _clients(args.ways_in)
        for object_name, rules in choices.egress_policies(args.egress).items():
            policies[object_name] = {**everything, "policyTypes": ["Egress"], "egress": rules}
        for object_name, spec in policies.items():
            NetworkPolicy(
                f"{self._name}-{object_name}", metadata=self._metadata(object_name), spec=spec, opts=self._inside
            )


def _clients(ways_in: WaysIn) -> dict[str, dict[str, Any]]:
    # Jupyter is not a core service, and before Kubernetes 1.36 not all of these have the mark.
    return {
        f"allow-clients-{name}": {
            "podSelector": {"matchLabels": dict(pods)},
            "policyTypes": ["Ingress"],
            "ingress": [{"from": list(ways_in.peers), "ports": [{"port": port, "protocol": "TCP"}]}],
        }
        for name, (pods, port) in ways_in.reached.items()
    }


def _hard_limits(quota: Quota, groups: tuple[NodeGroup, ...]) -> dict[str, str]:
    gpu_resources = {group.gpu_resource for group in groups if group.gpu_resource}
    classes = {f"{part}.{name.partition('/')[0]}" for name in gpu_resources for part in DEVICE_CLASSES}
    shared = {group.gpu_resource for group in groups if group.sharing}
    gpus = sorted(f"requests.{name}" for name in gpu_resources - shared)
    gpus += sorted(f"{name}.{OF_A_CLASS}" for name in classes)
    return {
        "requests.cpu": quota.cpu,
        "requests.memory": quota.memory,
        **dict.fromkeys(gpus, str(quota.gpus)),
        **dict.fromkeys(sorted(f"requests.{name}" for name in shared), str(quota.gpu_slices)),
    }
