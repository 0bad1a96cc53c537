"""Monitoring: values of kube-prometheus-stack, alone or as part of MLRun CE's chart."""

from collections.abc import Iterator
from typing import Any, Final

from components.contract.labels import TRUE, LabelKey
from components.contract.priorities import SystemPriority, UserPriority
from components.contract.systems.core_services import CoreService, placement
from components.contract.systems.platform_cluster import PlatformCluster
from components.contract.systems.system_values import SystemChoices, SystemValues, helm_command, tree

CHART: Final = "kube-prometheus-stack"
LINE: Final = "88"
"""Major version of the chart, which changes with each new operator: Prometheus Operator 0.93."""

REPOSITORY: Final = "https://prometheus-community.github.io/helm-charts"
"""Helm repository of the chart."""

SERVICES: Final = tuple(
    CoreService(name, "podLabels") for name in ("prometheusOperator", "grafana", "kube-state-metrics")
)
"""Core services that values can place. node-exporter runs on every node, by the chart's own toleration."""

_PROMETHEUS: Final = "prometheus.prometheusSpec"
_ALERTMANAGER: Final = "alertmanager.alertmanagerSpec"

_NODE_EXPORTER: Final = {"cpu": "100m", "memory": "64Mi"}
"""Resources of node-exporter on each node (assumed); the namespace's defaults would reserve a whole CPU."""

_METRICS: Final = "50Gi"
"""Volume of Prometheus: the size in the chart's own example, for its default of 10 days (assumed to be enough)."""


def values(cluster: PlatformCluster, choices: SystemChoices) -> SystemValues:
    """Return the values of the chart."""
    claim: dict[str, Any] = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": _METRICS}}}
    flat: dict[str, Any] = dict(stack_settings(cluster, (_PROMETHEUS, _ALERTMANAGER)))
    flat |= {
        # By default, both keep their data in the pod, and draining its node deletes it.
        f"{_PROMETHEUS}.storageSpec.volumeClaimTemplate.spec": claim,
        "grafana.persistence.enabled": True,
        # With a rolling update, the new pod would wait for the volume that the old one still has mounted.
        "grafana.deploymentStrategy.type": "Recreate",
    }
    if choices.storage_class:
        claim["storageClassName"] = flat["grafana.persistence.storageClassName"] = choices.storage_class
    if choices.ingress_class:
        flat["grafana.ingress.ingressClassName"] = choices.ingress_class
    command = helm_command("monitoring", CHART, REPOSITORY, f"^{LINE}.0.0", choices.namespace)
    return SystemValues(content=tree(flat), notes=tuple(_notes(choices)), next=command)


def stack_settings(
    cluster: PlatformCluster, by_operator: tuple[str, ...] = (_PROMETHEUS,)
) -> Iterator[tuple[str, Any]]:
    """Yield path and value of each setting of the chart, alone or in MLRun CE's.

    Pods that an operator creates (``by_operator``) are not core services: the operator has no right to mark them. With
    that right, every user who may create a Prometheus could mark pods through it. These pods run on-demand in the pools
    for jobs, in the highest class for user work: without a class they would be evicted before all jobs.
    """
    amounts = {"requests": dict(_NODE_EXPORTER), "limits": dict(_NODE_EXPORTER)}
    yield "prometheus-node-exporter.resources", amounts
    for path in by_operator:
        yield f"{path}.priorityClassName", UserPriority.HIGH.value
    if cluster.places_by_itself:
        return
    yield from placement(SERVICES)
    # It accesses its node, which only daemons marked as core services may do.
    yield "prometheus-node-exporter.podLabels", {LabelKey.CORE_SERVICE.value: TRUE}
    yield "prometheus-node-exporter.priorityClassName", SystemPriority.MEDIUM.value
    for path in by_operator:
        yield f"{path}.nodeSelector", cluster.service_selector


def _notes(choices: SystemChoices) -> Iterator[str]:
    yield "MLRun CE's chart contains this one: use --for mlrun-ce, or set kube-prometheus-stack.enabled: false there"
    yield (
        "where network policies are enforced, Prometheus reaches kubelets and node-exporter only if "
        f"namespaces.{choices.namespace}.egress of the stack file allows ports 10250 and 9100 of the nodes' network, "
        "and CoreDNS if it allows port 9153 of the pods'"
    )
