"""JupyterHub: values of its own chart (Zero to JupyterHub)."""

from collections.abc import Iterator
from typing import Any, Final

from components.contract.environments import Environment
from components.contract.labels import TRUE, AnnotationKey, LabelKey
from components.contract.pools import PoolRole
from components.contract.priorities import DEFAULT_USER_PRIORITY, SystemPriority
from components.contract.quantities import parse_quantity
from components.contract.systems.platform_cluster import PlatformCluster
from components.contract.systems.system_values import SystemChoices, SystemValues, helm_command, tree

CHART: Final = "jupyterhub"
LINE: Final = "4.4"
"""Minor version of the chart: JupyterHub 5.5."""

REPOSITORY: Final = "https://hub.jupyter.org/helm-chart/"
"""Helm repository of the chart."""

_IDLE_SECONDS: Final = 600
"""Seconds without activity after which a notebook on a GPU stops, as in Iguazio's application services."""

_PULLER: Final = {"cpu": "10m", "memory": "16Mi"}
"""Resources of a container that only pulls an image and pauses (assumed)."""

_START_SECONDS: Final = 1200
"""How long the hub waits for a notebook to start, on a new machine with GPU driver and large image (assumed)."""

_MEBI: Final = 2**20


def values(cluster: PlatformCluster, choices: SystemChoices) -> SystemValues:
    """Return the values of the chart."""
    flat: dict[str, Any] = {}
    for part in (_hub(), _notebooks(cluster), _names(choices)):
        flat |= dict(part)
    if not cluster.places_by_itself:
        flat |= dict(_placement())
    command = helm_command(CHART, CHART, REPOSITORY, f"~{LINE}.0", choices.namespace, "--timeout 30m")
    return SystemValues(content=tree(flat), notes=tuple(_notes(cluster, choices)), next=command)


def _hub() -> Iterator[tuple[str, Any]]:
    # By default, the proxy's Service is a load balancer, open to the internet.
    yield "proxy.service.type", "ClusterIP"
    # The chart's kube-scheduler 1.30 is too old for these API servers; the cluster's own scheduler places notebooks.
    yield "scheduling.userScheduler.enabled", False
    # The hook pulls on nodes that exist at `helm upgrade`, which waits for it; elastic pools get other nodes later.
    yield "prePuller.hook.enabled", False
    # The pre-puller's pod on each notebook node would get the namespace's default requests.
    yield "prePuller.resources", {"requests": dict(_PULLER), "limits": dict(_PULLER)}


def _notebooks(cluster: PlatformCluster) -> Iterator[tuple[str, Any]]:
    yield "singleuser.nodeSelector", cluster.notebook_selector
    yield "singleuser.extraPodConfig.priorityClassName", DEFAULT_USER_PRIORITY.value
    # The default of 5 minutes may be too short for an elastic pool to start a node and pull the image.
    yield "singleuser.startTimeout", _START_SECONDS
    # Draining a node ends kernels and loses unsaved work; the chart's culling, on by default, frees nodes.
    yield "singleuser.extraAnnotations", {AnnotationKey.SAFE_TO_EVICT.value: "false"}
    # By default, a privileged init container does this, which Pod Security refuses. The chart's network policy stays.
    yield "singleuser.cloudMetadata.blockWithIptables", False
    # Policies add up: by default, this one allows the internet regardless of the namespace's egress.
    yield "singleuser.networkPolicy.egressAllowRules.nonPrivateIPs", False
    for ours, theirs in ((cluster.pod_resources.requests, "guarantee"), (cluster.pod_resources.limits, "limit")):
        yield f"singleuser.cpu.{theirs}", float(parse_quantity(ours.cpu))
        # JupyterHub's K, M and G are powers of 1024; it accepts no Mi or Gi.
        yield f"singleuser.memory.{theirs}", f"{int(parse_quantity(ours.memory)) // _MEBI}M"
    if cluster.service_gpus:
        first = {"display_name": "CPU", "slug": "cpu", "default": True}
        yield "singleuser.profileList", [first, *(_gpu_profile(cluster, gpu) for gpu in cluster.service_gpus)]


def _gpu_profile(cluster: PlatformCluster, gpu: str) -> dict[str, Any]:
    """Return the profile of a notebook with a GPU, which stops sooner than others, so its node can be removed.

    Kernels and terminals end even if their page is open. The server ends when no page polls its state any more, as
    JupyterLab does while it is open (jupyterlab/jupyterlab issue 9379). The hub's culler has one limit for all
    notebooks. The taint of GPUs is tolerated for pods that request one, by the API server.
    """
    options = {
        "MappingKernelManager.cull_idle_timeout": _IDLE_SECONDS,
        "MappingKernelManager.cull_connected": True,
        "TerminalManager.cull_inactive_timeout": _IDLE_SECONDS,
        "ServerApp.shutdown_no_activity_timeout": _IDLE_SECONDS,
    }
    override = {
        "node_selector": cluster.gpu_selector,
        "extra_resource_limits": {gpu: "1"},
        "args": [f"--{name}={value}" for name, value in options.items()],
    }
    return {"display_name": gpu, "slug": gpu.replace("/", "-").replace(".", "-"), "kubespawner_override": override}


def _placement() -> Iterator[tuple[str, Any]]:
    """Yield node selector, class and mark of the core services; the chart has no separate value for the class."""
    for pod, labels in (("hub", "hub"), ("proxy.chp", "proxy")):
        yield f"{pod}.nodeSelector", {LabelKey.ROLE.value: PoolRole.INITIAL.value}
        yield f"{pod}.extraPodSpec.priorityClassName", SystemPriority.MEDIUM.value
        yield f"{labels}.labels", {LabelKey.CORE_SERVICE.value: TRUE}


def _names(choices: SystemChoices) -> Iterator[tuple[str, Any]]:
    if choices.storage_class:
        yield "hub.db.pvc.storageClassName", choices.storage_class
        yield "singleuser.storage.dynamic.storageClass", choices.storage_class
    if choices.ingress_class:
        yield "ingress.ingressClassName", choices.ingress_class


def _notes(cluster: PlatformCluster, choices: SystemChoices) -> Iterator[str]:
    yield "the chart's authenticator accepts every name and password; set hub.config in a file of your own"
    yield (
        "where network policies are enforced, notebooks reach what is outside the cluster only if "
        f"namespaces.{choices.namespace}.egress of the stack file allows it"
    )
    if cluster.service_gpus:
        idle = f"{_IDLE_SECONDS // 60} minutes"
        yield f"a notebook with a GPU stops {idle} after its page is closed; a page left open keeps its node"
    if cluster.environment is Environment.PROD:
        yield f"production expects '{CHART}' in policies.jupyterServices of the stack file (EN-05)"
