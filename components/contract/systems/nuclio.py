"""Nuclio: values of its own chart, alone or as part of MLRun CE's chart.

Sources: nuclio 9e837f6a, ``pkg/platformconfig/types.go``, ``pkg/platform/kube/platform.go``, ``hack/k8s/helm/nuclio``.
"""

from collections.abc import Iterator
from typing import Any, Final

from components.contract.environments import PlatformProfile
from components.contract.mlrun import PREEMPTIBLE_NODE_SELECTOR
from components.contract.priorities import DEFAULT_USER_PRIORITY, UserPriority
from components.contract.systems.core_services import CoreService, placement
from components.contract.systems.platform_cluster import PlatformCluster
from components.contract.systems.system_values import SystemChoices, SystemValues, helm_command, tree

CHART: Final = "nuclio"
LINE: Final = "0.21"
"""Minor version of the chart: Nuclio 1.15."""

REPOSITORY: Final = "https://nuclio.github.io/nuclio/charts"
"""Helm repository of the chart."""

SERVICES: Final = tuple(CoreService(name) for name in ("controller", "dashboard", "autoscaler", "dlx"))
"""Nuclio's own services. Autoscaler and DLX run only if scale to zero is on.

Not every release of the chart has values for pod labels: that of Nuclio 1.15.24 has none.
"""

INGRESS_CLASSES: Final = ("dashboard.ingress.ingressClassName", "platform.kube.defaultHTTPIngressClassName")
"""Values that name the class of an ingress: of the dashboard, and of functions, whose default in the chart is nginx."""

_CONFIG_MAP: Final = "nuclio-platform-config"
"""ConfigMap with the settings, under Nuclio's own default name (``cmd/controller/main.go``); assumed for Iguazio."""


def values(cluster: PlatformCluster, choices: SystemChoices) -> SystemValues:
    """Return the values of the chart; on a full platform only the settings, because its installer owns Nuclio."""
    settings = platform_settings(cluster)
    if cluster.profile is PlatformProfile.IGUAZIO:
        compare = f"kubectl -n {choices.namespace} get configmap {_CONFIG_MAP} -o jsonpath='{{.data.platform\\.yaml}}'"
        given = [name for name in ("registry", "registry_secret", "ingress_class") if getattr(choices, name)]
        unused = [f"--{name.replace('_', '-')} has no effect: the installer chooses it" for name in given]
        return SystemValues(content={"kube": settings}, notes=(_INSTALLER, *unused), next=compare)
    flat: dict[str, Any] = {
        "platform.kube": settings,
        # The chart's default mounts the node's Docker socket, which nodes with containerd lack and HK-01 refuses.
        "dashboard.containerBuilderKind": "kaniko",
    }
    for key, value in (("pushPullUrl", choices.registry), ("secretName", choices.registry_secret)):
        if value:
            flat[f"registry.{key}"] = value
    if choices.ingress_class:
        flat |= dict.fromkeys(INGRESS_CLASSES, choices.ingress_class)
    if not cluster.places_by_itself:
        flat |= dict(placement(SERVICES))
    command = helm_command(CHART, CHART, REPOSITORY, f"~{LINE}.0", choices.namespace)
    return SystemValues(content=tree(flat), notes=tuple(_notes(cluster, choices)), next=command)


_INSTALLER: Final = (
    f"Iguazio's installer owns Nuclio and the key platform.yaml of ConfigMap {_CONFIG_MAP}: have Iguazio's support set "
    "these keys there; the command below prints what is set"
)


def platform_settings(cluster: PlatformCluster) -> dict[str, Any]:
    """Return the defaults for placement and resources of functions: ``platform.kube`` of the chart.

    Nuclio's dashboard and controller restart by themselves when these change. If spot nodes have no taint, the key
    ``tolerations`` must be absent: an empty list turns off the affinity of the mode ``prevent``. ``gpuTolerations`` is
    never needed: the API server adds the toleration of the GPU's taint to pods that request the GPU, and in the mode
    ``prevent`` Nuclio removes these tolerations even if an author set them.
    """
    settings: dict[str, Any] = {
        "defaultFunctionNodeSelector": cluster.job_selector,
        "defaultFunctionPriorityClassName": DEFAULT_USER_PRIORITY.value,
        "validFunctionPriorityClassNames": [each.value for each in UserPriority],
        "defaultFunctionPodResources": cluster.pod_resources.model_dump(),
    }
    if cluster.job_account:
        settings["defaultFunctionServiceAccount"] = cluster.job_account
    if cluster.has_spot:
        settings["preemptibleNodes"] = {
            "defaultMode": cluster.mlrun.preemption_mode.value,
            "nodeSelector": dict(PREEMPTIBLE_NODE_SELECTOR),
            **({"tolerations": [cluster.spot_taint.toleration()]} if cluster.spot_taint else {}),
        }
    return settings


def registry_note(cluster: PlatformCluster, registry: str) -> str | None:
    """Return why images that Nuclio and MLRun push to ``registry`` cannot run, or None."""
    folder = f"{registry.rstrip('/')}/"
    if folder.startswith(tuple(f"{prefix.rstrip('/')}/" for prefix in cluster.platform_registries)):
        return None
    return (
        "MLRun and Nuclio tag images with latest, which HK-08 rejects in production and warns of in "
        f"development; add {folder} to policies.platformRegistries of the stack file, then run up"
    )


def _notes(cluster: PlatformCluster, choices: SystemChoices) -> Iterator[str]:
    yield "MLRun CE's chart contains Nuclio: for MLRun CE use --for mlrun-ce, not these values"
    if not choices.registry:
        yield "without --registry Nuclio cannot push the images of functions"
    elif note := registry_note(cluster, choices.registry):
        yield note
    yield "scale to zero stays off: it needs the custom metrics API (docs/systems.md)"
