"""What a cluster runs before any user work: daemons, system services and the platform's core services."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final, Literal

import yaml
from pydantic import Field

from components.contract.choices import ContractModel
from components.contract.environments import ClusterKind, PlatformProfile
from components.contract.labels import OWN_DOMAIN, TRUE, LabelKey
from components.contract.pools import PoolRole
from components.contract.priorities import SystemPriority
from components.contract.systems.platform_cluster import PlatformCluster
from infra.config import StackConfig
from infra.config.platform_cluster import platform_cluster
from workbench.rehearsal.settings import Scaler, core_namespace

LOAD: Final = f"{OWN_DOMAIN}/rehearsal-load"
"""Label of the pods of the load: the name of its entry."""

FILE: Final = Path(__file__).with_name("loads.yaml")

_SYSTEM: Final = "kube-system"
_REGISTRY: Final = "registry.k8s.io/"
_IMAGE: Final = "pause:3.10"
"""Simulated nodes pull no images, but admission requires one with a version, from an approved registry."""

_SYSTEM_POOL: Final = {"key": "kubernetes.azure.com/mode", "operator": "In", "values": ["system"]}
_CRITICAL: Final = {"key": "CriticalAddonsOnly", "operator": "Exists"}
_TOLERATIONS: Final[dict[str, list[dict[str, str]]]] = {
    "all": [{"operator": "Exists"}],
    "schedule": [{"operator": "Exists", "effect": "NoSchedule"}],
    "critical": [_CRITICAL],
}


class Entry(ContractModel):
    """One entry of ``loads.yaml``; its first lines explain the keys."""

    clusters: tuple[ClusterKind, ...] = ()
    profiles: tuple[PlatformProfile, ...] = ()
    kind: Literal["DaemonSet", "Deployment"]
    replicas: int = Field(1, ge=1)
    needs: Literal["elastic", "gpus", "karpenter", "node-monitoring"] | None = None
    place: Literal["initial", "gpu", "jupyter", "services", "system"] | None = None
    tolerates: Literal["all", "schedule", "critical", "gpu"] | None = None
    priority: str | None = Field(None, alias="class")
    source: str | None = None
    assumed: bool = False
    containers: dict[str, dict[Literal["cpu", "memory"], str]]


class Loads(ContractModel):
    """The whole file."""

    sources: dict[str, str]
    loads: dict[str, Entry]


@dataclass(frozen=True, kw_only=True)
class Load:
    """One DaemonSet or Deployment of the load.

    Parameters
    ----------
    name
        Name of its entry.
    manifest
        The object.
    source
        Where its requests come from; empty if they are assumed.
    """

    name: str
    manifest: dict[str, Any]
    source: str = ""


@dataclass(frozen=True)
class CoreLoad:
    """The load of a cluster.

    Parameters
    ----------
    loads
        Its objects, daemons first.
    assumptions
        Sentences for the report.
    """

    loads: tuple[Load, ...]
    assumptions: tuple[str, ...]


@cache
def entries() -> Loads:
    """Return the content of ``loads.yaml``."""
    return Loads.model_validate(yaml.safe_load(FILE.read_text()))


def load_of(config: StackConfig, scaler: Scaler = Scaler.CLUSTER_AUTOSCALER) -> CoreLoad:
    """Return what the cluster of a stack runs before any user work.

    Core services are in the first namespace with core services. Admission places them, because their charts' default
    values set no placement. On clusters whose admission places no pods, they have the placement of
    ``igz-clusters values``.
    """
    known = entries()
    where = core_namespace(config)
    image = f"{next(iter(config.policies.approved_registries), _REGISTRY)}{_IMAGE}"
    cluster = platform_cluster(config, namespace=where)
    chosen = [
        (name, entry)
        for name, entry in known.loads.items()
        if ClusterKind(config.cluster.kind) in entry.clusters or (where and config.profile in entry.profiles)
    ]
    loads = tuple(
        Load(
            name=name,
            manifest=_Writing(name, entry, cluster, where if entry.profiles else _SYSTEM, image).manifest(),
            source=known.sources[entry.source] if entry.source else "",
        )
        for name, entry in sorted(chosen, key=_order)
        if _is_needed(entry, config, scaler)
    )
    return CoreLoad(loads, tuple(_assumptions(loads, where)))


def _order(chosen: tuple[str, Entry]) -> tuple[str, bool, str]:
    """Return the key by which objects are created: daemons, system services, then by name, about as Helm does."""
    name, entry = chosen
    return entry.kind, bool(entry.profiles), name


def _is_needed(entry: Entry, config: StackConfig, scaler: Scaler) -> bool:
    match entry.needs:
        case "elastic" | "karpenter":
            is_chosen = scaler.is_karpenter == (entry.needs == "karpenter")
            return is_chosen and any(group.is_elastic for group in config.groups)
        case "gpus":
            return any(group.gpu_resource for group in config.groups)
        case "node-monitoring":
            return bool(getattr(config.cluster, "node_monitoring", False))
        case _:
            return True


def _assumptions(loads: tuple[Load, ...], where: str) -> Iterator[str]:
    daemons = sum(each.manifest["kind"] == "DaemonSet" for each in loads)
    yield f"The cluster runs {daemons} DaemonSets and {len(loads) - daemons} services before any work arrives."
    if assumed := [each.name for each in loads if not each.source]:
        yield f"Requests of {', '.join(assumed)} are assumed."
    if not where:
        yield "No namespace has core services, so the platform itself is not simulated."


@dataclass(frozen=True)
class _Writing:
    """Writes the object of an entry for a cluster."""

    name: str
    entry: Entry
    cluster: PlatformCluster
    namespace: str
    image: str

    def manifest(self) -> dict[str, Any]:
        labels = {LOAD: self.name}
        spec: dict[str, Any] = {
            "selector": {"matchLabels": dict(labels)},
            "template": {"metadata": {"labels": {**labels, **self._mark()}}, "spec": self._pod()},
        }
        if self.entry.kind == "Deployment":
            spec["replicas"] = self.entry.replicas
        metadata = {"name": self.name, "namespace": self.namespace, "labels": dict(labels)}
        return {"apiVersion": "apps/v1", "kind": self.entry.kind, "metadata": metadata, "spec": spec}

    @property
    def _is_placed_by_us(self) -> bool:
        """Whether it is a core service that admission would not place."""
        is_core = bool(self.entry.profiles) and self.entry.place is None
        return is_core and not self.cluster.places_by_itself

    def _mark(self) -> dict[str, str]:
        return {LabelKey.CORE_SERVICE.value: TRUE} if self._is_placed_by_us else {}

    def _pod(self) -> dict[str, Any]:
        pod: dict[str, Any] = {
            "containers": [
                {"name": name, "image": self.image, **({"resources": {"requests": dict(requests)}} if requests else {})}
                for name, requests in self.entry.containers.items()
            ]
        }
        if selector := self._selector():
            pod["nodeSelector"] = selector
        if tolerations := self._tolerations():
            pod["tolerations"] = tolerations
        if self.entry.place == "system":
            preference = {"weight": 100, "preference": {"matchExpressions": [_SYSTEM_POOL]}}
            pod["affinity"] = {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [preference]}}
        if priority := self.entry.priority or (SystemPriority.MEDIUM.value if self._is_placed_by_us else None):
            pod["priorityClassName"] = priority
        return pod

    def _selector(self) -> dict[str, str]:
        match self.entry.place:
            case "initial":
                return {LabelKey.ROLE.value: PoolRole.INITIAL.value}
            case "gpu":
                return {LabelKey.ROLE.value: PoolRole.GPU.value}
            case "jupyter":
                return self.cluster.notebook_selector
            case "services":
                return self.cluster.service_selector
            case _:
                is_placed = self._is_placed_by_us and self.entry.kind == "Deployment"
                return {LabelKey.ROLE.value: PoolRole.INITIAL.value} if is_placed else {}

    def _tolerations(self) -> list[dict[str, str]]:
        if self.entry.tolerates == "gpu":
            gpus = (group for group in self.cluster.groups if group.gpu_resource)
            return [taint.toleration() for taint in dict.fromkeys(taint for group in gpus for taint in group.taints)]
        return [dict(each) for each in _TOLERATIONS.get(self.entry.tolerates or "", [])]
