"""User namespaces with all that keeps one user's mistake from becoming everybody's."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pulumi
from pulumi_kubernetes.core.v1 import LimitRange, Namespace, ResourceQuota
from pulumi_kubernetes.meta.v1 import ObjectMetaArgs
from pulumi_kubernetes.networking.v1 import NetworkPolicy

from components.base import PlatformComponent
from components.contract.environments import Environment
from components.contract.groups import NodeGroup
from components.contract.labels import TRUE, LabelKey, WellKnownLabel
from components.contract.namespaces import Quota, UserNamespace
from components.contract.pod_resources import MAX_LIMIT_REQUEST_RATIO, PodResources
from components.contract.priorities import RESERVED_CLASSES, SystemPriority

DNS_PORT = 53


@dataclass(frozen=True, kw_only=True)
class UserNamespaceArgs:
    """Inputs of one user namespace."""

    choices: UserNamespace
    environment: Environment
    groups: tuple[NodeGroup, ...]
    pod_resources: PodResources


class UserNamespaceObjects(PlatformComponent):
    """A namespace with limits, quotas, network policies and Pod Security; its name is the component's.

    Network policies act only where the cluster's network plug-in enforces them. The local cluster has none: there
    they are stored and checked by the API server, and nothing more.
    """

    namespace: pulumi.Output[str]

    def __init__(self, name: str, args: UserNamespaceArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("igz-clusters:scheduling:UserNamespace", name, None, opts)
        namespace = Namespace(
            name,
            metadata=ObjectMetaArgs(
                name=name,
                labels={
                    LabelKey.USER_WORKLOADS.value: TRUE,
                    WellKnownLabel.POD_SECURITY_ENFORCE.value: "baseline",
                    WellKnownLabel.POD_SECURITY_ENFORCE_VERSION.value: "latest",
                },
            ),
            opts=self.child(),
        )
        self._inside = self.child(depends_on=[namespace])
        self._name = name
        self._limits(args)
        self._quotas(args)
        self._network(args.choices.egress_cidrs)
        self.namespace = namespace.metadata.name
        self.register_outputs({"namespace": self.namespace})

    def _metadata(self, object_name: str) -> ObjectMetaArgs:
        # The namespace's name is plain data, so that policies can judge these objects in a first preview.
        return ObjectMetaArgs(name=object_name, namespace=self._name)

    def _limits(self, args: UserNamespaceArgs) -> None:
        limits: dict[str, Any] = {
            "type": "Container",
            "default": args.pod_resources.limits.model_dump(),
            "defaultRequest": args.pod_resources.requests.model_dump(),
        }
        if ratio := MAX_LIMIT_REQUEST_RATIO[args.environment]:
            limits["maxLimitRequestRatio"] = {"cpu": str(ratio), "memory": str(ratio)}
        LimitRange(
            f"{self._name}-default-resources",
            metadata=self._metadata("default-resources"),
            spec={"limits": [limits]},
            opts=self._inside,
        )

    def _quotas(self, args: UserNamespaceArgs) -> None:
        if args.choices.quota:
            self._quota("requests", {"hard": _hard_limits(args.choices.quota, args.groups)})
        refused = [*RESERVED_CLASSES, *(() if args.choices.core_services else [c.value for c in SystemPriority])]
        scope = {"scopeName": "PriorityClass", "operator": "In", "values": refused}
        self._quota("no-system-priority", {"hard": {"pods": "0"}, "scopeSelector": {"matchExpressions": [scope]}})

    def _quota(self, object_name: str, spec: dict[str, Any]) -> None:
        ResourceQuota(f"{self._name}-{object_name}", metadata=self._metadata(object_name), spec=spec, opts=self._inside)

    def _network(self, egress_cidrs: Sequence[str]) -> None:
        everything: dict[str, Any] = {"podSelector": {}}
        dns = {
            "to": [{"namespaceSelector": {"matchLabels": {WellKnownLabel.NAMESPACE_NAME.value: "kube-system"}}}],
            "ports": [{"port": DNS_PORT, "protocol": protocol} for protocol in ("UDP", "TCP")],
        }
        policies: dict[str, dict[str, Any]] = {
            "default-deny": {"policyTypes": ["Ingress", "Egress"]},
            "allow-dns": {"policyTypes": ["Egress"], "egress": [dns]},
            "allow-same-namespace": {
                "policyTypes": ["Ingress", "Egress"],
                "ingress": [{"from": [everything]}],
                "egress": [{"to": [everything]}],
            },
        }
        if egress_cidrs:
            blocks = [{"ipBlock": {"cidr": cidr}} for cidr in egress_cidrs]
            policies["allow-egress"] = {"policyTypes": ["Egress"], "egress": [{"to": blocks}]}
        for object_name, spec in policies.items():
            NetworkPolicy(
                f"{self._name}-{object_name}",
                metadata=self._metadata(object_name),
                spec={**everything, **spec},
                opts=self._inside,
            )


def _hard_limits(quota: Quota, groups: tuple[NodeGroup, ...]) -> dict[str, str]:
    gpu_resources = sorted({group.gpu_resource for group in groups if group.gpu_resource})
    return {
        "requests.cpu": quota.cpu,
        "requests.memory": quota.memory,
        **{f"requests.{resource}": str(quota.gpus) for resource in gpu_resources},
    }
