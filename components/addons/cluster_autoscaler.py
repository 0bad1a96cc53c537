"""The Cluster Autoscaler on AWS: it adds and removes nodes of elastic groups on demand."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import pulumi
from pulumi_kubernetes.apps.v1 import Deployment
from pulumi_kubernetes.core.v1 import ServiceAccount
from pulumi_kubernetes.policy.v1 import PodDisruptionBudget

from components.addons.autoscaler_rights import autoscaler_rights
from components.base import PlatformComponent
from components.contract.autoscaler import BALANCING_LABELS, DISCOVERY_FLAG, NAME, NAMESPACE, SCALING
from components.contract.headroom import BYPASSED_FLAG, HEADROOM
from components.contract.labels import WellKnownLabel
from components.ownership import owned

LABELS: Final = {"app.kubernetes.io/name": NAME}
METRICS_PORT: Final = 8085

RESOURCES: Final = {"cpu": "200m", "memory": "600Mi"}
"""Used as requests and limits. Memory grows with the cluster, because the autoscaler caches all pods and nodes.

https://docs.aws.amazon.com/eks/latest/best-practices/cas.html recommends more than 1 GiB from 1,000 nodes.
"""

NOBODY: Final = 65534
"""User and group without privileges."""


@dataclass(frozen=True, kw_only=True)
class ClusterAutoscalerArgs:
    """Inputs of the autoscaler."""

    image: str
    region: str
    discovery_tag: tuple[str, str]
    """Key and value of the tag of the Auto Scaling groups that it manages."""
    node_selector: Mapping[str, str]
    """Static nodes to run on, so that it never removes its own node."""
    keeps_headroom: bool = False
    """Whether it adds nodes for placeholder pods, which no scheduler places. Default: there are none."""


class ClusterAutoscaler(PlatformComponent):
    """The autoscaler and its rights in the cluster; the caller gives its service account a cloud role."""

    def __init__(self, name: str, args: ClusterAutoscalerArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("igz-clusters:addons:ClusterAutoscaler", name, None, opts)
        metadata = owned(NAME, namespace=NAMESPACE, labels=LABELS)
        account = ServiceAccount(f"{name}-account", metadata=metadata, opts=self.child())
        rights = autoscaler_rights(name, self.child())
        Deployment(
            name,
            metadata=metadata,
            spec={
                # One replica is active, the other one waits for the lease, on another node if there is one.
                "replicas": 2,
                "selector": {"matchLabels": LABELS},
                "template": {"metadata": {"labels": LABELS}, "spec": _pod(args)},
            },
            opts=self.child(depends_on=[account, *rights]),
        )
        PodDisruptionBudget(
            name,
            metadata=metadata,
            # Pods that are not ready may be evicted: otherwise two broken ones would block every drain.
            spec={
                "maxUnavailable": 1,
                "selector": {"matchLabels": LABELS},
                "unhealthyPodEvictionPolicy": "AlwaysAllow",
            },
            opts=self.child(),
        )
        self.register_outputs({})


def flags(args: ClusterAutoscalerArgs) -> list[str]:
    """Return the command line: https://github.com/kubernetes/autoscaler/blob/master/cluster-autoscaler/FAQ.md."""
    key, value = args.discovery_tag
    single = {
        "cloud-provider": "aws",
        "namespace": NAMESPACE,
        DISCOVERY_FLAG: f"asg:tag={key}={value}",
        **SCALING,
        **({BYPASSED_FLAG: HEADROOM} if args.keeps_headroom else {}),
        "address": f":{METRICS_PORT}",
        "stderrthreshold": "info",
        "v": "2",
    }
    several = [("balancing-label", label) for label in BALANCING_LABELS]
    return [f"--{flag}={value}" for flag, value in (*single.items(), *several)]


def _pod(args: ClusterAutoscalerArgs) -> dict[str, Any]:
    probe = {"httpGet": {"path": "/health-check", "port": METRICS_PORT}}
    return {
        "serviceAccountName": NAME,
        "priorityClassName": "system-cluster-critical",
        "nodeSelector": dict(args.node_selector),
        "topologySpreadConstraints": [
            {
                "maxSkew": 1,
                "topologyKey": WellKnownLabel.HOSTNAME.value,
                "whenUnsatisfiable": "ScheduleAnyway",
                "labelSelector": {"matchLabels": LABELS},
            }
        ],
        "securityContext": {
            "runAsNonRoot": True,
            "runAsUser": NOBODY,
            "runAsGroup": NOBODY,
            "fsGroup": NOBODY,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "containers": [
            {
                "name": NAME,
                "image": args.image,
                "command": ["./cluster-autoscaler", *flags(args)],
                # If unset, the region is read from the metadata service, which pods cannot reach.
                "env": [{"name": "AWS_REGION", "value": args.region}],
                "ports": [{"name": "metrics", "containerPort": METRICS_PORT}],
                "livenessProbe": probe,
                "readinessProbe": probe,
                "resources": {"requests": RESOURCES, "limits": RESOURCES},
                "securityContext": {
                    "allowPrivilegeEscalation": False,
                    "readOnlyRootFilesystem": True,
                    "capabilities": {"drop": ["ALL"]},
                },
            }
        ],
    }
