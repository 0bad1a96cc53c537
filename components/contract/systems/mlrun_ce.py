"""Values of MLRun CE's Helm chart that follow from a stack file.

From Kubernetes 1.36 on, admission places core services itself, and the values contain only the other settings.
"""

import hashlib
import json
from collections.abc import Iterator
from typing import Any, Final

from components.contract.ingress import GRAFANA, NUCLIO, UI
from components.contract.mlrun import OVERRIDE_CONFIG_MAP, account_environment, override_environment
from components.contract.pools import PoolRole
from components.contract.quantities import parse_quantity
from components.contract.systems.core_services import placement
from components.contract.systems.mlrun_ce_chart import (
    ADMIN_PASSWORD,
    CHART,
    CHART_SECRET,
    CURRENT,
    EXPOSED_SERVICES,
    INGRESS_CLASSES,
    LAST_IN_FRONT,
    REPOSITORY,
    STORAGE_CLASSES,
    WORKLOADS,
    ChartLine,
)
from components.contract.systems.monitoring import stack_settings
from components.contract.systems.nuclio import platform_settings, registry_note
from components.contract.systems.platform_cluster import PlatformCluster
from components.contract.systems.spark_operator import account_settings
from components.contract.systems.system_values import (
    ObjectStore,
    SystemChoices,
    SystemValues,
    helm_command,
    tree,
)

CHECKSUM_VARIABLE: Final = "IGZ_CLUSTERS_SETTINGS"
"""Variable of MLRun's API with a checksum of ``mlrun-override-env``: the API reads the ConfigMap only at start."""

_CHECKSUM_LENGTH: Final = 16

GRAFANA_VARIABLE: Final = "MLRUN_GRAFANA_URL"
"""Setting of MLRun's API, set by the chart from a NodePort: mlrun/ce ``templates/config/mlrun-env-configmap.yaml``."""

CORE_CONTAINERS: Final = 23
"""Containers of the chart's core services that get the namespace's default requests: those of ``tests/kit``."""

_CPU_OF_DAEMONS: Final = 0.5
"""Approximate CPU that a node reserves for itself and its daemons (assumed)."""


def values(cluster: PlatformCluster, choices: SystemChoices) -> SystemValues:
    """Return the values of the chart."""
    line = _line(choices)
    flat: dict[str, Any] = {}
    for part in (_settings(cluster, choices), _storage(choices), _names(choices), _ways_in(cluster)):
        flat |= dict(part)
    if not cluster.places_by_itself:
        flat |= dict(placement(WORKLOADS[line]))
    flags = ("--timeout 30m", *(() if cluster.places_by_itself else ("--no-hooks",)))
    command = helm_command(CHART, CHART, REPOSITORY, line.constraint, choices.namespace, *flags)
    return SystemValues(content=tree(flat), notes=tuple(_notes(cluster, choices)), next=command)


def problem(choices: SystemChoices) -> str | None:
    """Return what is missing, or what this line of the chart does not support; None if there is no problem."""
    if choices.store is ObjectStore.SEAWEEDFS:
        extra = [name for name in ("bucket", "storage_secret") if getattr(choices, name)]
        return f"{_option(extra[0])} needs --store s3 or --store azure: SeaweedFS has its own" if extra else None
    if choices.store is ObjectStore.S3 and _line(choices) is ChartLine.V0_11:
        return "chart 0.11 sends its storage mode s3 to its own SeaweedFS; use --chart 0.12, or --store seaweedfs"
    if not choices.bucket:
        return f"--store {choices.store} needs --bucket, the name of the bucket or container"
    if choices.store is ObjectStore.AZURE and not choices.storage_secret:
        return "--store azure needs --storage-secret, the name of a Secret with AZURE_STORAGE_CONNECTION_STRING"
    return None


def _line(choices: SystemChoices) -> ChartLine:
    return ChartLine(choices.chart) if choices.chart else CURRENT


def _notes(cluster: PlatformCluster, choices: SystemChoices) -> Iterator[str]:
    """Yield what the values do not set up, and problems of images that the platform builds."""
    if not choices.registry:
        yield "without --registry MLRun and Nuclio cannot build images; the chart requires global.registry.url"
    elif note := registry_note(cluster, choices.registry):
        yield note
    if problem := initial_group_problem(cluster):
        yield problem
    if cluster.ways_in:
        yield "clients reach these services through the Ingress that --for ingress prints"
    # Pipelines keep their artifacts in SeaweedFS with any store.
    keys = f"{_line(choices).local_secret_key} and {ADMIN_PASSWORD}"
    yield f"the chart's credentials for SeaweedFS are public; set {keys} in a file of your own"
    if not cluster.places_by_itself:
        yield (
            "before Kubernetes 1.36 the hook that creates the bucket is refused (VO-02): create it yourself. "
            "Kafka's objects are hooks too, which --no-hooks leaves out: set kafka.enabled: false"
        )


def initial_group_problem(cluster: PlatformCluster) -> str | None:
    """Return what the initial group lacks if core services get default requests; None if they fit."""
    initial = [group for group in cluster.groups if group.role is PoolRole.INITIAL]
    has = sum(group.size.min * group.instances[0].vcpus for group in initial)
    kept = _CPU_OF_DAEMONS * sum(group.size.min for group in initial)
    need = CORE_CONTAINERS * parse_quantity(cluster.pod_resources.requests.cpu)
    if has - kept >= need:
        return None
    return (
        f"core services request about {need:g} CPU by default, and of the initial group's {has} about {has - kept:g} "
        "remain besides its daemons; add nodes"
    )


def settings_checksum(cluster: PlatformCluster) -> str:
    """Return a checksum of ``mlrun-override-env`` as ``up`` writes it."""
    content = {
        **override_environment(
            cluster.groups, cluster.spot_taint, cluster.pod_resources, cluster.mlrun, corrects=cluster.places_by_itself
        ),
        **account_environment(cluster.job_account),
    }
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:_CHECKSUM_LENGTH]


def _option(field: str) -> str:
    return f"--{field.replace('_', '-')}"


def _settings(cluster: PlatformCluster, choices: SystemChoices) -> Iterator[tuple[str, Any]]:
    address = {GRAFANA_VARIABLE: cluster.ways_in.url(GRAFANA)} if cluster.ways_in else {}
    yield "mlrun.api.extraEnvKeyValue", {CHECKSUM_VARIABLE: settings_checksum(cluster), **address}
    yield "mlrun.defaultFunctionPodResources", cluster.pod_resources.model_dump()
    yield "mlrun.db.affinity", _near_the_api()
    yield "nuclio.platform.kube", platform_settings(cluster)
    yield "jupyterNotebook.nodeSelector", cluster.notebook_selector
    yield from ((f"kube-prometheus-stack.{path}", value) for path, value in stack_settings(cluster))
    yield "spark-operator.spark.jobNamespaces", [choices.namespace]
    yield from ((f"spark-operator.{path}", value) for path, value in account_settings(cluster))


def _near_the_api() -> dict[str, Any]:
    """Return the affinity of MLRun's database: it prefers the API's node, which the chart requires by default.

    With the requirement, it stays pending if the API's node has no room, or is in a pool that it may not use.
    """
    labels = {"app.kubernetes.io/component": "api", "app.kubernetes.io/sub-component": "chief"}
    term = {"labelSelector": {"matchLabels": labels}, "topologyKey": "kubernetes.io/hostname"}
    preferred = [{"weight": 100, "podAffinityTerm": term}]
    return {"podAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": preferred}}


def _storage(choices: SystemChoices) -> Iterator[tuple[str, Any]]:
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


def _mode(choices: SystemChoices) -> str:
    if choices.store is ObjectStore.AZURE:
        return "azure-blob"
    in_cluster = choices.store is ObjectStore.SEAWEEDFS and _line(choices) is not ChartLine.V0_11
    return "local" if in_cluster else "s3"  # line 0.11 calls its own SeaweedFS s3


def _config_map(name: str, *, optional: bool = False) -> dict[str, Any]:
    return {"configMapRef": {"name": name, **({"optional": True} if optional else {})}}


def _ways_in(cluster: PlatformCluster) -> Iterator[tuple[str, Any]]:
    """Yield the addresses that services send to browsers, and Service types without ports on nodes."""
    if ways_in := cluster.ways_in:
        yield "global.externalHostAddress", ways_in.domain
        yield "mlrun.nuclio.uiURL", ways_in.url(NUCLIO)
        yield "jupyterNotebook.mlrunUIURL", f"{ways_in.url(UI)}/mlrun"
        yield from ((f"{path}.type", "ClusterIP") for path in EXPOSED_SERVICES)
        yield "global.nuclio.dashboard.nodePort", ""  # its Service is a NodePort if this names one


def _names(choices: SystemChoices) -> Iterator[tuple[str, Any]]:
    for key, value in (("url", choices.registry), ("secretName", choices.registry_secret)):
        if value:
            yield f"global.registry.{key}", value
    if choices.storage_class:
        for path in STORAGE_CLASSES[_line(choices)]:
            yield path, choices.storage_class
    if choices.ingress_class:
        for path in INGRESS_CLASSES:
            yield path, choices.ingress_class
