"""Values of MLRun CE's Helm chart that follow from a stack file.

From Kubernetes 1.36 on admission places core services itself, and the values contain only what it cannot do.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

from components.contract.groups import NodeGroup
from components.contract.labels import TRUE, LabelKey
from components.contract.lifecycle import Lifecycle
from components.contract.mlrun import (
    DEFAULT_NODE_SELECTOR,
    OVERRIDE_CONFIG_MAP,
    PREEMPTIBLE_NODE_SELECTOR,
    MlrunChoices,
    default_node_selector,
    override_environment,
)
from components.contract.mlrun_ce_chart import (
    CHART_SECRET,
    CURRENT,
    INGRESS_CLASSES,
    LAST_IN_FRONT,
    MADE_BY_OPERATORS,
    STORAGE_CLASSES,
    WORKLOADS,
    ChartLine,
)
from components.contract.pod_resources import PodResources
from components.contract.pools import PoolRole
from components.contract.priorities import DEFAULT_USER_PRIORITY, SystemPriority, UserPriority
from components.contract.quantities import parse_quantity
from components.contract.taints import Taint

CHECKSUM_VARIABLE: Final = "IGZ_CLUSTERS_SETTINGS"
"""Variable of MLRun's API that has a checksum of ``mlrun-override-env``: the API reads the ConfigMap only at start."""

_CHECKSUM_LENGTH: Final = 16

CORE_CONTAINERS: Final = 23
"""Containers of the chart's core services that get the namespace's default requests: those of ``tests/kit``."""

_CPU_OF_DAEMONS: Final = 0.5
"""What a node keeps for itself and its daemons, in CPU, about (assumed)."""

_NODE_EXPORTER: Final = {"cpu": "100m", "memory": "64Mi"}
"""What node-exporter gets on each node, where the namespace's defaults would reserve a CPU (assumed)."""


class ObjectStore(StrEnum):
    """Where MLRun keeps artifacts."""

    SEAWEEDFS = "seaweedfs"
    """In the cluster; part of the chart."""

    S3 = "s3"
    AZURE = "azure"


@dataclass(frozen=True, kw_only=True)
class ChartChoices:
    """What a stack file does not say. Names only: a values file contains no key and no password.

    Parameters
    ----------
    line
        Line of the chart. Default: the current one.
    namespace
        Namespace of the release.
    registry, registry_secret
        Registry for images that MLRun and Nuclio build, and the Secret with its credentials. Default: not set.
    store, bucket, storage_secret
        Object store, its bucket or container, and the Secret with its credentials. Default: SeaweedFS. Without a
        Secret, S3 is reached with the pods' identity.
    storage_class, ingress_class
        Classes of volumes and ingresses. Default: the cluster's.
    """

    line: ChartLine = CURRENT
    namespace: str
    registry: str | None = None
    registry_secret: str | None = None
    store: ObjectStore = ObjectStore.SEAWEEDFS
    bucket: str | None = None
    storage_secret: str | None = None
    storage_class: str | None = None
    ingress_class: str | None = None

    @property
    def problem(self) -> str | None:
        """What is missing, or what this line of the chart cannot do; None if nothing is wrong."""
        if self.store is ObjectStore.SEAWEEDFS:
            extra = [name for name in ("bucket", "storage_secret") if getattr(self, name)]
            return f"{_option(extra[0])} needs --store s3 or --store azure: SeaweedFS has its own" if extra else None
        if self.store is ObjectStore.S3 and self.line is ChartLine.V0_11:
            return "chart 0.11 sends its storage mode s3 to its own SeaweedFS; use --chart 0.12, or --store seaweedfs"
        if not self.bucket:
            return f"--store {self.store} needs --bucket, the name of the bucket or container"
        if self.store is ObjectStore.AZURE and not self.storage_secret:
            return "--store azure needs --storage-secret, the name of a Secret with AZURE_STORAGE_CONNECTION_STRING"
        return None


@dataclass(frozen=True, kw_only=True)
class ChartCluster:
    """What the values read of a stack file."""

    groups: tuple[NodeGroup, ...]
    spot_taint: Taint | None
    pod_resources: PodResources
    places_by_itself: bool
    """Whether admission places core services and corrects what jobs ask for, as from Kubernetes 1.36 on."""
    mlrun: MlrunChoices = field(default_factory=MlrunChoices)

    @property
    def job_selector(self) -> dict[str, str]:
        """Node selector of functions and jobs that set none."""
        return default_node_selector(self.groups, corrects=self.places_by_itself)


def chart_values(cluster: ChartCluster, choices: ChartChoices) -> dict[str, Any]:
    """Return the values of the chart, as a tree of keys."""
    flat: dict[str, Any] = {}
    for part in (_settings(cluster, choices), _platform(cluster), _storage(choices), _names(choices)):
        flat |= dict(part)
    if not cluster.places_by_itself:
        flat |= dict(_placement(choices.line))
    return _tree(flat)


def initial_group_problem(cluster: ChartCluster) -> str | None:
    """Return what the initial group lacks if core services get default requests; None if they fit."""
    initial = [group for group in cluster.groups if group.role is PoolRole.INITIAL]
    has = sum(group.size.min * group.instances[0].vcpus for group in initial)
    kept = _CPU_OF_DAEMONS * sum(group.size.min for group in initial)
    need = CORE_CONTAINERS * parse_quantity(cluster.pod_resources.requests.cpu)
    if has - kept >= need:
        return None
    return (
        f"core services request about {need:g} CPU by default, and of the initial group's {has} about {has - kept:g} "
        "remain beside its daemons; add nodes"
    )


def settings_checksum(cluster: ChartCluster) -> str:
    """Return a checksum of ``mlrun-override-env`` as ``up`` writes it."""
    content = override_environment(
        cluster.groups, cluster.spot_taint, cluster.pod_resources, cluster.mlrun, corrects=cluster.places_by_itself
    )
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:_CHECKSUM_LENGTH]


def _option(field: str) -> str:
    return f"--{field.replace('_', '-')}"


def _settings(cluster: ChartCluster, choices: ChartChoices) -> Iterator[tuple[str, Any]]:
    yield "mlrun.api.extraEnvKeyValue", {CHECKSUM_VARIABLE: settings_checksum(cluster)}
    yield "mlrun.defaultFunctionPodResources", cluster.pod_resources.model_dump()
    yield "mlrun.db.affinity", _near_the_api()
    roles = {group.role for group in cluster.groups}
    notebooks = PoolRole.JUPYTER if PoolRole.JUPYTER in roles else PoolRole.WORKLOAD
    yield "jupyterNotebook.nodeSelector", {LabelKey.ROLE.value: notebooks.value}
    if not cluster.places_by_itself:  # it uses its node, as only marked daemons may, and nothing else marks it
        yield "kube-prometheus-stack.nodeExporter.enabled", False
    else:
        amounts = {"requests": dict(_NODE_EXPORTER), "limits": dict(_NODE_EXPORTER)}
        yield "kube-prometheus-stack.prometheus-node-exporter.resources", amounts
    yield "spark-operator.spark.jobNamespaces", [choices.namespace]


def _near_the_api() -> dict[str, Any]:
    """Return the affinity of MLRun's database: preferred, where the chart requires the API's node.

    Required, the database stays pending if the API's node has no room, or is in a pool that the database may not use.
    """
    labels = {"app.kubernetes.io/component": "api", "app.kubernetes.io/sub-component": "chief"}
    term = {"labelSelector": {"matchLabels": labels}, "topologyKey": "kubernetes.io/hostname"}
    preferred = [{"weight": 100, "podAffinityTerm": term}]
    return {"podAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": preferred}}


def _platform(cluster: ChartCluster) -> Iterator[tuple[str, Any]]:
    """Yield Nuclio's settings; its dashboard and controller restart by themselves when they change."""
    kube = "nuclio.platform.kube"
    yield f"{kube}.defaultFunctionNodeSelector", cluster.job_selector
    yield f"{kube}.defaultFunctionPriorityClassName", DEFAULT_USER_PRIORITY.value
    yield f"{kube}.validFunctionPriorityClassNames", [each.value for each in UserPriority]
    yield f"{kube}.defaultFunctionPodResources", cluster.pod_resources.model_dump()
    if any(group.lifecycle is Lifecycle.SPOT for group in cluster.groups):
        yield f"{kube}.preemptibleNodes.defaultMode", cluster.mlrun.preemption_mode.value
        yield f"{kube}.preemptibleNodes.nodeSelector", dict(PREEMPTIBLE_NODE_SELECTOR)
        if cluster.spot_taint:
            yield f"{kube}.preemptibleNodes.tolerations", [cluster.spot_taint.toleration()]


def _storage(choices: ChartChoices) -> Iterator[tuple[str, Any]]:
    secret = choices.storage_secret
    yield "storage.mode", _mode(choices)
    match choices.store:
        case ObjectStore.S3:
            yield "storage.s3.bucket", choices.bucket
            yield "global.infrastructure.aws.s3NonAnonymous", True  # else the chart creates a Secret from its values
            yield "mlrun.storageAutoMountType", "s3"
            yield "mlrun.storageAutoMountParams", f"secret_name={secret}" if secret else "non_anonymous=True"
        case ObjectStore.AZURE:
            yield "storage.azure.containerName", choices.bucket
            yield "mlrun.storageAutoMountParams", f"secret_name={secret}"
        case ObjectStore.SEAWEEDFS:
            yield "mlrun.storageAutoMountParams", f"secret_name={CHART_SECRET}"
    if secret:
        first, *others = LAST_IN_FRONT
        maps = [_config_map(name, optional=True) for name in (*others, OVERRIDE_CONFIG_MAP)]
        reference = {"secretRef": {"name": secret}}
        yield "mlrun.api.envFrom", [_config_map(first), reference, *maps]
        yield "jupyterNotebook.envFrom", [_config_map("jupyter-common-env", optional=True), reference]


def _mode(choices: ChartChoices) -> str:
    if choices.store is ObjectStore.AZURE:
        return "azure-blob"
    in_cluster = choices.store is ObjectStore.SEAWEEDFS and choices.line is not ChartLine.V0_11
    return "local" if in_cluster else "s3"  # line 0.11 calls its own SeaweedFS s3


def _config_map(name: str, *, optional: bool = False) -> dict[str, Any]:
    return {"configMapRef": {"name": name, **({"optional": True} if optional else {})}}


def _names(choices: ChartChoices) -> Iterator[tuple[str, Any]]:
    for key, value in (("url", choices.registry), ("secretName", choices.registry_secret)):
        if value:
            yield f"global.registry.{key}", value
    if choices.storage_class:
        for path in STORAGE_CLASSES[choices.line]:
            yield path, choices.storage_class
    if choices.ingress_class:
        for path in INGRESS_CLASSES:
            yield path, choices.ingress_class


def _placement(line: ChartLine) -> Iterator[tuple[str, Any]]:
    """Yield the place, class and mark of each core service that has values for them."""
    selector = {LabelKey.ROLE.value: PoolRole.INITIAL.value}
    for each in WORKLOADS[line]:
        yield f"{each.path}.nodeSelector", _text(selector) if each.is_text else dict(selector)
        if each.has_class:
            yield f"{each.path}.priorityClassName", SystemPriority.MEDIUM.value
        if each.labels:
            yield f"{each.path}.{each.labels}", {LabelKey.CORE_SERVICE.value: TRUE}
    for path in MADE_BY_OPERATORS:
        yield f"{path}.nodeSelector", dict(DEFAULT_NODE_SELECTOR)
        yield f"{path}.priorityClassName", UserPriority.HIGH.value


def _text(selector: Mapping[str, str]) -> str:
    return "\n".join(f"{key}: {value}" for key, value in selector.items())


def _tree(flat: Mapping[str, Any]) -> dict[str, Any]:
    """Return a tree of the values; the only keys with a dot are inside the values themselves."""
    root: dict[str, Any] = {}
    for path, value in flat.items():
        *parents, last = path.split(".")
        place = root
        for key in parents:
            place = place.setdefault(key, {})
        place[last] = value
    return root
